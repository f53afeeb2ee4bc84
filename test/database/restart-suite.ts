import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Database } from '../../server/contract/databases.ts'
import { startTestPlatform, type TestPlatform } from '../support/platform.ts'
import { makeRepository, type Repository } from '../support/repository.ts'
import { until } from '../support/until.ts'
import { queryDatabase, guestBookFiles } from './guest-book-app.ts'

/** Kills a server behind the platform's back, and tells whether one runs. */
export interface DatabaseServerControl {
  /** Kills it like a crash, and waits for its exit. */
  kill(platform: TestPlatform): Promise<void>
  runs(platform: TestPlatform): Promise<boolean>
}

/** Databases survive every kind of restart: one suite for every driver. */
export function restartSuite(runtime: 'process' | 'docker', view: DatabaseServerControl): void {
  describe('across restarts', () => {
    const data_dir = mkdtempSync(join(tmpdir(), 'homeport-database-'))
    let platform: TestPlatform
    let repository: Repository
    let before: Database

    const start = async () => void (platform = await startTestPlatform({ runtime, data_dir }))
    const database = async (slug: string) => platform.api<{ database: Database; error?: string }>('GET', `/v1/projects/${slug}/database`)
    const isSame = async () => expect((await database('book')).body.database).toEqual({ ...before, size_bytes: expect.any(Number) })
    const onExit = (on_exit: 'stop' | 'default') => platform.api('PATCH', '/instance/settings', { on_exit })
    const guests = () =>
      until(
        async () => {
          const { status, body } = await platform.fetchEdge('book.localhost', '/all')
          if (status !== 200) throw new Error(`${status} ${body}`)
          return body
        },
        { what: 'the app and its database' },
      )

    beforeAll(async () => {
      repository = makeRepository(guestBookFiles())
      await start()
      await platform.createProject({ slug: 'book', repo_url: repository.url })
      before = (await platform.api<{ database: Database }>('POST', '/v1/projects/book/database')).body.database
      expect((await platform.waitForEnd('book', (await platform.deploy('book')).id)).error).toBeNull()
      expect((await platform.fetchEdge('book.localhost', '/sign?name=ada')).body).toBe('ada')
    })
    afterAll(async () => {
      await onExit('stop')
      await platform.remove()
      repository.remove()
    })

    test('kill -9 of Homeport: the next run finds it, with its data, at the same address', async () => {
      await platform.kill()
      expect(await queryDatabase(before.connection_string, 'TABLE guests')).toEqual([['ada']])
      await start()
      expect(await guests()).toBe('ada')
      await isSame()
    })

    test('kill -9 of the server: it restarts by itself, and the app continues', async () => {
      await view.kill(platform)
      await platform.advance(500)
      expect(await guests()).toBe('ada')
      expect((await platform.fetchEdge('book.localhost', '/sign?name=bea')).body).toBe('ada,bea')
    })

    test('kill -9 of both', async () => {
      await platform.kill()
      await view.kill(platform)
      await start()
      expect(await guests()).toBe('ada,bea')
      await isSame()
    })

    test('an orderly stop: a server in Docker keeps running for its apps, an embedded one ends with its apps; both come back', async () => {
      expect(await view.runs(platform)).toBe(true)
      await platform.handle.stop()
      expect(await view.runs(platform)).toBe(runtime === 'docker')
      await start()
      expect(await guests()).toBe('ada,bea')
    })

    test('on_exit stop ends the server too', async () => {
      await onExit('stop')
      await platform.handle.stop()
      expect(await view.runs(platform)).toBe(false)
      await start()
      expect(await guests()).toBe('ada,bea')
      await onExit('default')
    })
  })
}
