import type { MenuItemConstructorOptions } from 'electron'
import { readFileSync, writeFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { hasTrayHost } from '../../main/tray-host.ts'
import type { DesktopProject } from '../../server/index.ts'
import { createTestDesktop, flushPromises } from '../support/test-desktop.ts'
import { app, type FakeTray, fakeElectron } from '../support/fake-electron.ts'

let testDesktop: ReturnType<typeof createTestDesktop>

beforeEach(() => {
  testDesktop = createTestDesktop()
})
afterEach(() => testDesktop.close())

const tray = (): FakeTray => {
  expect(fakeElectron.trays).toHaveLength(1)
  return fakeElectron.trays[0]!
}
const labels = (items: readonly MenuItemConstructorOptions[] = tray().menu) => items.map(({ label, type }) => label ?? type)
const item = (label: string, items: readonly MenuItemConstructorOptions[] = tray().menu) => items.find((one) => one.label?.startsWith(label))!
const partsOf = (label: string) => item(label).submenu as MenuItemConstructorOptions[]
const click = (one: MenuItemConstructorOptions) => one.click?.({} as never, undefined, {})
const seen = (slug: string, status: DesktopProject['status'], can_deploy = true): DesktopProject => ({ slug, name: slug, status, can_deploy })

describe('its menu', () => {
  test('is empty at first, except for open and quit', async () => {
    await testDesktop.start()
    expect(labels()).toEqual(['No projects yet', 'separator', 'Show Homeport', 'New Project…', 'separator', 'Quit Homeport'])
    expect(tray().tooltip).toBe('Homeport')
  })

  test('shows projects with their state, and the address of live ones', async () => {
    await testDesktop.start()
    const projects = [
      seen('shop', 'live'),
      seen('blog', 'building'),
      seen('api', 'failed'),
      seen('jobs', 'crashed'),
      seen('old', 'inactive'),
      seen('new', 'created', false),
    ]
    testDesktop.feed.emitUpdate({ projects, project_count: 6, active_deployments: 1 })
    expect(labels().slice(0, 6)).toEqual([
      'shop: live, shop.localhost:4680',
      'blog: building',
      'api: failed',
      'jobs: crashed',
      'old: stopped',
      'new: not deployed',
    ])
    expect(tray().tooltip).toBe('Homeport: 1 live, 1 building, 2 failing')
  })

  test('shows at most fifteen, then a link to all', async () => {
    await testDesktop.start()
    const projects = Array.from({ length: 20 }, (_, index) => seen(`app-${index}`, 'live'))
    testDesktop.feed.emitUpdate({ projects, project_count: 10_000 })
    expect(tray().menu.filter(({ submenu }) => submenu)).toHaveLength(15)
    click(item('All 10000 projects…'))
    await flushPromises()
    expect(testDesktop.window().webContents.sent).toEqual([['homeport:navigate', '/projects', null]])
  })

  test('is rebuilt only when its text changes', async () => {
    await testDesktop.start()
    testDesktop.feed.emitUpdate({ projects: [seen('shop', 'live')], project_count: 1 })
    const { menu_count } = tray()
    testDesktop.feed.emitUpdate({ projects: [seen('shop', 'live')], project_count: 1, active_deployments: 3 })
    expect(tray().menu_count).toBe(menu_count)
    expect(tray().tooltip).toBe('Homeport: 1 live, 3 building')
    testDesktop.feed.emitUpdate({ projects: [seen('shop', 'failed')], project_count: 1 })
    expect(tray().menu_count).toBe(menu_count + 1)
  })

  test.each([
    ['darwin', 'trayTemplate.png', true],
    ['win32', 'tray.ico', false],
    ['linux', 'tray.png', false],
  ] as const)('has the icon of %s', async (name, file, is_template) => {
    await testDesktop.start({ platform: name })
    expect(tray().image).toMatchObject({ path: join('/resources', 'tray', file), is_template })
  })
})

describe('its actions', () => {
  beforeEach(async () => {
    await testDesktop.start()
    testDesktop.feed.emitUpdate({
      projects: [seen('shop', 'live'), seen('blog', 'building'), seen('old', 'inactive'), seen('new', 'created', false), seen('broken', 'failed')],
      project_count: 5,
    })
  })

  test('opens the app in the browser, without asking', async () => {
    click(item('Open', partsOf('shop')))
    await flushPromises()
    expect([fakeElectron.opened_urls, fakeElectron.message_boxes]).toEqual([['http://shop.localhost:4680/'], []])
  })

  test('opens dashboard pages', async () => {
    click(item('Dashboard', partsOf('shop')))
    click(item('Logs', partsOf('shop')))
    click(item('New Project…'))
    await flushPromises()
    expect(testDesktop.window().webContents.sent.map(([, path]) => path)).toEqual([
      '/projects/shop',
      '/projects/shop/logs',
      '/projects?do=new-project',
    ])
  })

  test('deploys, starts and stops', async () => {
    click(item('Deploy Again', partsOf('shop')))
    click(item('Start', partsOf('old')))
    click(item('Stop', partsOf('shop')))
    await flushPromises()
    expect(testDesktop.feed.actions).toEqual(['deploy shop', 'deploy old', 'stop shop'])
  })

  test('offers only what the state allows', () => {
    const enabled = (slug: string) =>
      partsOf(slug)
        .filter((one) => one.enabled !== false && one.label)
        .map(({ label }) => label?.split(' ')[0])
    expect(enabled('shop')).toEqual(['Open', 'Dashboard', 'Logs', 'Deploy', 'Stop'])
    expect(enabled('blog')).toEqual(['Open', 'Dashboard', 'Logs', 'Stop'])
    expect(enabled('old')).toEqual(['Dashboard', 'Logs', 'Start'])
    expect(enabled('new')).toEqual(['Dashboard', 'Logs'])
    // The previous version may still be live.
    expect(enabled('broken')).toEqual(['Open', 'Dashboard', 'Logs', 'Deploy', 'Stop'])
  })

  test('reports a failure', async () => {
    click(item('Deploy Again', partsOf('broken')))
    await flushPromises()
    expect(fakeElectron.notifications.map(({ options }) => options)).toEqual([
      { title: 'Deploying broken failed', body: 'Nothing of it was ever ready.' },
    ])
    expect(readFileSync(join(testDesktop.folder, 'desktop', 'logs', 'main.log'), 'utf8')).toContain('tray_action_failed')
  })

  test('quits Homeport', async () => {
    click(item('Quit Homeport'))
    await flushPromises()
    expect([testDesktop.counts.stopped, fakeElectron.quits, tray().is_destroyed, testDesktop.feed.listeners.size]).toEqual([1, 1, true, 0])
  })

  test('shows the window on click', async () => {
    testDesktop.window().is_focused = false
    tray().emit('click')
    await flushPromises()
    expect(testDesktop.window().is_focused).toBe(true)
  })
})

describe('when the window closes', () => {
  test('Homeport keeps running, says so once, and can be reopened', async () => {
    await testDesktop.start()
    testDesktop.window().close()
    await flushPromises()
    expect([testDesktop.counts.stopped, fakeElectron.quits]).toEqual([0, 0])
    expect(fakeElectron.notifications.map(({ options }) => options.title)).toEqual(['Homeport is still running'])
    click(item('Show Homeport'))
    await flushPromises()
    testDesktop.window().close()
    await flushPromises()
    expect(fakeElectron.notifications).toHaveLength(1)
    expect(testDesktop.counts.opened).toBe(1)
  })

  test('quits if that is turned off', async () => {
    mkdirSync(join(testDesktop.folder, 'desktop'), { recursive: true })
    writeFileSync(join(testDesktop.folder, 'desktop', 'settings.json'), '{"keeps_running":false,"strange":1}')
    await testDesktop.start()
    testDesktop.window().close()
    await flushPromises()
    expect([testDesktop.counts.stopped, fakeElectron.quits]).toEqual([1, 1])
  })

  test.each([
    ['no tray host exists', { hasTrayHost: async () => false }, undefined],
    ['the icon cannot be created', {}, new Error('no tray')],
  ])('quits on Linux where %s', async (_name, options, error) => {
    fakeElectron.tray_error = error
    await testDesktop.start({ platform: 'linux', ...options })
    testDesktop.feed.emitUpdate({ projects: [seen('shop', 'live')], project_count: 1 })
    testDesktop.window().close()
    await flushPromises()
    expect([testDesktop.counts.stopped, fakeElectron.quits]).toEqual([1, 1])
  })

  test('macOS keeps running without a tray, because it has a dock', async () => {
    await testDesktop.start({ platform: 'darwin', hasTrayHost: async () => false })
    testDesktop.window().close()
    await flushPromises()
    expect(fakeElectron.quits).toBe(0)
    app.emit('activate')
    await flushPromises()
    expect(testDesktop.window().is_visible).toBe(true)
  })
})

describe('opened at login', () => {
  test('stays in the tray', async () => {
    await testDesktop.start({ argv: ['--hidden'] })
    expect(fakeElectron.windows).toEqual([])
    expect(tray()).toBeDefined()
  })

  test('shows the window without a tray, or for a deep link', async () => {
    await testDesktop.start({ argv: ['--hidden'], hasTrayHost: async () => false })
    expect(fakeElectron.windows).toHaveLength(1)
    testDesktop.restart()
    await testDesktop.start({ argv: ['--hidden', 'homeport://help'] })
    expect(fakeElectron.windows).toHaveLength(1)
  })
})

describe('when a deployment ends', () => {
  const end = (id: string, status: 'ready' | 'failed' = 'ready') => ({
    id,
    slug: 'shop',
    status,
    preview: null,
    title: 'Add prices',
    message: status === 'failed' ? 'npm ended with 1.' : null,
  })
  const listShown = () => fakeElectron.notifications.map(({ options }) => `${options.title} | ${options.body}`)

  test('notifies in the background; a click opens it', async () => {
    await testDesktop.start()
    testDesktop.window().is_focused = false
    testDesktop.feed.emitUpdate({ finished_deployments: [end('dep_1'), { ...end('dep_2', 'failed'), preview: 'next' }] })
    expect(listShown()).toEqual(['shop is ready | Add prices', 'shop (next) failed to deploy | npm ended with 1.'])
    fakeElectron.notifications[1]?.emit('click')
    await flushPromises()
    expect(testDesktop.window().webContents.sent).toEqual([['homeport:navigate', '/projects/shop/deployments/dep_2', null]])
  })

  test('also with the window closed, which a click reopens', async () => {
    await testDesktop.start({ argv: ['--hidden'] })
    testDesktop.feed.emitUpdate({ finished_deployments: [end('dep_1')] })
    fakeElectron.notifications[0]?.emit('click')
    await flushPromises()
    expect(testDesktop.window().webContents.sent).toEqual([['homeport:navigate', '/projects/shop/deployments/dep_1', null]])
  })

  test('not while the window is in front', async () => {
    await testDesktop.start()
    testDesktop.window().is_focused = true
    testDesktop.feed.emitUpdate({ finished_deployments: [end('dep_1')] })
    expect(listShown()).toEqual([])
  })

  test('combines many at once into one notification', async () => {
    await testDesktop.start()
    testDesktop.window().is_focused = false
    testDesktop.feed.emitUpdate({ finished_deployments: [end('a'), end('b'), end('c', 'failed'), end('d')] })
    testDesktop.feed.emitUpdate({ finished_deployments: ['e', 'f', 'g', 'h'].map((id) => end(id)) })
    expect(listShown()).toEqual(['4 deployments finished | 1 failed.', '4 deployments finished | All are ready.'])
    for (const event of ['close', 'failed']) fakeElectron.notifications[0]?.emit(event)
  })
})

describe('detection of a tray', () => {
  const ask = (answers: Record<string, string | Error>) => async (program: string, args: string[]) => {
    expect(args.join(' ')).toContain('org.kde.StatusNotifierWatcher')
    const answer = answers[program] ?? new Error('ENOENT')
    if (answer instanceof Error) throw answer
    return answer
  }

  test.each([
    [{ gdbus: '(true,)\n' }, true],
    [{ gdbus: '(false,)\n' }, false],
    [{ busctl: 'b true\n' }, true],
    [{ 'dbus-send': 'method return time=1\n   boolean true\n' }, true],
    [{ 'dbus-send': '   boolean false\n' }, false],
    [{}, false],
  ])('on Linux %j: %s', async (answers, expected) => {
    expect(await hasTrayHost(ask(answers), 'linux')).toBe(expected)
  })

  test('elsewhere always, without a check', async () => {
    expect(await hasTrayHost(async () => Promise.reject(new Error('D-Bus was called')), 'win32')).toBe(true)
  })

  test('works on this machine', async () => {
    expect(typeof (await hasTrayHost())).toBe('boolean')
  })
})
