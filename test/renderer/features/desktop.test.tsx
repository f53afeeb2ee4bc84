import { act, screen, waitFor } from '@testing-library/react'
import { expect, test, vi } from 'vitest'
import type { Bridge, DesktopChange, DesktopState } from '../../../preload/bridge.ts'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import DesktopPage from '../../../renderer/features/desktop/page.tsx'
import { localConnection, useConnection } from '../../../renderer/stores/connection.ts'
import { useUi } from '../../../renderer/stores/ui.ts'
import { renderPart } from '../../support/dashboard.tsx'

const createDesktop = (own: Partial<DesktopState> = {}): DesktopState => ({
  opens_at_login: true,
  keeps_running: true,
  notifies: true,
  downloads_updates: true,
  update: { name: 'idle', checked_at: null },
  ...own,
})
const stubBridge = (
  state: Promise<DesktopState>,
  { platform = 'linux', change }: { platform?: Bridge['platform']; change?: () => Promise<DesktopState> } = {},
) => {
  const calls: unknown[] = []
  const listeners = new Set<(state: DesktopState) => void>()
  const pending = new Promise<never>(() => {})
  const bridge: Bridge = {
    platform,
    version: '1.2.3',
    chooseFolder: () => pending,
    getPathForFile: () => null,
    openExternal: () => pending,
    notify: () => pending,
    setProgress: () => pending,
    readDesktop: () => state,
    changeDesktop: (one: DesktopChange) => (calls.push(['change', one]), change?.() ?? pending),
    updateDesktop: () => pending,
    showLogs: () => (calls.push(['logs']), pending),
    onDesktopState(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    onNavigate: () => () => {},
  }
  vi.stubGlobal('homeport', bridge)
  return { calls, listeners }
}
const renderPage = () => renderPart(<DesktopPage />, { data: [[queryKeys.session, null]] })
const isOn = (label: string) => screen.getByLabelText(label).getAttribute('aria-checked') === 'true'
const labels = ['Open at login', 'Keep running when the window closes', 'Notifications', 'Download updates automatically']
const toasts = () => useUi.getState().toasts.map(({ kind, text }) => [kind, text])

const onlyInApp =
  'Instance Only in the desktop app This page is open in a browser or shows another instance. Open the Homeport app on the machine itself and go to Instance, Desktop.'

test('a browser has no desktop settings', () => expect(renderPage().text()).toBe(onlyInApp))

test('another instance has no desktop settings', () => {
  stubBridge(Promise.resolve(createDesktop()))
  useConnection.setState({ current: { ...localConnection, id: 'rem_1' } })
  expect(renderPage().text()).toBe(onlyInApp)
})

test('the settings load', () => {
  stubBridge(new Promise(() => {}))
  expect(renderPage().text()).toBe('Instance Loading')
})

const noTray =
  'Not available, because this desktop has no tray: Homeport quits when its window closes. On GNOME, install the AppIndicator extension to get a tray.'
test.each<[string, Partial<DesktopState>, Bridge['platform'], string, string]>([
  [
    'of Linux',
    {},
    'linux',
    'Homeport starts in the tray when you sign in to this machine, so your apps are available.',
    'Your apps stay reachable and Homeport stays in the tray until you quit it.',
  ],
  [
    'of a Mac',
    {},
    'darwin',
    'Homeport starts in the menu bar when you sign in to this machine, so your apps are available.',
    'Your apps stay reachable and Homeport stays in the menu bar until you quit it.',
  ],
  ['without a tray', { keeps_running: null }, 'linux', 'Homeport opens its window when you sign in to this machine.', noTray],
  [
    'without a start at login',
    { opens_at_login: null },
    'linux',
    'Not supported on this system.',
    'Your apps stay reachable and Homeport stays in the tray until you quit it.',
  ],
])('the settings %s', async (_, own, platform, login, tray) => {
  stubBridge(Promise.resolve(createDesktop(own)), { platform })
  const { text } = renderPage()
  await screen.findByText('Open at login')
  expect(text()).toBe(
    `Instance Desktop Open at login ${login} Keep running when the window closes ${tray} Notifications When a deployment finishes while you are in another app. ` +
      'Updates Homeport 1.2.3 Homeport checks for updates once a day. Check now Download updates automatically Otherwise Homeport asks first. It restarts only when you choose to. ' +
      'Logs Desktop logs and crash reports. They stay on this machine. Show logs',
  )
})

test.each<[string, Partial<DesktopState>, boolean[], string[]]>([
  ['on', {}, [true, true, true, true], []],
  ['off', { opens_at_login: false, keeps_running: false, notifies: false, downloads_updates: false }, [false, false, false, false], []],
  [
    'not possible',
    { opens_at_login: null, keeps_running: null, update: { name: 'off', reason: 'No updates.' } },
    [false, false, true, true],
    ['Open at login', 'Keep running when the window closes', 'Download updates automatically'],
  ],
])('switches that are %s', async (_, own, on, disabled) => {
  stubBridge(Promise.resolve(createDesktop(own)))
  renderPage()
  await screen.findByText('Open at login')
  expect(labels.map(isOn)).toEqual(on)
  expect(labels.filter((label) => screen.getByLabelText<HTMLButtonElement>(label).disabled)).toEqual(disabled)
})

test.each<[string, DesktopChange]>([
  ['Open at login', { opens_at_login: false }],
  ['Keep running when the window closes', { keeps_running: false }],
  ['Notifications', { notifies: false }],
  ['Download updates automatically', { downloads_updates: false }],
])('“%s” is turned off at once', async (label, expected) => {
  const { calls } = stubBridge(Promise.resolve(createDesktop()))
  const { user } = renderPage()
  await user.click(await screen.findByLabelText(label))
  expect(calls).toEqual([['change', expected]])
  expect(labels.filter((one) => !isOn(one))).toEqual([label])
})

test('a switch shows what the system did', async () => {
  stubBridge(Promise.resolve(createDesktop()), { change: () => Promise.resolve(createDesktop({ notifies: false })) })
  const { user } = renderPage()
  await user.click(await screen.findByLabelText('Open at login'))
  await waitFor(() => expect(labels.map(isOn)).toEqual([true, true, false, true]))
})

test('a change that fails is taken back, and the reason is shown', async () => {
  const change = () => Promise.reject(new Error("Error invoking remote method 'homeport:change-desktop': TypeError: It is locked."))
  stubBridge(Promise.resolve(createDesktop()), { change })
  const { user } = renderPage()
  await user.click(await screen.findByLabelText('Open at login'))
  await waitFor(() => expect(toasts()).toEqual([['failed', 'It is locked.']]))
  await waitFor(() => expect(isOn('Open at login')).toBe(true))
})

test.each([
  [new Error('It is locked.'), 'It is locked.'],
  ['Locked', 'Locked'],
])('settings that cannot be read: %s', async (reason, expected) => {
  // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- the bridge may reject with anything
  stubBridge(Promise.reject(reason))
  const { text } = renderPage()
  await waitFor(() => expect(toasts()).toEqual([['failed', expected]]))
  expect(text()).toBe('Instance Loading')
})

test('the settings follow the desktop', async () => {
  const { listeners } = stubBridge(Promise.resolve(createDesktop()))
  renderPage()
  await screen.findByText('Open at login')
  act(() => {
    for (const listener of listeners) listener(createDesktop({ notifies: false }))
  })
  expect(isOn('Notifications')).toBe(false)
})

test('the logs are shown in their folder', async () => {
  const { calls } = stubBridge(Promise.resolve(createDesktop()))
  const { user } = renderPage()
  await user.click(await screen.findByRole('button', { name: 'Show logs' }))
  expect(calls).toEqual([['logs']])
})
