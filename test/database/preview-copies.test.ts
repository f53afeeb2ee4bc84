import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Database } from '../../server/contract/databases.ts'
import { check, commitOn, gitIn, previewOf, previewsOf, watched } from '../support/branches.ts'
import { startTestPlatform, type TestPlatform, until } from '../support/platform.ts'
import { makeRepository, type Repository } from '../support/repository.ts'
import { requires } from '../support/requirements.ts'
import { asked, guestBook } from './guests.ts'

copyStories('process')
describe.skipIf(!requires('docker').ok)('with a Docker engine', () => copyStories('docker'))

function copyStories(runtime: 'process' | 'docker'): void {
  describe(`databases of previews on ${runtime}`, () => {
    let home: TestPlatform
    let repository: Repository
    let database: Database

    beforeAll(async () => {
      home = await startTestPlatform({ runtime })
      repository = makeRepository(guestBook)
      await home.createProject({ slug: 'book', repo_url: repository.url })
      await watched(home, 'book')
      database = (await home.api<{ database: Database }>('POST', '/v1/projects/book/database')).body.database
      await asked(database.connection_string, "CREATE TABLE guests (name text); INSERT INTO guests VALUES ('ada')")
    })
    afterAll(async () => {
      await home.remove()
      repository.remove()
    })

    const preview = async (branch: string) => {
      const sha = commitOn(repository.folder, branch, { 'note.txt': branch })
      await check(home, 'book')
      const { url } = await previewOf(home, 'book', branch, sha, 120_000)
      return async (path: string) => (await home.edge(new URL(url ?? '').hostname, path)).body
    }
    const roles = async () => (await asked(database.connection_string, "SELECT rolname FROM pg_roles WHERE rolname ~ '^p_' ORDER BY 1")).flat()

    test('a preview has none, unless it is wanted', async () => {
      const app = await preview('plain')
      expect(await app('/url')).toBe('none')
      expect(await roles()).toEqual([database.db_user])
    })

    test('then it has a copy of its own, with a role of its own, which goes with it', async () => {
      expect((await home.api('PATCH', '/instance/projects/book/watching', { preview_databases: true })).status).toBe(200)
      const app = await preview('copied')
      const url = new URL(await app('/url'))
      expect([url.username === database.db_user, url.password === database.password]).toEqual([false, false])
      expect(await app('/sign?name=bea')).toBe('ada,bea')
      expect(await asked(database.connection_string, 'TABLE guests')).toEqual([['ada']])
      expect(await roles()).toEqual([database.db_user, url.username].sort())

      // Its next commit finds what its last one wrote.
      const again = await preview('copied')
      expect(await again('/all')).toBe('ada,bea')

      gitIn(repository.folder)('branch', '--delete', '--force', 'copied')
      await check(home, 'book')
      await until(async () => ((await previewsOf(home, 'book')).some((one) => one.branch === 'copied') ? undefined : true), {
        what: 'the end of the preview',
      })
      await until(async () => ((await roles()).length === 1 ? true : undefined), { what: 'the end of its role' })
      expect((await asked(database.connection_string, "SELECT datname FROM pg_database WHERE datname ~ '^p_'")).flat()).toEqual([database.db_name])
    })
  })
}
