import { app, Menu, powerMonitor, shell } from 'electron'
import { join } from 'node:path'
import { type DesktopChange, type DesktopState, rendererChannels, type UpdateState } from '../preload/bridge.ts'
import { createAppNapBlocker } from './app-nap.ts'
import { hardenDashboardSession } from './security.ts'
import type { PlatformHandle, DesktopOptions } from './desktop-options.ts'
import { collectDiagnostics, copyDiagnostics } from './diagnostics.ts'
import { createMainWindow, type MainWindow } from './main-window.ts'
import { registerBridgeHandlers } from './ipc.ts'
import type { DesktopLog } from './log-file.ts'
import type { DashboardLocation } from './deep-links.ts'
import { createLoginItem } from './login-item.ts'
import { createApplicationMenu } from './menu.ts'
import { createNotifications } from './notifications.ts'
import { openExternalLink } from './external-links.ts'
import { openSettingsFile } from './settings.ts'
import { createTray, type TrayIcon } from './tray.ts'
import { createUpdateService } from './updates.ts'

interface DesktopShellOptions {
  platformHandle: PlatformHandle
  /** The folder for the desktop's own files. */
  folder: string
  log: DesktopLog
  options: Pick<DesktopOptions, 'preload' | 'resources' | 'argv' | 'login' | 'updates' | 'hasTrayHost' | 'clock' | 'platform'>
  showWindow(to?: DashboardLocation): void
  isShuttingDown(): boolean
  shutDown(): Promise<void>
}

/** Adds the desktop features to a running platform: window, tray, menu, notifications, updates and the bridge. */
export async function createDesktopShell({
  platformHandle,
  folder,
  log,
  options,
  showWindow,
  isShuttingDown,
  shutDown,
}: DesktopShellOptions): Promise<{ mainWindow: MainWindow; startsHidden: boolean }> {
  const origins = { origin: new URL(platformHandle.api_url).origin, edge_url: platformHandle.edge_url }
  const { desktopFeed } = platformHandle
  const settings = openSettingsFile(join(folder, 'settings.json'))
  const loginItem = createLoginItem(options.login, options.platform)
  const notifications = createNotifications({ navigate: showWindow })
  const mainWindow = createMainWindow({
    platformHandle,
    preload: options.preload,
    resources: options.resources,
    state_file: join(folder, 'window.json'),
    log,
    clock: options.clock,
    platform: options.platform,
    onClosed: handleWindowClosed,
  })
  const updates = createUpdateService({
    ...options.updates,
    // macOS and Windows verify their own signatures.
    public_key: options.platform === 'linux' ? options.updates.public_key : null,
    shouldAutoDownload: () => settings.current().downloads_updates,
    shutDown,
    exit: () => app.quit(),
    onChange: handleUpdateState,
    log,
    clock: options.clock,
  })
  const tray = (await options.hasTrayHost()) ? openTray() : undefined
  const showLogs = () => void shell.openPath(log.folder)

  hardenDashboardSession(origins.origin)
  registerBridgeHandlers({
    ...origins,
    notify({ title, body, path }) {
      if (shouldNotify()) notifications.show({ title, body, location: { path: `/${path.replace(/^\/+/, '')}`, message: null } })
    },
    setProgress: (upload) => mainWindow.setProgress({ upload }),
    readDesktop,
    changeDesktop,
    updateDesktop: updates.runAction,
    showLogs,
  })
  Menu.setApplicationMenu(
    createApplicationMenu(
      {
        navigate: showWindow,
        openInBrowser: () => void platformHandle.signInUrl().then((url) => shell.openExternal(url)),
        showLogs,
        reportProblem: () => void copyDiagnostics(collectDiagnostics({ platformHandle, log, update: updates.state() }), showLogs),
        checkForUpdates() {
          showWindow({ path: '/instance/desktop', message: null })
          void updates.runAction('check')
        },
      },
      options.platform,
    ),
  )
  app.setAboutPanelOptions({ applicationName: 'Homeport', applicationVersion: platformHandle.version })
  // Must be the first listener: on Linux, Electron delays a shutdown only for listeners that are added later (lib/browser/api/power-monitor.ts).
  powerMonitor.on('resume', () => platformHandle.resync())
  powerMonitor.on('shutdown', (...args: unknown[]) => {
    // Linux and macOS wait for an app that prevents the default. Electron's types do not include this event.
    if (isPreventable(args[0])) args[0].preventDefault()
    app.quit()
  })
  const appNapBlocker = options.platform === 'darwin' && !app.isPackaged ? createAppNapBlocker(options.clock) : undefined
  const unsubscribeActivity = desktopFeed.subscribeToRequests(() => appNapBlocker?.recordActivity())
  const unsubscribeFeed = desktopFeed.subscribe((state) => {
    appNapBlocker?.setBuildCount(state.active_deployments)
    tray?.update(state)
    mainWindow.setProgress({ builds: state.active_deployments })
    if (shouldNotify()) notifications.showDeploymentResults(state.finished_deployments)
  })
  app.once('quit', () => {
    unsubscribeFeed()
    unsubscribeActivity()
    appNapBlocker?.close()
    updates.close()
    tray?.close()
  })
  return { mainWindow, startsHidden: tray !== undefined && loginItem.wasStartedAtLogin(options.argv) }

  function shouldNotify(): boolean {
    return settings.current().notifies && !mainWindow.isFocused()
  }

  function openTray(): TrayIcon | undefined {
    try {
      return createTray({
        resources: options.resources,
        edge_url: platformHandle.edge_url,
        platform: options.platform,
        actions: {
          show: () => showWindow(),
          navigate: showWindow,
          open: (url) => void openExternalLink(url, platformHandle.edge_url),
          deploy: (slug) => runTrayAction(`Deploying ${slug}`, slug, desktopFeed.deploy(slug)),
          stop: (slug) => runTrayAction(`Stopping ${slug}`, slug, desktopFeed.stop(slug)),
          quit: () => app.quit(),
        },
      })
    } catch (error) {
      log.warn('tray_unavailable', { error })
      return undefined
    }
  }

  function runTrayAction(description: string, slug: string, action: Promise<void>): void {
    action.catch((error: unknown) => {
      log.warn('tray_action_failed', { what: description, error })
      const body = error instanceof Error ? error.message : String(error)
      notifications.show({ title: `${description} failed`, body, location: { path: `/projects/${slug}`, message: null } })
    })
  }

  /** Without a tray, only macOS, with its dock, can reopen an app that has no window. */
  function handleWindowClosed(): void {
    if (isShuttingDown()) return
    const { keeps_running, was_told } = settings.current()
    if (!keeps_running || (!tray && options.platform !== 'darwin')) return app.quit()
    if (was_told || !tray) return
    notifications.show({
      title: 'Homeport is still running',
      body: 'Your apps stay online. To quit, choose Quit Homeport in the tray menu.',
      location: { path: '/instance/desktop', message: null },
    })
    settings.change({ was_told: true })
  }

  function readDesktop(): DesktopState {
    const { keeps_running, notifies, downloads_updates } = settings.current()
    const canReopen = tray !== undefined || options.platform === 'darwin'
    return {
      opens_at_login: loginItem.isEnabled(),
      keeps_running: canReopen ? keeps_running : null,
      notifies,
      downloads_updates,
      update: updates.state(),
    }
  }

  function changeDesktop({ opens_at_login, ...otherSettings }: DesktopChange): DesktopState {
    if (opens_at_login !== undefined) loginItem.setEnabled(opens_at_login)
    settings.change(otherSettings)
    if (otherSettings.downloads_updates !== undefined) updates.applySettings()
    return readDesktop()
  }

  function handleUpdateState(update: UpdateState): void {
    mainWindow.send(rendererChannels.desktopState, readDesktop())
    if (update.name === 'available' && shouldNotify())
      notifications.show({
        title: `Homeport ${update.version} is available`,
        body: 'Open Homeport to download the update.',
        location: { path: '/instance/desktop', message: null },
      })
  }
}

const isPreventable = (event: unknown): event is Pick<Event, 'preventDefault'> =>
  typeof event === 'object' && event !== null && 'preventDefault' in event && typeof event.preventDefault === 'function'
