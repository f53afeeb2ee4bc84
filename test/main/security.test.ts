import fc from 'fast-check'
import { beforeEach, describe, expect, test } from 'vitest'
import { hardenDashboardSession, isDashboardUrl, isAllowedPage, dashboardPartition, sanitizeFilename } from '../../main/security.ts'
import { app, type FakeSession, resetFakeElectron, session, fakeElectron } from '../support/fake-electron.ts'
import { forEachSeed } from '../support/seeds.ts'

const corpus = new URL('corpus/seeds.json', import.meta.url)

const origin = 'http://127.0.0.1:4600'
let own: FakeSession

beforeEach(() => {
  resetFakeElectron()
  own = session.fromPartition(dashboardPartition)
  hardenDashboardSession(origin)
})

const isLetThrough = (url: string): boolean => {
  let isCanceled: boolean | undefined
  own.requestListener?.({ url }, (result) => (isCanceled = result.cancel))
  return isCanceled === false
}

describe('network requests', () => {
  test.each([`${origin}/app/`, `${origin}/v1/projects`, 'ws://127.0.0.1:4600/x', `blob:${origin}/1`, 'data:text/html,x'])('%s is allowed', (url) => {
    expect(isLetThrough(url)).toBe(true)
  })

  test.each([
    'https://evil.example/',
    'http://127.0.0.1:4601/',
    'http://localhost:4600/',
    'http://shop.localhost:4680/',
    'ws://evil.example/',
    'wss://127.0.0.1:4600/',
    'https://127.0.0.1:4600/',
    'http://me@127.0.0.1:4600/',
    'http://127.0.0.1:4600.evil.example/',
    'file:///etc/passwd',
    'ftp://127.0.0.1:4600/',
    'chrome://version',
    'not an address',
  ])('%s is blocked', (url) => {
    expect(isLetThrough(url)).toBe(false)
  })

  test('the DevTools are available in a checkout, and in no package', () => {
    expect(isLetThrough('devtools://devtools/bundled/x.js')).toBe(true)
    app.isPackaged = true
    expect(isLetThrough('devtools://devtools/bundled/x.js')).toBe(false)
  })
})

test('no devices, no screen capture', () => {
  expect(own.devicePermissionHandler?.({ deviceType: 'usb', origin })).toBe(false)
  let streams: object | null | undefined
  own.displayMediaHandler?.({}, (given) => (streams = given))
  expect(streams).toBeNull()
})

describe('downloads', () => {
  test.each([`${origin}/v1/projects/shop/deployments/dep_1/logs?download=1`, `blob:${origin}/123`])('%s is saved where the user chooses', (url) => {
    const { is_refused, options } = own.download(url, 'shop-build.log')
    expect(is_refused).toBe(false)
    expect(options).toEqual({ title: 'Save', defaultPath: '/home/me/downloads/shop-build.log' })
  })

  test.each(['https://evil.example/x.exe', 'http://shop.localhost:4680/x', 'blob:https://evil.example/1', 'data:text/html,x', 'file:///etc/passwd'])(
    '%s is refused',
    (url) => {
      expect(own.download(url, 'x')).toEqual({ is_refused: true, options: undefined })
    },
  )

  test.each([
    ['../../.bashrc', 'bashrc'],
    ['..\\..\\autostart.bat', 'autostart.bat'],
    ['C:\\Windows\\system.ini', 'system.ini'],
    ['/etc/passwd', 'passwd'],
    ['..', 'homeport-download'],
    ['', 'homeport-download'],
    ['con.log', '_con.log'],
    ['photo\u202Egnp.exe', 'photognp.exe'],
    ['a\u0000b\n.log', 'ab.log'],
    ['trailing. . .', 'trailing'],
    [' .bashrc', 'bashrc'],
    ['\u00a0.\u00a0.profile', 'profile'],
    ['homeport-2026.tar.gz', 'homeport-2026.tar.gz'],
    ['Übersicht – März.csv', 'Übersicht – März.csv'],
  ])('%j is saved as %j', (name, expected) => {
    expect(sanitizeFilename(name)).toBe(expected)
  })

  /** Half of the characters are ASCII, which includes all dangerous ones. */
  const sign = fc.oneof(fc.integer({ min: 0, max: 0x7f }), fc.integer({ min: 0x80, max: 0x10ffff }))

  test('a file name never leaves a folder', async () => {
    await forEachSeed(corpus, async (seed) =>
      fc.assert(
        fc.property(fc.array(sign, { maxLength: 400 }), (signs) => {
          const name = String.fromCodePoint(...signs).toWellFormed()
          const safe = sanitizeFilename(name)
          expect(safe).toMatch(/^[^<>:"/\\|?*]{1,151}$/su)
          expect(safe.split('').filter((sign) => sign < ' ')).toEqual([])
          expect(['.', '..']).not.toContain(safe)
          expect(safe).not.toMatch(/^\./)
        }),
        { seed, numRuns: 300 },
      ),
    )
  })
})

describe('our own pages', () => {
  test.each(['/app', '/app/', '/app/projects/shop', '/app/on/rem_1/projects', '/', '/sign-in?code=x', '/sign-up', '/forgot', '/verify', '/join'])(
    '%s',
    (path) => {
      expect(isAllowedPage(`${origin}${path}`, origin)).toBe(true)
    },
  )
  test.each([
    '/remote/rem_1/v1/projects',
    '/v1/projects',
    '/app/../remote/rem_1/x',
    '/app/%2e%2e/remote/rem_1/x',
    '/docs',
    '/application',
    '/sign-in/x',
    '/healthz',
  ])('%s is not one', (path) => {
    expect(isAllowedPage(`${origin}${path}`, origin)).toBe(false)
    expect(isDashboardUrl(`${origin}${path}`, origin)).toBe(false)
  })
  test('only addresses below /app/ are the dashboard', () => {
    expect(['/app/', '/app/x', '/app', '/sign-in', '/'].map((path) => isDashboardUrl(`${origin}${path}`, origin))).toEqual([
      true,
      true,
      false,
      false,
      false,
    ])
  })
})

test('makes no other requests to the system', () => {
  expect([fakeElectron.opened_urls, fakeElectron.message_boxes]).toEqual([[], []])
})
