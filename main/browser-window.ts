import { BrowserWindow, nativeTheme } from 'electron'
import { versionArgument } from '../preload/bridge.ts'
import { type Clock, sleep } from '../server/lib/clock.ts'
import { type PlatformOrigins, dashboardPartition, hardenedWebPreferences } from './security.ts'
import { readWindowState, minimumSize, writeWindowState } from './window-state.ts'

export interface DashboardWindowOptions extends PlatformOrigins {
  version: string
  preload: string
  /** The window icon, on systems that do not take it from the app itself. */
  icon: string | undefined
  /** The file that stores the window's position. */
  state_file: string
  clock: Clock
}

/** A window is shown after this long even if Chromium does not report a first frame. */
const maxHidden_ms = 2_000

/**
 * Creates the main window. It shows the dashboard as a browser would, over HTTP from the platform's own origin and with a session in the storage of
 * that origin; the page never has a token. `reveal` shows the window if it was not shown yet.
 */
export function createDashboardWindow(options: DashboardWindowOptions): { window: BrowserWindow; reveal: () => void } {
  const { is_maximized, zoom, ...bounds } = readWindowState(options.state_file)
  const window = new BrowserWindow({
    ...bounds,
    ...(options.icon === undefined ? {} : { icon: options.icon }),
    minWidth: minimumSize.width,
    minHeight: minimumSize.height,
    show: false,
    title: 'Homeport',
    backgroundColor: nativeTheme.shouldUseDarkColors ? '#101418' : '#fbfaf8',
    autoHideMenuBar: true,
    webPreferences: {
      preload: options.preload,
      partition: dashboardPartition,
      ...hardenedWebPreferences,
      additionalArguments: [`${versionArgument}${options.version}`],
    },
  })
  const reveal = showOnce(window, { is_maximized, clock: options.clock })
  // Chromium stores the zoom level in the session, which ends with the process.
  window.webContents.on('did-finish-load', () => window.webContents.setZoomLevel(zoom))
  window.on('close', () =>
    writeWindowState(options.state_file, {
      ...window.getNormalBounds(),
      is_maximized: window.isMaximized(),
      zoom: window.webContents.getZoomLevel(),
    }),
  )
  return { window, reveal }
}

/**
 * Shows a hidden window once, at its first frame, its first page, after 2 s or when `reveal` is called, whichever comes first. On Wayland
 * `ready-to-show` is late or missing (electron#48859, electron#54025).
 */
function showOnce(window: BrowserWindow, { is_maximized, clock }: { is_maximized: boolean; clock: Clock }): () => void {
  const shown = new AbortController()
  const reveal = (): void => {
    if (shown.signal.aborted) return
    shown.abort()
    // maximize() also shows the window, so it waits until there is something to see.
    if (is_maximized) window.maximize()
    window.show()
  }
  window.once('ready-to-show', reveal)
  window.webContents.once('did-finish-load', reveal)
  window.once('closed', () => shown.abort())
  void sleep(clock, maxHidden_ms, shown.signal).then(reveal, () => {})
  return reveal
}
