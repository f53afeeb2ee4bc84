import { app, Menu, powerMonitor, shell } from 'electron'
import { join } from 'node:path'
import { type DesktopChange, type DesktopState, tidings, type UpdateState } from '../preload/bridge.ts'
import { holdOffAppNap } from './app-nap.ts'
import { confineSession } from './confine.ts'
import type { City, DesktopOptions } from './desktop.ts'
import { describeDesktop, offerReport } from './diagnostics.ts'
import { createFront, type Front } from './front.ts'
import { answerBridge } from './ipc.ts'
import type { Journal } from './journal.ts'
import type { Place } from './links.ts'
import { createLogin } from './login.ts'
import { createMenu } from './menu.ts'
import { createNotices } from './notices.ts'
import { openOutside } from './outside.ts'
import { openSettings } from './settings.ts'
import { createTray, type TrayIcon } from './tray.ts'
import { createUpdates } from './updates.ts'

interface SettleParts {
  city: City
  /** Where the desktop keeps what is its own. */
  folder: string
  journal: Journal
  options: Pick<DesktopOptions, 'preload' | 'resources' | 'argv' | 'login' | 'updates' | 'hasTrayHost' | 'clock' | 'platform'>
  bringUp(to?: Place): void
  isEnding(): boolean
  endInOrder(): Promise<void>
}

/** Puts around a platform that is up what makes a desktop of it: window, tray, menu, notifications, updates, the bridge. */
export async function settleIn({
  city,
  folder,
  journal,
  options,
  bringUp,
  isEnding,
  endInOrder,
}: SettleParts): Promise<{ front: Front; isHidden: boolean }> {
  const bounds = { origin: new URL(city.api_url).origin, edge_url: city.edge_url }
  const { desk } = city
  const settings = openSettings(join(folder, 'settings.json'))
  const login = createLogin(options.login, options.platform)
  const notices = createNotices({ goTo: bringUp })
  const front = createFront({
    city,
    preload: options.preload,
    resources: options.resources,
    place_file: join(folder, 'window.json'),
    journal,
    clock: options.clock,
    platform: options.platform,
    onClosed,
  })
  const updates = createUpdates({
    ...options.updates,
    downloads: () => settings.current().downloads_updates,
    endInOrder,
    leave: () => app.quit(),
    onChange: onUpdate,
    journal,
    clock: options.clock,
  })
  const tray = (await options.hasTrayHost()) ? openTray() : undefined
  const showLogs = () => void shell.openPath(journal.folder)

  confineSession(bounds.origin)
  answerBridge({
    ...bounds,
    notify({ title, body, path }) {
      if (mayTell()) notices.show({ title, body, place: { path: `/${path.replace(/^\/+/, '')}`, word: null } })
    },
    setProgress: (upload) => front.setProgress({ upload }),
    readDesktop,
    changeDesktop,
    updateDesktop: updates.step,
    showLogs,
  })
  Menu.setApplicationMenu(
    createMenu(
      {
        goTo: bringUp,
        openInBrowser: () => void city.signInUrl().then((url) => shell.openExternal(url)),
        showLogs,
        reportProblem: () => void offerReport(describeDesktop({ city, journal, update: updates.state() }), showLogs),
        checkForUpdates() {
          bringUp({ path: '/instance/desktop', word: null })
          void updates.step('check')
        },
      },
      options.platform,
    ),
  )
  app.setAboutPanelOptions({ applicationName: 'Homeport', applicationVersion: city.version })
  // The first listener of all; on Linux Electron holds a shutdown up only for a later one (lib/browser/api/power-monitor.ts).
  powerMonitor.on('resume', () => city.resync())
  powerMonitor.on('shutdown', (...args: unknown[]) => {
    // Linux and macOS wait for the end of an app that prevents the default; Electron's types do not know the event.
    if (isPreventable(args[0])) args[0].preventDefault()
    app.quit()
  })
  const appNap = options.platform === 'darwin' && !app.isPackaged ? holdOffAppNap(options.clock) : undefined
  const unfollowVisits = desk.watchVisits(() => appNap?.noteVisit())
  const unfollow = desk.watch((news) => {
    appNap?.setBuilds(news.builds)
    tray?.update(news)
    front.setProgress({ builds: news.builds })
    if (mayTell()) notices.tellEnds(news.ended)
  })
  app.once('quit', () => {
    unfollow()
    unfollowVisits()
    appNap?.close()
    updates.close()
    tray?.close()
  })
  return { front, isHidden: tray !== undefined && login.wasStartedBy(options.argv) }

  function mayTell(): boolean {
    return settings.current().notifies && !front.isInFront()
  }

  function openTray(): TrayIcon | undefined {
    try {
      return createTray({
        resources: options.resources,
        edge_url: city.edge_url,
        platform: options.platform,
        acts: {
          show: () => bringUp(),
          goTo: bringUp,
          open: (url) => void openOutside(url, city.edge_url),
          deploy: (slug) => tryTo(`Deploying ${slug}`, slug, desk.deploy(slug)),
          stop: (slug) => tryTo(`Stopping ${slug}`, slug, desk.stop(slug)),
          quit: () => app.quit(),
        },
      })
    } catch (error) {
      journal.warn('no_tray', { error })
      return undefined
    }
  }

  function tryTo(what: string, slug: string, work: Promise<void>): void {
    work.catch((error: unknown) => {
      journal.warn('tray_act_failed', { what, error })
      const body = error instanceof Error ? error.message : String(error)
      notices.show({ title: `${what} did not work`, body, place: { path: `/projects/${slug}`, word: null } })
    })
  }

  /** Without the tray only macOS, with its dock, can find an app again that has no window. */
  function onClosed(): void {
    if (isEnding()) return
    const { keeps_running, was_told } = settings.current()
    if (!keeps_running || (!tray && options.platform !== 'darwin')) return app.quit()
    if (was_told || !tray) return
    notices.show({
      title: 'Homeport runs on',
      body: 'Your apps stay reachable. It is in the tray; Quit Homeport there ends it.',
      place: { path: '/instance/desktop', word: null },
    })
    settings.change({ was_told: true })
  }

  function readDesktop(): DesktopState {
    const { keeps_running, notifies, downloads_updates } = settings.current()
    const isFound = tray !== undefined || options.platform === 'darwin'
    return { opens_at_login: login.isOn(), keeps_running: isFound ? keeps_running : null, notifies, downloads_updates, update: updates.state() }
  }

  function changeDesktop({ opens_at_login, ...others }: DesktopChange): DesktopState {
    if (opens_at_login !== undefined) login.set(opens_at_login)
    settings.change(others)
    if (others.downloads_updates !== undefined) updates.follow()
    return readDesktop()
  }

  function onUpdate(update: UpdateState): void {
    front.tell(tidings.desktop, readDesktop())
    if (update.name === 'available' && mayTell())
      notices.show({
        title: `Homeport ${update.version} is there`,
        body: 'Have a look, and get it when it suits you.',
        place: { path: '/instance/desktop', word: null },
      })
  }
}

const isPreventable = (event: unknown): event is Pick<Event, 'preventDefault'> =>
  typeof event === 'object' && event !== null && 'preventDefault' in event && typeof event.preventDefault === 'function'
