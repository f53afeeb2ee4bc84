import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Database } from '../../server/contract/databases.ts'
import type { Deployment } from '../../server/contract/deployments.ts'
import { instanceIdOf, viewEngine } from '../support/docker.ts'
import { askEdge, newFolder, type RunningInstance, serve } from '../support/instance-process.ts'
import { makeRepository, type Repository } from '../support/repository.ts'
import { until } from '../support/until.ts'
import { asked, packedGuestBook } from './guests.ts'

/** What ends a server behind the platform's back, and whether one runs. */
export interface ServerView {
  /** Kills it as a crash would. */
  kill(instance: RunningInstance): Promise<void>
  runs(instance: RunningInstance): Promise<boolean>
}

/** Databases outlive the end of everything around them. One suite, every driver. */
export function restartStories(runtime: 'process' | 'docker', view: ServerView): void {
  describe(`databases on ${runtime}, over restarts`, () => {
    const folder = newFolder('database')
    let home: RunningInstance
    let repository: Repository
    let ownerId: string
    let before: Database

    const start = () => serve({ data: folder.path, args: ['--port', '0', '--edge-port', '0', '--runtime', runtime] })
    const ask = async <Body>(method: string, path: string, body?: unknown) => {
      const answer = await home.ask(path, {
        method,
        ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
      })
      const text = await answer.text()
      return { status: answer.status, body: (text === '' ? {} : JSON.parse(text)) as Body }
    }
    const database = (slug: string) => ask<{ database: Database; error?: string; message?: string }>('GET', `/v1/projects/${slug}/database`)
    const guests = () =>
      until(
        async () => {
          const { status, text } = await askEdge(home.instance.edge_url, 'book', '/all')
          return status === 200 && !text.includes('<') ? text : undefined
        },
        { what: 'the app and its database' },
      )

    beforeAll(async () => {
      repository = makeRepository(packedGuestBook())
      home = await start()
      ownerId = (await ask<{ user: { id: string } }>('GET', '/instance/session')).body.user.id
      await ask('POST', '/v1/projects', { name: 'Book', slug: 'book', repo_url: repository.url })
      before = (await ask<{ database: Database }>('POST', '/v1/projects/book/database')).body.database
      const { body } = await ask<{ deployment: Deployment }>('POST', '/v1/projects/book/deploy')
      await until(
        async () => {
          const { deployment } = (await ask<{ deployment: Deployment }>('GET', `/v1/projects/book/deployments/${body.deployment.id}`)).body
          expect(deployment.error).toBeNull()
          return deployment.status === 'ready' ? true : undefined
        },
        { what: 'the app' },
      )
      expect((await askEdge(home.instance.edge_url, 'book', '/sign?name=ada')).text).toBe('ada')
    })
    afterAll(async () => {
      await ask('PATCH', '/instance/settings', { on_exit: 'stop' })
      await home.end()
      if (runtime === 'docker') await viewEngine(instanceIdOf(ownerId)).removeAll()
      folder.remove()
      repository.remove()
    })

    test('kill -9 of Homeport: the next run finds it, with its data, at the same address', async () => {
      await home.end('SIGKILL')
      expect(await asked(before.connection_string, 'TABLE guests')).toEqual([['ada']])
      home = await start()
      expect(await guests()).toBe('ada')
      expect((await database('book')).body.database).toEqual({ ...before, size_bytes: expect.any(Number) })
    })

    test('kill -9 of the server: it comes back by itself, and the app goes on', async () => {
      await view.kill(home)
      expect(await guests()).toBe('ada')
      expect((await askEdge(home.instance.edge_url, 'book', '/sign?name=bea')).text).toBe('ada,bea')
    })

    test('kill -9 of both', async () => {
      await home.end('SIGKILL')
      await view.kill(home).catch(() => {})
      home = await start()
      expect(await guests()).toBe('ada,bea')
      expect((await database('book')).body.database).toEqual({ ...before, size_bytes: expect.any(Number) })
    })

    test(`an orderly end: a server in Docker stays for its apps, an embedded one ends with its apps; both come back`, async () => {
      expect(await view.runs(home)).toBe(true)
      expect(await home.end()).toMatchObject({ code: 0 })
      expect(await view.runs(home)).toBe(runtime === 'docker')
      home = await start()
      expect(await guests()).toBe('ada,bea')
    })

    test('on_exit stop ends the server with the rest', async () => {
      await ask('PATCH', '/instance/settings', { on_exit: 'stop' })
      expect(await home.end()).toMatchObject({ code: 0 })
      expect(await view.runs(home)).toBe(false)
      home = await start()
      expect(await guests()).toBe('ada,bea')
      await ask('PATCH', '/instance/settings', { on_exit: 'default' })
    })

    test('what was half made when everything ended is undone, and can be made', async () => {
      await ask('POST', '/v1/projects', { name: 'Half', slug: 'half' })
      const { body } = await ask<{ database: Database }>('POST', '/v1/projects/half/database')
      await home.end('SIGKILL')
      const ledger = new Sqlite(join(folder.path, 'homeport.db'))
      ledger.prepare('UPDATE databases SET is_ready = 0 WHERE db_name = ?').run(body.database.db_name)
      ledger.close()
      home = await start()
      expect(await database('half')).toMatchObject({ status: 404, body: { error: 'database_not_found' } })
      await until(
        async () =>
          (await asked(before.connection_string, `SELECT 1 FROM pg_roles WHERE rolname = '${body.database.db_user}'`)).length === 0
            ? true
            : undefined,
        { what: 'the half made role to go' },
      )
      expect((await ask('POST', '/v1/projects/half/database')).status).toBe(201)
    })

    test('doctor says how the server is', async () => {
      const { body } = await ask<{ checks: { name: string; status: string; message: string }[] }>('GET', '/instance/doctor')
      expect(body.checks.find((check) => check.name === `databases ${runtime}`)).toMatchObject({ status: 'ok', message: expect.stringMatching(/15/) })
    })
  })
}
