import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Database } from '../../server/contract/databases.ts'
import { startTestPlatform, type TestPlatform } from '../support/platform.ts'
import { makeRepository, type Repository } from '../support/repository.ts'
import { until } from '../support/until.ts'
import { asked, packedGuestBook } from './guests.ts'

/** What ends a server behind the platform's back, and whether one runs. */
export interface ServerView {
  /** Kills it as a crash would, and waits for its end. */
  kill(home: TestPlatform): Promise<void>
  runs(home: TestPlatform): Promise<boolean>
}

/** Databases outlive the end of everything around them: one suite for every driver. */
export function restartStories(runtime: 'process' | 'docker', view: ServerView): void {
  describe('over restarts', () => {
    const data_dir = mkdtempSync(join(tmpdir(), 'homeport-database-'))
    let home: TestPlatform
    let repository: Repository
    let before: Database

    const start = async () => void (home = await startTestPlatform({ runtime, data_dir }))
    const database = async (slug: string) => home.api<{ database: Database; error?: string }>('GET', `/v1/projects/${slug}/database`)
    const isSame = async () => expect((await database('book')).body.database).toEqual({ ...before, size_bytes: expect.any(Number) })
    const onExit = (on_exit: 'stop' | 'default') => home.api('PATCH', '/instance/settings', { on_exit })
    const guests = () =>
      until(
        async () => {
          const { status, body } = await home.edge('book.localhost', '/all')
          if (status !== 200) throw new Error(`${status} ${body}`)
          return body
        },
        { what: 'the app and its database' },
      )

    beforeAll(async () => {
      repository = makeRepository(packedGuestBook())
      await start()
      await home.createProject({ slug: 'book', repo_url: repository.url })
      before = (await home.api<{ database: Database }>('POST', '/v1/projects/book/database')).body.database
      expect((await home.ended('book', (await home.deploy('book')).id)).error).toBeNull()
      expect((await home.edge('book.localhost', '/sign?name=ada')).body).toBe('ada')
    })
    afterAll(async () => {
      await onExit('stop')
      await home.remove()
      repository.remove()
    })

    test('kill -9 of Homeport: the next run finds it, with its data, at the same address', async () => {
      await home.kill()
      expect(await asked(before.connection_string, 'TABLE guests')).toEqual([['ada']])
      await start()
      expect(await guests()).toBe('ada')
      await isSame()
    })

    test('kill -9 of the server: it comes back by itself, and the app goes on', async () => {
      await view.kill(home)
      await home.advance(500)
      expect(await guests()).toBe('ada')
      expect((await home.edge('book.localhost', '/sign?name=bea')).body).toBe('ada,bea')
    })

    test('kill -9 of both', async () => {
      await home.kill()
      await view.kill(home)
      await start()
      expect(await guests()).toBe('ada,bea')
      await isSame()
    })

    test('an orderly end: a server in Docker stays for its apps, an embedded one ends with its apps; both come back', async () => {
      expect(await view.runs(home)).toBe(true)
      await home.platform.stop()
      expect(await view.runs(home)).toBe(runtime === 'docker')
      await start()
      expect(await guests()).toBe('ada,bea')
    })

    test('on_exit stop ends the server with the rest', async () => {
      await onExit('stop')
      await home.platform.stop()
      expect(await view.runs(home)).toBe(false)
      await start()
      expect(await guests()).toBe('ada,bea')
      await onExit('default')
    })
  })
}
