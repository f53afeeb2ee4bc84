import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Remote } from '../../server/contract/remotes.ts'
import { fullTest } from '../support/full-test.ts'
import { type HostileRemote, startHostileRemote } from '../support/hostile-remote.ts'
import { startTestPlatform, type TestPlatform } from '../support/platform.ts'
import { addRemote, sendRequest, dashboardHeaders, signIn } from './proxy-requests.ts'

/* With a keychain the token outlives the session and the run, encrypted, and is sent only to its origin. */

const data_dir = mkdtempSync(join(tmpdir(), 'homeport-remote-tokens-'))
const host_module = new URL('../support/keychain-host.ts', import.meta.url).href
const token = 'svc_sealed-by-the-keychain'
let remote: HostileRemote
let evil: HostileRemote
let platform: TestPlatform

beforeAll(async () => {
  ;[remote, evil] = await Promise.all([startHostileRemote(), startHostileRemote()])
})
afterAll(async () => {
  await platform?.remove()
  await Promise.all([remote?.close(), evil?.close()])
  rmSync(data_dir, { recursive: true, force: true })
})

const start = async () => (platform = await startTestPlatform({ runtime: 'process', data_dir, host_module }))
const change = (sql: string, ...values: unknown[]) => {
  const db = new Database(join(data_dir, 'homeport.db'))
  db.prepare(sql).run(...values)
  db.close()
}

test('a token is available to every browser of the owner, and after a restart', async () => {
  await start()
  const known = await addRemote(platform, remote.url, token)
  expect(known).toMatchObject({ keeps_token: 'keychain', is_signed_in: true })
  await addRemote(platform, evil.url, 'svc_another-token-of-evil')
  const page = dashboardHeaders(platform, await signIn(platform))
  expect((await sendRequest(platform, 'GET', `${known.base}/v1/projects`, { token: null, headers: page })).status).toBe(200)
  expect((await platform.api('POST', '/instance/backups', {})).status).toBeLessThan(300)
  await platform.handle.stop()
  expect(filesWith(token)).toEqual([])
  expect(platform.log.join('\n')).not.toContain(token)

  await start()
  expect((await sendRequest(platform, 'GET', `${known.base}/v1/projects`)).status).toBe(200)
  expect(remote.requests.at(-1)?.headers.authorization).toBe(`Bearer ${token}`)
  expect(JSON.stringify((await platform.api('GET', '/instance/remotes')).body)).not.toContain('svc_')
})

fullTest('a row changed outside the platform sends its token nowhere', async () => {
  const { body } = await platform.api<{ remotes: Remote[] }>('GET', '/instance/remotes')
  const [good, other] = body.remotes
  await platform.handle.stop()
  const seen = evil.requests.length
  change('UPDATE remotes SET origin = ? WHERE id = ?', 'http://127.0.0.1:1', other?.id)
  change('UPDATE remotes SET origin = ? WHERE id = ?', evil.url, good?.id)
  await start()
  const moved = await sendRequest(platform, 'GET', `/remote/${good?.id}/v1/projects`)
  expect([moved.status, moved.body.error]).toEqual([409, 'remote_token_refused'])

  await platform.handle.stop()
  change('UPDATE remotes SET sealed_token = (SELECT sealed_token FROM remotes WHERE id = ?) WHERE id = ?', good?.id, other?.id)
  change('UPDATE remotes SET origin = ? WHERE id = ?', remote.url, good?.id)
  await start()
  expect((await sendRequest(platform, 'GET', `/remote/${other?.id}/v1/projects`)).status).toBe(409)
  expect((await sendRequest(platform, 'GET', `/remote/${good?.id}/v1/projects`)).status).toBe(200)
  expect(evil.requests).toHaveLength(seen)
})

/** Files of the data folder, including backups and logs, that contain these bytes. */
function filesWith(needle: string): string[] {
  return readdirSync(data_dir, { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile())
    .map((one) => join(one.parentPath, one.name))
    .filter((path) => readFileSync(path).includes(needle))
}
