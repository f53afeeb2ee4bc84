import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Remote } from '../../server/contract/remotes.ts'
import { fullTest } from '../support/full-test.ts'
import { runCommand } from '../support/command.ts'
import { runHomeport } from '../support/instance-process.ts'
import { startTestPlatform, type TestPlatform } from '../support/platform.ts'

let platform: TestPlatform
let away: TestPlatform

beforeAll(async () => {
  ;[platform, away] = await Promise.all([startTestPlatform({ runtime: 'process' }), startTestPlatform({ runtime: 'process' })])
})
afterAll(() => Promise.all([platform.remove(), away.remove()]))

const run = (args: string[], more: { answers?: string[]; remote_token?: string } = {}) => runCommand(platform.handle.instance, '.', args, more)

test('an instance is added with its token from a pipe, listed, renamed, given another token, and removed', async () => {
  const { api_url, token } = away.handle.instance
  expect(await run(['instances'])).toMatchObject({ code: 0, out: expect.stringContaining('No other instances yet.') })

  const added = await run(['instances', 'add', api_url, 'There'], { answers: [`${token} `] })
  expect(added).toMatchObject({ code: 0, out: `Added There (${api_url}).\n`, err: expect.stringContaining('kept in memory') })
  expect(added.out + added.err).not.toContain(token)

  const listed = await run(['instances'])
  expect(listed.out).toMatch(new RegExp(`rem_\\w{26}\\s+There\\s+${api_url}\\s+saved`))
  const { remotes } = JSON.parse((await run(['instances', '--json'])).out) as { remotes: Remote[] }
  expect(remotes).toMatchObject([{ name: 'There', is_signed_in: true, keeps_token: 'session' }])

  expect(await run(['instances', 'rename', 'There', 'Elsewhere'])).toMatchObject({ code: 0, out: 'Renamed to Elsewhere.\n' })
  expect(await run(['instances', 'token', new URL(api_url).host], { remote_token: token })).toMatchObject({
    code: 0,
    out: 'Updated the token of Elsewhere.\n',
  })
  expect(await run(['instances', 'remove', remotes[0]?.id ?? ''])).toMatchObject({
    code: 0,
    out: expect.stringContaining('Removed Elsewhere and its token'),
  })
  expect(await run(['instances', 'remove', 'Elsewhere'])).toMatchObject({ code: 2, err: expect.stringContaining('There is no instance') })
})

test('errors give the reason', async () => {
  const { api_url } = away.handle.instance
  expect(await run(['instances', 'add', api_url], { answers: ['svc_wrong'] })).toMatchObject({
    code: 1,
    err: expect.stringContaining('remote_token_refused'),
  })
  expect(await run(['instances', 'add', 'http://127.0.0.1:1'], { answers: ['svc_x'] })).toMatchObject({
    code: 1,
    err: expect.stringContaining('nothing is listening on this port'),
  })
  expect(await run(['instances', 'add', api_url])).toMatchObject({ code: 2, err: expect.stringContaining('No token was given') })
  expect(await run(['instances', 'fold'])).toMatchObject({ code: 2, err: expect.stringContaining('Use list, add, ') })
})

fullTest('a separate process reads the token from a pipe or from the environment', async () => {
  const { api_url, token } = away.handle.instance
  const data = ['--data', platform.data_dir]
  const piped = await runHomeport(['instances', 'add', api_url, 'Piped', ...data], { input: `${token}\n` })
  expect(piped).toMatchObject({ code: 0, out: `Added Piped (${api_url}).\n` })
  const given = await runHomeport(['instances', 'token', 'Piped', ...data], { env: { HOMEPORT_REMOTE_TOKEN: token } })
  expect(given).toMatchObject({ code: 0, out: 'Updated the token of Piped.\n' })
  expect(await runHomeport(['instances', 'remove', 'Piped', ...data])).toMatchObject({ code: 0 })
})
