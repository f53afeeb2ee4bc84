import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { screenshotPartition } from '../../main/screenshotter.ts'
import { channels } from '../../preload/bridge.ts'
import { createTestDesktop, flushPromises } from '../support/test-desktop.ts'
import { BrowserWindow, FakeWindow, fakeElectron } from '../support/fake-electron.ts'

/** The bridge with the handlers of the whole desktop. */
let testDesktop: ReturnType<typeof createTestDesktop>
let window: FakeWindow

const own = { url: 'http://127.0.0.1:4600/app/projects', parent: null }

/** Calls a channel like a frame of a window. */
async function call(
  channel: string,
  argument?: unknown,
  frame: { url: string; parent: unknown } | null = own,
  from: FakeWindow = window,
): Promise<unknown> {
  const handler = fakeElectron.handlers.get(channel)
  expect(handler, channel).toBeDefined()
  return handler?.({ senderFrame: frame, sender: from.webContents } as never, argument)
}

beforeEach(async () => {
  testDesktop = createTestDesktop()
  await testDesktop.start()
  window = testDesktop.window()
})
afterEach(() => testDesktop.close())

test('every channel that the page uses has a handler, and there are no others', () => {
  expect([...fakeElectron.handlers.keys()].sort()).toEqual(Object.values(channels).sort())
})

/** Valid arguments, so that a refusal is because of the sender. */
const everyChannel = Object.entries({
  chooseFolder: undefined,
  openExternal: 'http://shop.localhost:4680/',
  notify: { title: 'a', body: 'b', path: '/' },
  setProgress: 0.5,
  readDesktop: undefined,
  changeDesktop: { notifies: false },
  updateDesktop: 'check',
  showLogs: undefined,
} satisfies Record<keyof typeof channels, unknown>).map(([name, argument]) => [channels[name as keyof typeof channels], argument] as const)

describe.each([
  ['a foreign page', { url: 'https://evil.example/app/', parent: null }],
  ['another port of this machine', { url: 'http://127.0.0.1:4601/app/', parent: null }],
  ['another name of this machine', { url: 'http://localhost:4600/app/', parent: null }],
  ['an address with a user name', { url: 'http://me@127.0.0.1:4600/app/', parent: null }],
  ['an app at the edge', { url: 'http://shop.localhost:4680/', parent: null }],
  ['a response of a remote instance', { url: 'http://127.0.0.1:4600/remote/rem_1/app/', parent: null }],
  ['an API response', { url: 'http://127.0.0.1:4600/v1/projects', parent: null }],
  ['the sign-in page', { url: 'http://127.0.0.1:4600/sign-in', parent: null }],
  ['a frame inside our page', { url: 'http://127.0.0.1:4600/app/', parent: {} }],
  ['a page without an address', { url: 'about:blank', parent: null }],
  ['a document created in a page', { url: 'blob:http://127.0.0.1:4600/0b6', parent: null }],
  ['a page from a data URL', { url: 'data:text/html,hi', parent: null }],
  ['a file', { url: 'file:///app/index.html', parent: null }],
  ['a frame that no longer exists', null],
])('%s', (_name, frame) => {
  test.each(everyChannel)('is refused at %s', async (channel, argument) => {
    await expect(call(channel, argument, frame)).rejects.toThrow('not allowed to use')
    expectNothing()
  })
})

test.each(everyChannel)('a page being captured for a screenshot is refused at %s, whatever its address', async (channel, argument) => {
  const camera = new BrowserWindow({ webPreferences: { partition: screenshotPartition } })
  await expect(call(channel, argument, own, camera)).rejects.toThrow('not allowed to use')
  expectNothing()
})

test.each(everyChannel)('a window of another session is refused at %s', async (channel, argument) => {
  await expect(call(channel, argument, own, new FakeWindow())).rejects.toThrow('not allowed to use')
  expectNothing()
})

function expectNothing(): void {
  expect([fakeElectron.opened_urls, fakeElectron.message_boxes, fakeElectron.notifications, fakeElectron.opened_paths, window.progress]).toEqual([
    [],
    [],
    [],
    [],
    -1,
  ])
}

test.each(['http://127.0.0.1:4600/app/', 'http://127.0.0.1:4600/app/on/rem_1/projects/shop?x=1#y'])(
  'the dashboard at %s is accepted',
  async (url) => {
    expect(await call(channels.readDesktop, undefined, { url, parent: null })).toMatchObject({ notifies: true })
  },
)

test('a chosen folder, or null', async () => {
  expect(await call(channels.chooseFolder)).toBe('/home/me/app')
  fakeElectron.open_dialog_result = { canceled: true, filePaths: [] }
  expect(await call(channels.chooseFolder)).toBeNull()
})

test('notifies only while the window is in the background; a click opens its path', async () => {
  window.is_focused = true
  await call(channels.notify, { title: 'Live', body: 'shop is live', path: 'on/rem_1/projects/shop' })
  expect(fakeElectron.notifications).toHaveLength(0)
  window.is_focused = false
  await call(channels.notify, { title: 'Live', body: 'shop is live', path: 'on/rem_1/projects/shop' })
  expect(fakeElectron.notifications[0]).toMatchObject({ options: { title: 'Live', body: 'shop is live' }, is_shown: true })
  fakeElectron.notifications[0]?.emit('click')
  await flushPromises()
  expect(window.webContents.sent).toEqual([['homeport:navigate', '/on/rem_1/projects/shop', null]])
  expect(window.is_focused).toBe(true)
})

test('does not notify when notifications are off, or the system has none', async () => {
  fakeElectron.has_notifications = false
  await call(channels.notify, { title: 'Live', body: 'shop is live', path: '/' })
  fakeElectron.has_notifications = true
  await call(channels.changeDesktop, { notifies: false })
  await call(channels.notify, { title: 'Live', body: 'shop is live', path: '/' })
  expect(fakeElectron.notifications).toEqual([])
})

test.each([null, 'text', {}, { title: 'a', body: 'b' }, { title: 1, body: 'b', path: '/' }, { title: 'a', body: 'b', path: `/${'x'.repeat(1000)}` }])(
  'a notification must be valid: %j',
  async (value) => {
    await call(channels.notify, value)
    expect(fakeElectron.notifications).toHaveLength(0)
  },
)

test('progress is between 0 and 1, anything else hides it; builds show when no upload does', async () => {
  await call(channels.setProgress, 0.4)
  expect(window.progress).toBe(0.4)
  for (const value of [null, 2, -3, 'x', undefined, NaN]) {
    await call(channels.setProgress, value)
    expect(window.progress).toBe(-1)
  }
  testDesktop.feed.emitUpdate({ active_deployments: 2 })
  expect(window.progress).toBe(2)
  await call(channels.setProgress, 0.1)
  expect(window.progress).toBe(0.1)
  await call(channels.setProgress, null)
  expect(window.progress).toBe(2)
  testDesktop.feed.emitUpdate({ active_deployments: 0 })
  expect(window.progress).toBe(-1)
})

test('a URL must be a string, and one of the web', async () => {
  for (const url of ['file:///etc/passwd', 'shop', 'https://ada@example.com/', 'https://:secret@example.com/'])
    expect(await call(channels.openExternal, url)).toBe(false)
  expect(await call(channels.openExternal, { toString: () => 'http://shop.localhost:4680/' })).toBe(false)
  expect(await call(channels.openExternal, 'http://shop.localhost:4680/')).toBe(true)
  expect(fakeElectron.opened_urls).toEqual(['http://shop.localhost:4680/'])
})

test('settings are read, changed and stored', async () => {
  const before = await call(channels.readDesktop)
  expect(before).toEqual({
    opens_at_login: false,
    keeps_running: true,
    notifies: true,
    downloads_updates: false,
    update: { name: 'off', reason: 'This is a test.' },
  })
  const change = { notifies: false, keeps_running: false, opens_at_login: true, downloads_updates: true }
  expect(await call(channels.changeDesktop, change)).toEqual({ ...(before as object), ...change })
  expect(await call(channels.readDesktop)).toMatchObject(change)
})

test.each([null, 'text', 7, { notifies: 'yes' }, { was_told: true }, { __proto__: null, data_dir: true }, [true]])(
  'a change must be valid: %j',
  async (value) => {
    await expect(call(channels.changeDesktop, value)).rejects.toThrow('Unknown desktop setting')
    expect(await call(channels.readDesktop)).toMatchObject({ notifies: true, keeps_running: true })
  },
)

test.each([null, 'install', 'toString', '__proto__', 1, {}])('an update action must be valid: %j', async (value) => {
  await expect(call(channels.updateDesktop, value)).rejects.toThrow('Unknown update action')
})

test('shows the log folder, and no other', async () => {
  await call(channels.showLogs, '/etc')
  expect(fakeElectron.opened_paths).toEqual([`${testDesktop.folder}/desktop/logs`])
})
