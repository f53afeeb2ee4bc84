import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runCommand } from '../support/command.ts'
import { startTestPlatform, type TestPlatform } from '../support/platform.ts'
import { requires } from '../support/requirements.ts'

let platform: TestPlatform
beforeAll(async () => {
  platform = await startTestPlatform({ runtime: 'process' })
  await platform.createProject({ slug: 'shop' })
})
afterAll(() => platform.remove())

const run = (...args: string[]) => runCommand(platform.handle.instance, platform.data_dir, args)

describe('homeport hosts', () => {
  // The instance's hosts file and the command's may differ, because an administrator's command accepts no path from an instance.
  const own = () => join(platform.data_dir, 'hosts')
  const other = () => join(platform.data_dir, 'hosts-of-the-system')
  const original = '127.0.0.1 localhost\n'

  test('shows the lines', async () => {
    writeFileSync(own(), original)
    writeFileSync(other(), original)
    const { code, out, err } = await run('hosts', '--file', other())
    expect({ code, out }).toEqual({
      code: 0,
      out: expect.stringMatching(/^# homeport begin [a-z0-9]+\n127\.0\.0\.1 shop\.localhost\n# homeport end\n$/),
    })
    expect(err).toContain('does not contain these lines')
  })

  test('writes them, turns the setting on, and the instance updates them from then on', async () => {
    expect(await run('hosts', '--write', '--file', other())).toMatchObject({ code: 0, out: `${other()} contains one name of this instance.\n` })
    for (const path of [own(), other()]) expect(readFileSync(path, 'utf8')).toContain('127.0.0.1 shop.localhost\n')
    expect((await run('settings', 'get', 'hosts_file')).out).toBe('true\n')
    expect((await run('hosts', '--file', other())).err).toContain('contains these lines')
  })

  test('removes them, and turns the setting off', async () => {
    expect((await run('hosts', '--remove', '--file', other(), '--json')).code).toBe(0)
    for (const path of [own(), other()]) expect(readFileSync(path, 'utf8')).toBe(original)
    expect((await run('settings', 'get', 'hosts_file')).out).toBe('false\n')
  })

  test('both at once is a usage error', async () => {
    expect((await run('hosts', '--write', '--remove')).code).toBe(2)
  })
})

describe('homeport trust', () => {
  test('before there is an authority', async () => {
    expect(await run('trust', '--show')).toMatchObject({ code: 0, out: 'There is no certificate authority yet.\n' })
  })

  test.skipIf(!requires('nss').ok)('adds and removes the authority', async () => {
    const { code, out } = await run('trust')
    expect(code).toBe(0)
    expect(out).toMatch(/Chromium: now trusted\.\n/)
    expect(out).toMatch(/Homeport local authority \(.*\)\n {2}SHA-256 ([0-9A-F]{2}:){31}[0-9A-F]{2}\n✓ Chromium: trusted\n/)
    expect((await run('doctor')).out).toContain('✓ Certificates (Chromium): Trusts this instance.')
    const removed = await run('trust', '--remove', '--json')
    expect(JSON.parse(removed.out)).toMatchObject({
      https: { authority: null },
      messages: ['Chromium: removed.', expect.stringContaining('destroyed')],
    })
  })
})

test('is for the owner only', async () => {
  const { body } = await platform.api<{ token: string }>('POST', '/instance/users', { email: 'guest@example.com' })
  for (const [method, path] of [
    ['GET', '/instance/https'],
    ['POST', '/instance/https/trust'],
    ['DELETE', '/instance/https/trust'],
    ['GET', '/instance/hosts-file'],
  ] as const) {
    expect((await platform.api(method, path, undefined, body.token)).status).toBe(403)
    expect((await platform.api(method, path, undefined, null)).status).toBe(401)
  }
})

test('the session and instance.json say where HTTPS is', async () => {
  const { body } = await platform.api<{ instance: { edge_https_url: string } }>('GET', '/instance/session')
  expect(body.instance.edge_https_url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/)
  expect(JSON.parse(readFileSync(join(platform.data_dir, 'instance.json'), 'utf8'))).toMatchObject({ edge_https_url: body.instance.edge_https_url })
})

test('the setting redirects plain HTTP, at once', async () => {
  const https = new URL(platform.handle.instance.edge_https_url ?? '')
  expect((await platform.fetchEdge('shop.localhost', '/a')).status).toBe(404)
  await platform.api('PATCH', '/instance/settings', { https_redirect: true })
  expect(await platform.fetchEdge('shop.localhost', '/a')).toMatchObject({
    status: 308,
    headers: { location: `https://shop.localhost:${https.port}/a` },
  })
  await platform.api('PATCH', '/instance/settings', { https_redirect: false })
  expect((await platform.fetchEdge('shop.localhost', '/a')).status).toBe(404)
})
