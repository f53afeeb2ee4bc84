import { BrowserWindow, nativeTheme } from 'electron'
import { versionArgument } from '../preload/bridge.ts'
import { type Bounds, partition, shutIn } from './confine.ts'
import { readPlace, smallest, writePlace } from './window-place.ts'

export interface WindowOptions extends Bounds {
  version: string
  preload: string
  /** Of the window, where the system does not take it from the app itself. */
  icon: string | undefined
  /** File that remembers where the window was. */
  place_file: string
}

/**
 * The one window. It shows the dashboard as any browser would, over HTTP from the platform's own origin and with a session
 * in the storage of that origin; no token ever is in the page.
 */
export function createWindow(options: WindowOptions): BrowserWindow {
  const { is_maximized, zoom, ...bounds } = readPlace(options.place_file)
  const window = new BrowserWindow({
    ...bounds,
    ...(options.icon === undefined ? {} : { icon: options.icon }),
    minWidth: smallest.width,
    minHeight: smallest.height,
    show: false,
    title: 'Homeport',
    backgroundColor: nativeTheme.shouldUseDarkColors ? '#101418' : '#fbfaf8',
    autoHideMenuBar: true,
    webPreferences: {
      preload: options.preload,
      partition,
      ...shutIn,
      additionalArguments: [`${versionArgument}${options.version}`],
    },
  })
  if (is_maximized) window.maximize()
  window.once('ready-to-show', () => window.show())
  // Chromium keeps the zoom with the session, which is gone with the process.
  window.webContents.on('did-finish-load', () => window.webContents.setZoomLevel(zoom))
  window.on('close', () =>
    writePlace(options.place_file, { ...window.getNormalBounds(), is_maximized: window.isMaximized(), zoom: window.webContents.getZoomLevel() }),
  )
  return window
}
