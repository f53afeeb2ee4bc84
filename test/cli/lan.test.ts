import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { LanStatus } from '../../server/contract/network.ts'
import { runCommand } from '../support/command.ts'
import { runHomeport } from '../support/instance-process.ts'
import { startTestPlatform, type TestPlatform } from '../support/platform.ts'

const password = 'a long enough password'
let platform: TestPlatform

beforeAll(async () => {
  platform = await startTestPlatform({ runtime: 'process' })
})
afterAll(() => platform.remove())

/** With a user who types `answers` into a terminal; without answers there is no terminal. */
const run = (args: string[], answers?: string[]) => runCommand(platform.handle.instance, '.', args, answers && { answers })

const status = async () => (JSON.parse((await run(['lan', '--json'])).out) as { lan: LanStatus }).lan

describe('homeport lan and homeport password', () => {
  test('is closed by default, and says how to open it', async () => {
    const { code, out } = await run(['lan'])
    expect([code, out]).toEqual([0, expect.stringContaining('homeport lan on')])
  })

  test('a script cannot open it before a password is set', async () => {
    const { code, err } = await run(['lan', 'on'])
    expect([code, err]).toEqual([1, expect.stringContaining('owner_password_required')])
    expect((await status()).open).toBe(false)
  })

  test('passwords that differ, are too short, or are missing are not set', async () => {
    expect(await run(['password'], [password, 'another long password'])).toMatchObject({ code: 2, err: expect.stringContaining('differ') })
    expect(await run(['password'], ['short', 'short'])).toMatchObject({ code: 1, err: expect.stringContaining('at least 10 characters') })
    expect(await run(['password'])).toMatchObject({ code: 2, err: expect.stringContaining('no password') })
    expect((await status()).has_owner_password).toBe(false)
  })

  test('an interactive user who opens it without a password is asked for one twice, without echo', async () => {
    const { code, out, err, prompts } = await run(['lan', 'on'], [password, password])
    expect([code, prompts.map(({ is_secret }) => is_secret)]).toEqual([0, [true, true]])
    expect(out + err).not.toContain(password)
    const { open, dashboard_urls } = await status()
    expect(open).toBe(true)
    if (dashboard_urls.length > 0) expect(out).toContain('Sign in as owner@homeport.localhost')
    for (const url of dashboard_urls) expect(out).toContain(url)
    // The QR code for a phone, if there is an address to show.
    expect(/[▀▄█]{8}/.test(out)).toBe(dashboard_urls.length > 0)
  })

  test('prints no QR code when the output is not a terminal', async () => {
    expect((await run(['lan'])).out).not.toMatch(/[▀▄█]/)
    expect(await run(['lan', '--qr', 'nothing'])).toMatchObject({ code: 2, err: expect.stringContaining('No live project') })
    expect(await run(['lan', 'maybe'])).toMatchObject({ code: 2 })
  })

  test('a separate process reads the password from standard input', async () => {
    const piped = await runHomeport(['password', '--data', platform.data_dir], { input: `${password}\n` })
    expect([piped.code, piped.out]).toEqual([0, expect.stringContaining('The password is set')])
    const nothing = await runHomeport(['password', '--data', platform.data_dir], { input: '' })
    expect([nothing.code, nothing.err]).toEqual([2, expect.stringContaining('no password')])
  })

  test('prints the setup code alone, so that it can be copied', async () => {
    const { code, out, err } = await run(['password', '--code'])
    expect([code, out]).toEqual([0, expect.stringMatching(/^[A-Z2-9]{5}-[A-Z2-9]{5}\n$/)])
    expect(err).toContain('Works once')
  })

  test('off closes the network', async () => {
    expect(await run(['lan', 'off'])).toMatchObject({ code: 0, out: expect.stringContaining('closed') })
    expect((await status()).open).toBe(false)
  })
})
