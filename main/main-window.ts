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

/** The one window: there, or made when it is wanted. */
export interface MainWindow {
  show(): Promise<void>
  navigate(place: DashboardLocation): Promise<void>
  /** Whether somebody is looking at it. */
  isFocused(): boolean
  send(channel: string, ...words: unknown[]): void
  /** Of an upload of the page (0 to 1), or how many builds run; the bar shows the first that there is. */
  setProgress(change: Partial<Progress>): void
}

interface Progress {
  upload: number | null
  builds: number
}

/** A page that ends more often than this within a minute is not loaded a third time. */
const maxCrashes = 1
const crashWindow_ms = 60_000

export function createMainWindow({ platformHandle, preload, resources, state_file, log, clock, platform, onClosed }: MainWindowOptions): MainWindow {
  const { origin } = new URL(platformHandle.api_url)
  // Elsewhere the system takes it from the app itself.
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
      // The first page failed: another try instead of a window that stays empty.
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
      log.error('dashboard_not_opened', { error })
      dialog.showErrorBox(
        'The dashboard did not open',
        `${error instanceof Error ? error.message : String(error)}\nHomeport itself runs on; its window can be opened again, or the dashboard in a browser with: homeport open`,
      )
    }
  }

  function recoverFromCrash(browserWindow: BrowserWindow, reason: string, exitCode: number): void {
    log.error('page_gone', { reason, exitCode })
    crashTimes = [...crashTimes.filter((crashedAt) => crashedAt > Date.now() - crashWindow_ms), Date.now()]
    if (browserWindow.isDestroyed()) return
    if (crashTimes.length <= maxCrashes) browserWindow.webContents.reload()
    else
      void browserWindow
        .loadURL(createCrashPageUrl({ dashboard_url: platformHandle.dashboard_url, folder: log.folder }))
        .catch((error: unknown) => log.error('last_page_not_shown', { error }))
  }

  function updateProgressBar(): void {
    // Below 0 takes the bar away, over 1 shows one that moves without an end.
    window?.setProgressBar(progress.upload ?? (progress.builds > 0 ? 2 : -1))
  }

  return {
    show,
    async navigate({ path, message }) {
      await show()
      // The preload keeps it until the page listens.
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

/** Where nothing else shows any more. It runs no script and speaks to nobody. */
function createCrashPageUrl({ dashboard_url, folder }: { dashboard_url: string; folder: string }): string {
  const escaped = (text: string) => text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`)
  const html = `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Homeport</title><body style="font: 16px/1.6 system-ui, sans-serif; max-width: 34em; margin: 15vh auto; padding: 0 1.5em">
<h1>The dashboard ended twice</h1>
<p>Homeport and your apps run on. <a href="${escaped(dashboard_url)}">Open the dashboard again</a>. If it ends again, quit Homeport from its menu and start it anew,
or use the dashboard in a browser: File, Open in Browser.</p>
<p>What happened is written in <code>${escaped(folder)}</code> (Help, Show Logs).</p>`
  return `data:text/html;charset=utf-8,${encodeURIComponent(html)}`
}
