import { beforeEach, describe, expect, test } from 'vitest'
import { answerBridge } from '../../main/ipc.ts'
import { channels } from '../../preload/bridge.ts'
import { FakeWindow, reset, world } from '../support/electron-double.ts'

let window: FakeWindow
let gone: string[]

const own = { url: 'http://127.0.0.1:4600/app/projects', parent: null }

/** Calls a channel as a frame of the window would. */
async function call(channel: string, argument?: unknown, frame: { url: string; parent: unknown } | null = own): Promise<unknown> {
  const handler = world.handlers.get(channel)
  expect(handler, channel).toBeDefined()
  return handler?.({ senderFrame: frame, sender: window.webContents } as never, argument)
}

beforeEach(() => {
  reset()
  gone = []
  window = new FakeWindow()
  answerBridge({ origin: 'http://127.0.0.1:4600', edge_url: 'http://localhost:4680', goTo: (path) => void gone.push(path) })
})

test('every channel that the page calls is answered, and no other', () => {
  const { navigate: _toThePage, ...calls } = channels
  expect([...world.handlers.keys()].sort()).toEqual(Object.values(calls).sort())
})

describe.each([
  ['a foreign page', { url: 'https://evil.example/app/', parent: null }],
  ['another port of this machine', { url: 'http://127.0.0.1:4601/app/', parent: null }],
  ['an app at the edge', { url: 'http://shop.localhost:4680/', parent: null }],
  ['a frame inside our page', { url: 'http://127.0.0.1:4600/app/', parent: {} }],
  ['a page without an address', { url: 'about:blank', parent: null }],
  ['a frame that is gone', null],
])('%s', (_name, frame) => {
  test.each(Object.values(channels).filter((channel) => channel !== channels.navigate))('is refused at %s', async (channel) => {
    await expect(call(channel, 'http://shop.localhost:4680/', frame)).rejects.toThrow('may not speak')
    expect(world.opened).toEqual([])
  })
})

test('a folder that was chosen, or null', async () => {
  expect(await call(channels.chooseFolder)).toBe('/home/me/app')
  world.folder = { canceled: true, filePaths: [] }
  expect(await call(channels.chooseFolder)).toBeNull()
})

test('a notification only while the window is not in front; a click leads to its path', async () => {
  window.is_focused = true
  await call(channels.notify, { title: 'Live', body: 'shop is live', path: 'projects/shop' })
  expect(world.notices).toHaveLength(0)
  window.is_focused = false
  await call(channels.notify, { title: 'Live', body: 'shop is live', path: 'projects/shop' })
  expect(world.notices[0]?.options).toEqual({ title: 'Live', body: 'shop is live' })
  world.notices[0]?.emit('click')
  expect(gone).toEqual(['/projects/shop'])
})

test.each([null, 'text', {}, { title: 'a', body: 'b' }, { title: 1, body: 'b', path: '/' }])('a notification must be one: %j', async (value) => {
  await call(channels.notify, value)
  expect(world.notices).toHaveLength(0)
})

test('progress between 0 and 1, anything else takes it away', async () => {
  await call(channels.setProgress, 0.4)
  expect(window.progress).toBe(0.4)
  for (const value of [null, 2, -3, 'x', undefined]) {
    await call(channels.setProgress, value)
    expect(window.progress).toBe(-1)
  }
})

test('an address has to be a text', async () => {
  expect(await call(channels.openExternal, { toString: () => 'http://shop.localhost:4680/' })).toBe(false)
  expect(await call(channels.openExternal, 'http://shop.localhost:4680/')).toBe(true)
  expect(world.opened).toEqual(['http://shop.localhost:4680/'])
})
