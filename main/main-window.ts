import { type BrowserWindow, dialog } from 'electron'
import { join } from 'node:path'
import { rendererChannels } from '../preload/bridge.ts'
import type { Clock } from '../server/lib/clock.ts'
import type { PlatformHandle } from './desktop-options.ts'
import type { DesktopLog } from './log-file.ts'
import type { DashboardLocation } from './deep-links.ts'
import { createDashboardWindow } from './browser-window.ts'

export interface MainWindowOptions {
  platformHandle: PlatformHandle
  preload: string
  resources: string
  state_file: string
  log: DesktopLog
  clock: Clock
  platform: NodeJS.Platform
  onClosed(): void
}

/** The main window, created when it is first needed. */
export interface MainWindow {
  show(): Promise<void>
  navigate(location: DashboardLocation): Promise<void>
  /** Whether the window has the focus. */
  isFocused(): boolean
  send(channel: string, ...words: unknown[]): void
  /** The progress of an upload (0 to 1) or the number of active builds. An upload takes precedence in the progress bar. */
  setProgress(change: Partial<Progress>): void
}

interface Progress {
  upload: number | null
  builds: number
}

/** A page that crashes more often than this within a minute is replaced by the crash page. */
const maxCrashes = 1
const crashWindow_ms = 60_000

export function createMainWindow({ platformHandle, preload, resources, state_file, log, clock, platform, onClosed }: MainWindowOptions): MainWindow {
  const { origin } = new URL(platformHandle.api_url)
  // Other systems take the icon from the app itself.
  const icon = platform === 'linux' ? join(resources, 'icon.png') : undefined
  let window: BrowserWindow | undefined
  let loading: Promise<void> | undefined
  let isLoaded = false
  let progress: Progress = { upload: null, builds: 0 }
  let crashTimes: number[] = []

  async function show(): Promise<void> {
    if (window) {
      if (window.isMinimized()) window.restore()
      window.show()
      window.focus()
      await loading
      // If the first page failed to load, tries again instead of showing an empty window.
      if (window && !isLoaded) loading = load(window)
      return loading
    }
    const { window: browserWindow, reveal } = createDashboardWindow({
      origin,
      edge_url: platformHandle.edge_url,
      version: platformHandle.version,
      preload,
      icon,
      state_file,
      clock,
    })
    window = browserWindow
    isLoaded = false
    browserWindow.on('closed', () => {
      window = undefined
      progress = { ...progress, upload: null }
      onClosed()
    })
    browserWindow.webContents.on('render-process-gone', (_event, { reason, exitCode }) => {
      if (reason !== 'clean-exit') recoverFromCrash(browserWindow, reason, exitCode)
    })
    updateProgressBar()
    loading = load(browserWindow).finally(reveal)
    return loading
  }

  async function load(browserWindow: BrowserWindow): Promise<void> {
    try {
      await browserWindow.loadURL(await platformHandle.signInUrl())
      isLoaded = true
    } catch (error) {
      log.error('dashboard_load_failed', { error })
      dialog.showErrorBox(
        'The dashboard could not be opened',
        `${error instanceof Error ? error.message : String(error)}\nHomeport is still running. Open the window again, or open the dashboard in a browser with: homeport open`,
      )
    }
  }

  function recoverFromCrash(browserWindow: BrowserWindow, reason: string, exitCode: number): void {
    log.error('render_process_gone', { reason, exitCode })
    crashTimes = [...crashTimes.filter((crashedAt) => crashedAt > Date.now() - crashWindow_ms), Date.now()]
    if (browserWindow.isDestroyed()) return
    if (crashTimes.length <= maxCrashes) browserWindow.webContents.reload()
    else
      void browserWindow
        .loadURL(createCrashPageUrl({ dashboard_url: platformHandle.dashboard_url, folder: log.folder }))
        .catch((error: unknown) => log.error('error_page_failed', { error }))
  }

  function updateProgressBar(): void {
    // A value below 0 removes the bar; a value over 1 shows an indeterminate one.
    window?.setProgressBar(progress.upload ?? (progress.builds > 0 ? 2 : -1))
  }

  return {
    show,
    async navigate({ path, message }) {
      await show()
      // The preload keeps the path until the page listens.
      window?.webContents.send(rendererChannels.navigate, path, message)
    },
    isFocused: () => window?.isFocused() ?? false,
    send: (channel, ...words) => window?.webContents.send(channel, ...words),
    setProgress(change) {
      progress = { ...progress, ...change }
      updateProgressBar()
    },
  }
}

/** The page that is shown after repeated crashes. It runs no script and makes no requests. */
function createCrashPageUrl({ dashboard_url, folder }: { dashboard_url: string; folder: string }): string {
  const escaped = (text: string) => text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`)
  const html = `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Homeport</title><body style="font: 16px/1.6 system-ui, sans-serif; max-width: 34em; margin: 15vh auto; padding: 0 1.5em">
<h1>The dashboard crashed twice</h1>
<p>Homeport and your apps are still running. <a href="${escaped(dashboard_url)}">Open the dashboard again</a>. If it crashes again, quit Homeport from its menu and start it again,
or use the dashboard in a browser (File, Open in Browser).</p>
<p>Details are in the log: <code>${escaped(folder)}</code> (Help, Show Logs).</p>`
  return `data:text/html;charset=utf-8,${encodeURIComponent(html)}`
}
