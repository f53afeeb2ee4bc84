import fc from 'fast-check'
import { beforeEach, describe, expect, test } from 'vitest'
import { registerProtocolClient, findDeepLink, parseDeepLink } from '../../main/deep-links.ts'
import { slug } from '../../server/contract/shared.ts'
import { isDashboardUrl } from '../../main/security.ts'
import { app, resetFakeElectron, fakeElectron } from '../support/fake-electron.ts'
import { forEachSeed } from '../support/seeds.ts'

const corpus = new URL('corpus/seeds.json', import.meta.url)

const lost = { path: '/projects', message: 'This link does not match any page in Homeport. Showing your projects instead.' }
const slugs = fc.stringMatching(/^[a-z0-9][a-z0-9-]{1,48}[a-z0-9]$/)
const tabs = ['deployments', 'previews', 'logs', 'metrics', 'cache', 'environment', 'database', 'domains', 'settings']

describe('known pages', () => {
  test.each([
    'projects',
    'domains',
    'account',
    'instances',
    'instance',
    'instance/network',
    'instance/disk',
    'instance/backups',
    'instance/desktop',
    'help',
    'help/docker',
  ])('homeport://%s', (path) => {
    expect(parseDeepLink(`homeport://${path}`)).toEqual({ path: `/${path}`, message: null })
    expect(parseDeepLink(`homeport://${path}/`)).toEqual({ path: `/${path}`, message: null })
  })

  test('an empty link opens the first page', () => {
    expect(parseDeepLink('homeport://')).toEqual({ path: '/', message: null })
  })

  test('every valid slug, and each page below it', async () => {
    await forEachSeed(corpus, async (seed) =>
      fc.assert(
        fc.property(slugs, fc.constantFrom('', ...tabs.map((tab) => `/${tab}`), '/deployments/dep_0198'), (name, tab) => {
          expect(slug.safeParse(name).success).toBe(true)
          expect(parseDeepLink(`homeport://projects/${name}${tab}`)).toEqual({ path: `/projects/${name}${tab}`, message: null })
        }),
        { seed, numRuns: 300 },
      ),
    )
  })
})

test.each([
  'homeport:projects/shop',
  'homeport:/projects/shop',
  'HOMEPORT://projects/shop',
  'homeport://projects/Shop',
  'homeport://projects/shop/',
  'homeport://projects/shop//logs',
  'homeport://projects/shop/deployments/../../../sign-in',
  'homeport://projects/shop?do=delete',
  'homeport://projects/shop#x',
  'homeport://projects/shop/settings/danger',
  'homeport://sign-in?code=abc',
  'homeport://sign-in',
  'homeport://v1/projects',
  'homeport://remote/rem_1/x',
  'homeport://on/rem_1/projects/shop',
  'homeport://evil.example',
  'homeport://user:password@projects/shop',
  'homeport://projects:80/shop',
  'homeport://projects/shop\n',
  'homeport://projects/shop\u0000',
  'homeport://projects/%73hop',
  'homeport://projects/shop\\..\\..',
  `homeport://projects/${'a'.repeat(300)}`,
  'http://127.0.0.1:4600/app/projects/shop',
  'javascript:alert(1)',
  '',
])('%j opens the projects, with a message', (link) => {
  // A trailing slash is allowed, because systems add one.
  expect(parseDeepLink(link)).toEqual(link === 'homeport://projects/shop/' ? { path: '/projects/shop', message: null } : lost)
})

test('any link opens a page of the dashboard, without a query, a parent path or another host', async () => {
  const hostile = fc.oneof(
    fc.array(fc.integer({ min: 0, max: 0x10ffff })).map((signs) => String.fromCodePoint(...signs).toWellFormed()),
    fc
      .array(
        fc.constantFrom(
          'homeport:',
          '//',
          '/',
          '..',
          '.',
          '%2e',
          '%2f',
          '\\',
          '?',
          '#',
          '@',
          ':',
          'projects',
          'shop',
          'sign-in',
          '~',
          '&',
          '"',
          "'",
          ' ',
          '\n',
          '--data',
          'a',
        ),
      )
      .map((parts) => parts.join('')),
  )
  await forEachSeed(corpus, async (seed) =>
    fc.assert(
      fc.property(hostile, (text) => {
        for (const link of [text, `homeport://${text}`, `homeport://projects/${text}`]) {
          const { path, message } = parseDeepLink(link)
          expect(path).toMatch(/^\/[a-zA-Z0-9_/-]*$/)
          expect(path).not.toMatch(/\/\/|^\/(v1|remote|on|sign-in)\b/)
          const address = new URL(`http://127.0.0.1:4600/app${path}`)
          expect(address.href).toBe(`http://127.0.0.1:4600/app${path}`)
          expect(isDashboardUrl(address.href, 'http://127.0.0.1:4600')).toBe(true)
          if (path !== '/projects' && path !== '/') expect(message).toBeNull()
        }
      }),
      { seed, numRuns: 500 },
    ),
  )
})

test('a second start uses the last argument that looks like a link', async () => {
  expect(findDeepLink(['electron', '.', '--data', '/x'])).toBeUndefined()
  expect(findDeepLink(['homeport', '--', 'homeport://projects/shop'])).toBe('homeport://projects/shop')
  expect(findDeepLink(['--allow-file-access', 'Homeport:x'])).toBe('Homeport:x')
  await forEachSeed(corpus, async (seed) =>
    fc.assert(
      fc.property(fc.array(fc.string()), (argv) => {
        expect(findDeepLink([...argv, 'homeport://help'])).toBe('homeport://help')
      }),
      { seed, numRuns: 100 },
    ),
  )
})

describe('registration of the scheme', () => {
  beforeEach(resetFakeElectron)

  test.each([
    ['win32', [process.execPath, ['--']]],
    ['linux', [undefined, undefined]],
    ['darwin', [undefined, undefined]],
  ] as const)('by a package on %s', (name, [path, args]) => {
    app.isPackaged = true
    expect(registerProtocolClient(name)).toBe(true)
    expect(fakeElectron.protocol_clients).toEqual([{ scheme: 'homeport', path, args }])
  })

  test.each(['win32', 'linux'] as const)('by a checkout on %s, with the arguments that Electron needs', (name) => {
    expect(registerProtocolClient(name)).toBe(true)
    expect(fakeElectron.protocol_clients).toEqual([{ scheme: 'homeport', path: process.execPath, args: ['/checkout', '--'] }])
  })

  test('not by a checkout on macOS, where a link would open Electron without an app', () => {
    expect([registerProtocolClient('darwin'), fakeElectron.protocol_clients]).toEqual([false, []])
  })
})
