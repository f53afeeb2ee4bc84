import type { MenuItemConstructorOptions } from 'electron'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openDesktopScene, settled } from '../support/desktop-scene.ts'
import { world } from '../support/electron-double.ts'

let scene: ReturnType<typeof openDesktopScene>

beforeEach(() => {
  scene = openDesktopScene()
})
afterEach(() => scene.close())

const all = (items = world.menu ?? []): MenuItemConstructorOptions[] =>
  items.flatMap((one) => [one, ...(Array.isArray(one.submenu) ? all(one.submenu) : [])])
const item = (label: string) => all().find((one) => one.label === label)!
const click = async (label: string) => {
  item(label).click?.({} as never, undefined, {})
  await settled()
}
const goneTo = () => scene.window().webContents.sent.map(([, path]) => path)

describe.each(['darwin', 'win32', 'linux'] as const)('on %s', (name) => {
  beforeEach(async () => {
    await scene.start({ platform: name })
  })

  test('every accelerator is used once, and every item does something', () => {
    const accelerators = all().flatMap(({ accelerator }) => (accelerator ? [accelerator] : []))
    expect(new Set(accelerators).size).toBe(accelerators.length)
    // Keys that roles take: those of zoom, reload, close, quit, editing.
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
  ])('%s leads to %s', async (label, path) => {
    await click(label)
    expect(goneTo()).toEqual([path])
  })

  test('the app menu is where the system has it', () => {
    const first = world.menu?.[0]?.label
    expect(first).toBe(name === 'darwin' ? 'Homeport' : '&File')
    expect(all().filter(({ role }) => role === 'quit')).toHaveLength(1)
    expect(all().filter(({ role }) => role === 'about')).toHaveLength(1)
    expect(world.about).toEqual({ applicationName: 'Homeport', applicationVersion: '9.8.7' })
  })
})

test('the browser gets a fresh link to sign in', async () => {
  await scene.start()
  await click('Open in Browser')
  expect(world.opened).toEqual(['http://127.0.0.1:4600/sign-in?code=once'])
})

test('the log is shown', async () => {
  await scene.start()
  await click('Show Logs')
  expect(world.shown_paths).toEqual([`${scene.folder}/desktop/logs`])
})

test('a report is put into the clipboard, without a secret, and nothing is sent', async () => {
  await scene.start({
    async openCity(journal) {
      journal.error('deploy_failed', { url: 'https://me:hunter2@example.com/app.git' })
      return scene.city
    },
  })
  world.answer = 1
  await click('Report a Problem…')
  expect(world.clipboard).toContain('Homeport 9.8.7 (checkout)')
  expect(world.clipboard).toContain('Runtime: docker 29.1')
  expect(world.clipboard).toContain('deploy_failed')
  expect(world.clipboard).not.toMatch(/hunter2|svc_of_this_run/)
  expect(world.questions).toEqual(['What helps to find a fault is in the clipboard.'])
  expect([world.opened, world.shown_paths]).toEqual([[], [`${scene.folder}/desktop/logs`]])
})

test('a new version is told of while nobody looks, and the page hears every step', async () => {
  scene.updater.onCheck = () => scene.updater.find('10.0.0')
  await scene.start({ updates: { off: null, page: null, key: null, installs_at_end: true, load: async () => scene.updater } })
  scene.window().is_focused = false
  await world.handlers.get('homeport:update-desktop')?.(
    { senderFrame: { url: 'http://127.0.0.1:4600/app/', parent: null }, sender: scene.window().webContents } as never,
    'check',
  )
  expect(world.notices.map(({ options }) => options.title)).toEqual(['Homeport 10.0.0 is there'])
  const states = scene.window().webContents.sent.map(([channel, state]) => [channel, (state as { update: object }).update])
  expect(states).toEqual([
    ['homeport:desktop', { name: 'checking' }],
    ['homeport:desktop', { name: 'available', version: '10.0.0' }],
  ])
})

test('an update restarts what has ended in order, once', async () => {
  scene.updater.onCheck = () => scene.updater.find('10.0.0')
  scene.updater.onDownload = async () => void scene.updater.emit('update-downloaded', { version: '10.0.0' })
  scene.updater.quitAndInstall = () => void scene.updater.acts.push(`install after ${scene.seen.stopped} stop`)
  await scene.start({ updates: { off: null, page: null, key: null, installs_at_end: true, load: async () => scene.updater } })
  const ask = async (step: string) =>
    world.handlers.get('homeport:update-desktop')?.(
      { senderFrame: { url: 'http://127.0.0.1:4600/app/', parent: null }, sender: scene.window().webContents } as never,
      step,
    )
  for (const step of ['check', 'download', 'restart']) await ask(step)
  expect(scene.updater.acts).toEqual(['check', 'download', 'install after 1 stop'])
})
