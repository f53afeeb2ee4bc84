/** The real preload, against the other side of the fake: what a page finds, and what it can do with it. */
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { type Bridge, channels, rendererChannels } from '../../preload/bridge.ts'
import { exposedApis, ipcRenderer } from '../support/fake-electron.ts'

let bridge: Bridge

beforeAll(async () => {
  process.argv.push('--homeport-version=9.8.7')
  await import('../../preload/index.ts')
  bridge = exposedApis.get('homeport') as Bridge
})
beforeEach(() => {
  ipcRenderer.invoked = []
})

/** Every function that a page may call, with its arguments. A missing one does not compile. */
const verbs = {
  chooseFolder: [],
  openExternal: ['http://shop.localhost:4680/'],
  notify: [{ title: 'a', body: 'b', path: '/' }],
  setProgress: [0.5],
  readDesktop: [],
  changeDesktop: [{ notifies: false }],
  updateDesktop: ['check'],
  showLogs: [],
} satisfies { [Verb in keyof typeof channels]: Parameters<Bridge[Verb]> }

test('exposes only the bridge', () => {
  expect([...exposedApis.keys()]).toEqual(['homeport'])
  const others = ['platform', 'version', 'getPathForFile', 'onDesktopState', 'onNavigate']
  expect(Object.keys(bridge).sort()).toEqual([...Object.keys(verbs), ...others].sort())
  expect(bridge.version).toBe('9.8.7')
  expect(['darwin', 'win32', 'linux', 'other']).toContain(bridge.platform)
})

test.each(Object.entries(verbs))('%s calls its own channel, with the given arguments only', async (name, given) => {
  const verb = name as keyof typeof channels
  const call = bridge[verb] as (...given: unknown[]) => Promise<unknown>
  expect(await call(...given, 'something more', 'and more')).toBe(`answer of ${channels[verb]}`)
  expect(ipcRenderer.invoked).toEqual([[channels[verb], ...given].concat(given.length === 0 ? [] : [])])
})

test('no function accepts the name of a channel', async () => {
  for (const name of Object.keys(verbs)) {
    const call = bridge[name as keyof typeof channels] as (...given: unknown[]) => Promise<unknown>
    await call('homeport:show-logs', 'shell:open')
  }
  expect(ipcRenderer.invoked.map(([channel]) => channel).sort()).toEqual(Object.values(channels).sort())
})

test('returns the path of a file, or null for one that is not on disk', () => {
  expect(bridge.getPathForFile(new File([], 'app'))).toBe('/home/me/app')
  expect(bridge.getPathForFile(new File([], 'pasted'))).toBeNull()
})

test('a navigation waits for the page to listen, and is delivered once', () => {
  ipcRenderer.emit(rendererChannels.navigate, { sender: 'secret' }, '/projects', null)
  ipcRenderer.emit(rendererChannels.navigate, { sender: 'secret' }, '/projects/shop', 'A word.')
  const heard: unknown[][] = []
  const off = bridge.onNavigate((...given) => void heard.push(given))
  expect(heard).toEqual([['/projects/shop', 'A word.']])
  ipcRenderer.emit(rendererChannels.navigate, { sender: 'secret' }, '/help')
  expect(heard.at(-1)).toEqual(['/help', null])
  for (const path of [null, 7, { toString: () => '/x' }]) ipcRenderer.emit(rendererChannels.navigate, {}, path, null)
  expect(heard).toHaveLength(2)
  off()
  ipcRenderer.emit(rendererChannels.navigate, {}, '/account', null)
  const later: unknown[][] = []
  bridge.onNavigate((...given) => void later.push(given))()
  expect(later).toEqual([['/account', null]])
})

test('removing an older listener does not remove a newer one', () => {
  const off = bridge.onNavigate(() => {})
  const heard: string[] = []
  const offSecond = bridge.onNavigate((path) => void heard.push(path))
  off()
  ipcRenderer.emit(rendererChannels.navigate, {}, '/domains', null)
  expect(heard).toEqual(['/domains'])
  offSecond()
})

test('desktop listeners get the state, never the event, until removed', () => {
  const heard: unknown[][] = []
  const off = bridge.onDesktopState((...given) => void heard.push(given))
  ipcRenderer.emit(rendererChannels.desktopState, { sender: 'secret' }, { notifies: true })
  off()
  ipcRenderer.emit(rendererChannels.desktopState, { sender: 'secret' }, { notifies: false })
  expect(heard).toEqual([[{ notifies: true }]])
})
