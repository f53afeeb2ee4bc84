import type { MenuItemConstructorOptions } from 'electron'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createTestDesktop, flushPromises } from '../support/test-desktop.ts'
import { fakeElectron } from '../support/fake-electron.ts'

let testDesktop: ReturnType<typeof createTestDesktop>

beforeEach(() => {
  testDesktop = createTestDesktop()
})
afterEach(() => testDesktop.close())

const all = (items = fakeElectron.menu ?? []): MenuItemConstructorOptions[] =>
  items.flatMap((one) => [one, ...(Array.isArray(one.submenu) ? all(one.submenu) : [])])
const item = (label: string) => all().find((one) => one.label === label)!
const click = async (label: string) => {
  item(label).click?.({} as never, undefined, {})
  await flushPromises()
}
const goneTo = () => testDesktop.window().webContents.sent.map(([, path]) => path)

describe.each(['darwin', 'win32', 'linux'] as const)('on %s', (name) => {
  beforeEach(async () => {
    await testDesktop.start({ platform: name })
  })

  test('every accelerator is used once, and every item has an action', () => {
    const accelerators = all().flatMap(({ accelerator }) => (accelerator ? [accelerator] : []))
    expect([item('Settings…').accelerator, item('Domains').accelerator, 'accelerator' in item('Keyboard Shortcuts')]).toEqual([
      'CmdOrCtrl+,',
      'CmdOrCtrl+2',
      false,
    ])
    expect(new Set(accelerators).size).toBe(accelerators.length)
    // Accelerators of roles: zoom, reload, close, quit, editing.
    expect(accelerators.filter((one) => /^CmdOrCtrl\+([RWQMHZXCVAY0]|Plus|=|-)$/.test(one))).toEqual([])
    const idle = all().filter((one) => !one.click && !one.role && !one.submenu && one.type !== 'separator')
    expect(idle.map(({ label }) => label)).toEqual([])
  })

  test.each([
    ['New Project…', '/projects?do=new-project'],
    ['Open Folder to Deploy…', '/projects?do=deploy-folder'],
    ['Settings…', '/instance/desktop'],
    ['Projects', '/projects'],
    ['Domains', '/domains'],
    ['Instances', '/instances'],
    ['This Instance', '/instance'],
    ['Account', '/account'],
    ['Homeport Help', '/help'],
    ['Keyboard Shortcuts', '/?do=keyboard'],
    ['Check for Updates…', '/instance/desktop'],
  ])('%s opens %s', async (label, path) => {
    await click(label)
    expect(goneTo()).toEqual([path])
  })

  test('the app menu is where the system expects it', () => {
    const first = fakeElectron.menu?.[0]?.label
    expect(first).toBe(name === 'darwin' ? 'Homeport' : '&File')
    expect(all().filter(({ role }) => role === 'quit')).toHaveLength(1)
    expect(all().filter(({ role }) => role === 'about')).toHaveLength(1)
    expect(fakeElectron.about_panel).toEqual({ applicationName: 'Homeport', applicationVersion: '9.8.7' })
  })
})

test('the browser gets a new sign-in link', async () => {
  await testDesktop.start()
  await click('Open in Browser')
  expect(fakeElectron.opened_urls).toEqual(['http://127.0.0.1:4600/sign-in?code=once'])
})

test('opens the log', async () => {
  await testDesktop.start()
  await click('Show Logs')
  expect(fakeElectron.opened_paths).toEqual([`${testDesktop.folder}/desktop/logs`])
})

test('copies a report to the clipboard, without secrets, and sends nothing', async () => {
  await testDesktop.start({
    async startPlatform(journal) {
      journal.error('deploy_failed', { url: 'https://me:hunter2@example.com/app.git' })
      return testDesktop.platform
    },
  })
  fakeElectron.message_box_response = 1
  await click('Report a Problem…')
  expect(fakeElectron.clipboard).toContain('Homeport 9.8.7 (checkout)')
  expect(fakeElectron.clipboard).toContain('Runtime: docker 29.1')
  expect(fakeElectron.clipboard).toContain('deploy_failed')
  expect(fakeElectron.clipboard).not.toMatch(/hunter2|svc_of_this_run/)
  expect(fakeElectron.message_boxes).toEqual(['The problem report was copied to the clipboard.'])
  expect([fakeElectron.opened_urls, fakeElectron.opened_paths]).toEqual([[], [`${testDesktop.folder}/desktop/logs`]])
})

test('a new version is announced in the background, and the page gets every step', async () => {
  testDesktop.updater.onCheck = () => testDesktop.updater.emitCheckResult('10.0.0')
  await testDesktop.start({
    updates: { disabled_reason: null, download_page: null, public_key: null, installs_on_quit: true, loadUpdater: async () => testDesktop.updater },
  })
  testDesktop.window().is_focused = false
  await fakeElectron.handlers.get('homeport:update-desktop')?.(
    { senderFrame: { url: 'http://127.0.0.1:4600/app/', parent: null }, sender: testDesktop.window().webContents } as never,
    'check',
  )
  expect(fakeElectron.notifications.map(({ options }) => options.title)).toEqual(['Homeport 10.0.0 is available'])
  const states = testDesktop.window().webContents.sent.map(([channel, state]) => [channel, (state as { update: object }).update])
  expect(states).toEqual([
    ['homeport:desktop', { name: 'checking' }],
    ['homeport:desktop', { name: 'available', version: '10.0.0' }],
  ])
})

test.each([
  ['linux', 'failed'],
  ['darwin', 'available'],
  ['win32', 'available'],
] as const)('on %s an update without the signature of Homeport is %s', async (platform, name) => {
  testDesktop.updater.onCheck = () => testDesktop.updater.emitCheckResult('10.0.0')
  const loadUpdater = async () => testDesktop.updater
  await testDesktop.start({
    platform,
    updates: { disabled_reason: null, download_page: null, public_key: 'another key', installs_on_quit: true, loadUpdater },
  })
  await fakeElectron.handlers.get('homeport:update-desktop')?.(
    { senderFrame: { url: 'http://127.0.0.1:4600/app/', parent: null }, sender: testDesktop.window().webContents } as never,
    'check',
  )
  expect(testDesktop.window().webContents.sent.at(-1)).toMatchObject(['homeport:desktop', { update: { name } }])
})

test('an update restarts the app once, after an orderly shutdown', async () => {
  testDesktop.updater.onCheck = () => testDesktop.updater.emitCheckResult('10.0.0')
  testDesktop.updater.onDownload = async () => void testDesktop.updater.emit('update-downloaded', { version: '10.0.0' })
  testDesktop.updater.quitAndInstall = () => void testDesktop.updater.acts.push(`install after ${testDesktop.counts.stopped} stop`)
  await testDesktop.start({
    updates: { disabled_reason: null, download_page: null, public_key: null, installs_on_quit: true, loadUpdater: async () => testDesktop.updater },
  })
  const ask = async (step: string) =>
    fakeElectron.handlers.get('homeport:update-desktop')?.(
      { senderFrame: { url: 'http://127.0.0.1:4600/app/', parent: null }, sender: testDesktop.window().webContents } as never,
      step,
    )
  for (const step of ['check', 'download', 'restart']) await ask(step)
  expect(testDesktop.updater.acts).toEqual(['check', 'download', 'install after 1 stop'])
})
