import { afterEach, expect, test, vi } from 'vitest'
import { showBrowserNotification, useBrowserNotifications } from '../../../renderer/stores/browser-notifications.ts'
import { localConnection, useConnection } from '../../../renderer/stores/connection.ts'
import { useKeyboard } from '../../../renderer/stores/keyboard.ts'
import { parseFavorites, useProjectList } from '../../../renderer/stores/project-list.ts'
import { parseStoredTour, useTour } from '../../../renderer/stores/tour.ts'
import { readPreference, useUi, writePreference } from '../../../renderer/stores/ui.ts'

const toast = (text: string) => useUi.getState().showToast({ kind: 'done', text, request_id: null })
const storedTour = (): unknown => JSON.parse(localStorage.getItem('homeport.tour.local') ?? 'null')

/** The browser answers a question for the permission with `answer`. */
function stubNotifications(permission: string, answer = permission) {
  const shown = vi.fn<(title: string, options: object) => void>()
  class FakeNotification extends EventTarget {
    static permission = permission
    static requestPermission() {
      FakeNotification.permission = answer
      return Promise.resolve(answer)
    }
    constructor(title: string, options: object) {
      super()
      shown(title, options)
    }
  }
  vi.stubGlobal('Notification', FakeNotification)
  return shown
}

afterEach(() => {
  vi.restoreAllMocks()
  useUi.setState({ theme: 'system', palette_open: false, sidebar_open: false, new_project_open: false, toasts: [] })
  useTour.setState({ visibility: 'automatic', done: [], should_scroll_into_view: false })
  useKeyboard.setState({ has_single_keys: true, is_shortcuts_open: false })
  useProjectList.setState({ view: 'list', favorites: {} })
  useBrowserNotifications.setState({ state: 'off' })
  delete document.documentElement.dataset.theme
})

test.each([
  ['dark', 'dark'],
  ['light', 'light'],
  ['system', undefined],
] as const)('the theme %s is stored and applied', (theme, applied) => {
  document.documentElement.dataset.theme = 'light'
  useUi.getState().setTheme(theme)
  expect(useUi.getState().theme).toBe(theme)
  expect(localStorage.getItem('homeport.theme')).toBe(theme)
  expect(document.documentElement.dataset.theme).toBe(applied)
})

test('the last three toasts of the current instance are kept, until each is dismissed', () => {
  for (const text of ['1', '2', '3', '4']) toast(text)
  const { toasts } = useUi.getState()
  expect(toasts.map(({ text, of }) => `${of} ${text}`)).toEqual(['local 2', 'local 3', 'local 4'])
  useUi.getState().dismissToast(toasts[1]?.id ?? 0)
  expect(useUi.getState().toasts.map(({ text }) => text)).toEqual(['2', '4'])
})

test('open dialogs close when another instance becomes current', () => {
  const open = { palette_open: true, sidebar_open: true, new_project_open: true }
  useUi.setState(open)
  useConnection.setState({ current: { ...localConnection, name: 'Renamed' } })
  expect(useUi.getState()).toMatchObject(open)
  useConnection.setState({ current: { ...localConnection, id: 'server' } })
  expect(useUi.getState()).toMatchObject({ palette_open: false, sidebar_open: false, new_project_open: false })
})

test('a browser without storage forgets preferences', () => {
  writePreference('homeport.test', 'kept')
  expect(readPreference('homeport.test')).toBe('kept')
  const denied = () => {
    throw new DOMException('Denied', 'SecurityError')
  }
  vi.stubGlobal('localStorage', { getItem: denied, setItem: denied, clear() {} })
  expect(() => writePreference('homeport.test', 'kept')).not.toThrow()
  expect(readPreference('homeport.test')).toBeNull()
  vi.unstubAllGlobals()
})

test.each([
  [true, 'on'],
  [false, 'off'],
])('single keys (%s) are stored as %s', (on, stored) => {
  useKeyboard.getState().setSingleKeys(on)
  expect(useKeyboard.getState().has_single_keys).toBe(on)
  expect(localStorage.getItem('homeport.single-keys')).toBe(stored)
})

test('favorites are added and removed for each instance', () => {
  const { toggleFavorite, setView } = useProjectList.getState()
  toggleFavorite('local', 'a')
  toggleFavorite('local', 'b')
  toggleFavorite('server', 'a')
  toggleFavorite('local', 'a')
  expect(useProjectList.getState().favorites).toEqual({ local: ['b'], server: ['a'] })
  expect(parseFavorites(localStorage.getItem('homeport.projects.favorites'))).toEqual({ local: ['b'], server: ['a'] })
  setView('grid')
  expect([useProjectList.getState().view, localStorage.getItem('homeport.projects.view')]).toEqual(['grid', 'grid'])
})

test('steps of the tour are completed once, and it is closed and opened again', () => {
  const { close, complete, markSeen, reopen } = useTour.getState()
  complete([])
  expect(storedTour()).toBeNull()
  complete(['open', 'redeploy'])
  complete(['open'])
  expect(storedTour()).toEqual({ visibility: 'automatic', done: ['open', 'redeploy'] })
  close()
  expect(storedTour()).toEqual({ visibility: 'closed', done: ['open', 'redeploy'] })
  reopen()
  expect(useTour.getState()).toMatchObject({ visibility: 'reopened', should_scroll_into_view: true })
  markSeen()
  expect(useTour.getState().should_scroll_into_view).toBe(false)
})

test.each([
  ['automatic', ['palette']],
  ['reopened', ['palette']],
  ['closed', []],
] as const)('opening the palette while the tour is %s completes %j', (visibility, done) => {
  useTour.setState({ visibility })
  useUi.getState().setPaletteOpen(true)
  useUi.getState().setPaletteOpen(false)
  expect(useTour.getState().done).toEqual(done)
})

test.each([
  ['{"visibility":"other","done":"open"}', 'automatic', []],
  ['{"visibility":"closed","done":[1,"open"]}', 'closed', ['open']],
])('the stored tour %s is %s', (text, visibility, done) => expect(parseStoredTour(text)).toEqual({ visibility, done }))

test.each([
  ['granted', 'on'],
  ['denied', 'denied'],
  ['default', 'off'],
])('notifications of the browser after the answer %s are %s', async (answer, state) => {
  stubNotifications('default', answer)
  await useBrowserNotifications.getState().turnOn()
  expect(useBrowserNotifications.getState().state).toBe(state)
  expect(localStorage.getItem('homeport.browser-notifications')).toBe('on')
})

test('notifications of the browser are turned off', async () => {
  stubNotifications('granted')
  await useBrowserNotifications.getState().turnOn()
  useBrowserNotifications.getState().turnOff()
  expect(useBrowserNotifications.getState().state).toBe('off')
  expect(localStorage.getItem('homeport.browser-notifications')).toBeNull()
})

test.each([
  ['on', 'hidden', 1],
  ['on', 'visible', 0],
  ['off', 'hidden', 0],
] as const)('while notifications are %s and the page is %s, %i are shown', (state, visibility, count) => {
  const shown = stubNotifications('granted')
  vi.spyOn(document, 'visibilityState', 'get').mockReturnValue(visibility)
  useBrowserNotifications.setState({ state })
  showBrowserNotification({ id: 'evt_1', title: 'Shop failed', text: 'Add cart' }, '/app/projects/shop')
  expect(shown.mock.calls).toEqual(Array.from({ length: count }, () => ['Shop failed', { body: 'Add cart', tag: 'evt_1' }]))
})
