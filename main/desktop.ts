import { app, dialog } from 'electron'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { sleep } from '../server/lib/clock.ts'
import { hardenWebContents } from './security.ts'
import { startCrashReporter, installCrashHandlers } from './crash-reporting.ts'
import type { MainWindow } from './main-window.ts'
import { createDesktopLog } from './log-file.ts'
import { registerProtocolClient, findDeepLink, type DashboardLocation, parseDeepLink } from './deep-links.ts'
import { isScreenshotContents } from './screenshotter.ts'
import { createDesktopShell } from './shell.ts'
import { confirmBeforeUnload } from './confirm-unload.ts'
import type { PlatformHandle, DesktopOptions } from './desktop-options.ts'

/** The maximum duration of a shutdown; then the process exits anyway. */
const stopTimeout_ms = 10_000

/**
 * Runs the desktop app: one instance per data folder, the platform, its window and tray, and shutdown. Resolves once the window is opening, or when
 * another instance was asked to show its window.
 */
export async function runDesktop(options: DesktopOptions): Promise<void> {
  const folder = join(options.data_dir, 'desktop')
  app.setName('Homeport')
  // Windows identifies notifications by the Start menu entry: a package by its id, a checkout by its program.
  app.setAppUserModelId(app.isPackaged ? 'dev.homeport.desktop' : process.execPath)
  // Electron's lock is per user data folder, so there is one instance per data folder before anything in it is opened. The folder must exist before
  // Electron accepts its path.
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  app.setPath('userData', folder)
  if (!app.requestSingleInstanceLock()) {
    options.echo?.('Homeport is already running on this data folder. Its window is now in front.\n')
    app.exit(0)
    return
  }
  // enableSandbox would override --no-sandbox, which root, an AppImage and some kernels need (README, "When something goes wrong").
  if (!app.commandLine.hasSwitch('no-sandbox')) app.enableSandbox()
  const log = createDesktopLog(join(folder, 'logs'), options.echo ? { echo: options.echo } : {})
  startCrashReporter(log)

  let platformHandle: PlatformHandle | undefined
  let mainWindow: MainWindow | undefined
  let shutdown: Promise<void> | undefined
  let hasShutDown = false
  /** The page that was requested before the window existed. */
  let pendingLocation: DashboardLocation | 'anywhere' | undefined

  const showWindow = (to?: DashboardLocation): void => {
    if (shutdown) return
    if (!mainWindow) pendingLocation = to ?? pendingLocation ?? 'anywhere'
    else void (to ? mainWindow.navigate(to) : mainWindow.show())
  }
  const openDeepLink = (link: string | undefined) => showWindow(link === undefined ? undefined : parseDeepLink(link))

  app.on('second-instance', (_event, argv) => openDeepLink(findDeepLink(argv)))
  app.on('open-url', (event, url) => {
    event.preventDefault()
    openDeepLink(url)
  })
  app.on('activate', () => showWindow())
  // Without a listener Electron would quit, for example when a screenshot window closes before the dashboard is open.
  app.on('window-all-closed', () => {})
  app.on('web-contents-created', (_event, contents) => {
    if (platformHandle && !isScreenshotContents(contents))
      hardenWebContents(contents, { origin: new URL(platformHandle.api_url).origin, edge_url: platformHandle.edge_url })
  })
  app.on('browser-window-created', (_event, window) => {
    // Windows only. The end of the session can no longer be delayed.
    window.on('session-end', () => app.quit())
    if (!isScreenshotContents(window.webContents)) confirmBeforeUnload(window, () => shutdown !== undefined)
  })
  app.on('before-quit', (event) => {
    if (hasShutDown) return
    event.preventDefault()
    // If an update started the shutdown, the update quits the app itself.
    if (!shutdown) void shutDown().then(() => app.quit())
  })
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => app.quit())
  // On Windows `npm start` forwards Ctrl-C as this message, and its terminal may be closed.
  options.parentProcess.on('message', (message: unknown) => {
    if (message === 'quit') app.quit()
  })
  options.parentProcess.once('disconnect', () => app.quit())
  const removeCrashHandlers = installCrashHandlers(log, () => app.quit())
  app.once('quit', removeCrashHandlers)

  await app.whenReady()
  if (!registerProtocolClient(options.platform)) log.info('protocol_registration_failed')
  const link = findDeepLink(options.argv)
  if (link !== undefined) openDeepLink(link)
  try {
    platformHandle = await options.startPlatform(log)
  } catch (error) {
    log.error('desktop_start_failed', { error })
    dialog.showErrorBox('Homeport cannot start', `${error instanceof Error ? error.message : String(error)}\n\nThe log is in ${log.folder}`)
    app.exit(1)
    return
  }
  // The user quit during the start.
  if (shutdown) return platformHandle.stop()
  log.redact(platformHandle.instance.token)
  if (options.startup_warning !== null)
    void dialog.showMessageBox({ type: 'warning', message: options.startup_warning.message, detail: options.startup_warning.detail })
  log.info('started', { version: platformHandle.version, electron: process.versions.electron, packaged: app.isPackaged })
  const desktopShell = await createDesktopShell({
    platformHandle,
    folder,
    log,
    options,
    showWindow,
    shutDown,
    isShuttingDown: () => shutdown !== undefined,
  })
  mainWindow = desktopShell.mainWindow
  if (pendingLocation !== undefined && pendingLocation !== 'anywhere') await mainWindow.navigate(pendingLocation)
  else if (pendingLocation === 'anywhere' || !desktopShell.startsHidden) await mainWindow.show()

  function shutDown(): Promise<void> {
    shutdown ??= stopPlatform().finally(() => void (hasShutDown = true))
    return shutdown
  }

  async function stopPlatform(): Promise<void> {
    const deadline = new AbortController()
    const timeout = sleep(options.clock, stopTimeout_ms, deadline.signal).catch(() => {})
    try {
      await Promise.race([platformHandle?.stop(), timeout])
    } catch (error) {
      log.error('shutdown_failed', { error })
    } finally {
      deadline.abort()
    }
    log.info('stopped')
  }
}
