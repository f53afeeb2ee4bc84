import { BrowserWindow, dialog, ipcMain, type IpcMainInvokeEvent } from 'electron'
import { type Bridge, channels, type DesktopChange, type DesktopState, type UpdateAction } from '../preload/bridge.ts'
import { type PlatformOrigins, isDashboardUrl, getDashboardSession } from './security.ts'
import { openExternalLink } from './external-links.ts'

export interface BridgeHandlers extends PlatformOrigins {
  notify(notification: Parameters<Bridge['notify']>[0]): void
  setProgress(value: number | null): void
  readDesktop(): DesktopState
  changeDesktop(change: DesktopChange): DesktopState
  updateDesktop(step: UpdateAction): Promise<void>
  showLogs(): void
}

/** Handles the channels of the bridge, only for the dashboard in the top frame of the main window. */
export function registerBridgeHandlers(options: BridgeHandlers): void {
  const handleChannel = (channel: string, handle: (argument: unknown, window: BrowserWindow | null) => unknown) =>
    ipcMain.handle(channel, (event: IpcMainInvokeEvent, argument: unknown) => {
      const frame = event.senderFrame
      const isDashboardFrame =
        frame !== null && frame.parent === null && event.sender.session === getDashboardSession() && isDashboardUrl(frame.url, options.origin)
      if (!isDashboardFrame) throw new Error('This page is not allowed to use the desktop bridge.')
      return handle(argument, BrowserWindow.fromWebContents(event.sender))
    })

  handleChannel(channels.chooseFolder, async (_argument, window) => {
    const dialogOptions = { title: 'Choose a folder to deploy', properties: ['openDirectory' as const, 'createDirectory' as const] }
    const { canceled, filePaths } = window ? await dialog.showOpenDialog(window, dialogOptions) : await dialog.showOpenDialog(dialogOptions)
    return canceled ? null : (filePaths[0] ?? null)
  })
  handleChannel(channels.openExternal, (url) => (typeof url === 'string' ? openExternalLink(url, options.edge_url) : false))
  handleChannel(channels.notify, (value) => (isBridgeNotification(value) ? options.notify(value) : undefined))
  handleChannel(channels.setProgress, (value) => options.setProgress(typeof value === 'number' && value >= 0 && value <= 1 ? value : null))
  handleChannel(channels.readDesktop, () => options.readDesktop())
  handleChannel(channels.changeDesktop, (value) => {
    if (!isDesktopChange(value)) throw new Error('Unknown desktop setting.')
    return options.changeDesktop(value)
  })
  handleChannel(channels.updateDesktop, (value) => {
    if (value !== 'check' && value !== 'download' && value !== 'restart') throw new Error('Unknown update action.')
    return options.updateDesktop(value)
  })
  handleChannel(channels.showLogs, () => options.showLogs())
}

function isBridgeNotification(value: unknown): value is Parameters<Bridge['notify']>[0] {
  if (typeof value !== 'object' || value === null) return false
  const { title, body, path } = value as Record<string, unknown>
  return typeof title === 'string' && typeof body === 'string' && typeof path === 'string' && path.length < 1000
}

const changeableSettings = new Set<string>(['opens_at_login', 'keeps_running', 'notifies', 'downloads_updates'] satisfies (keyof DesktopChange)[])

function isDesktopChange(value: unknown): value is DesktopChange {
  return (
    typeof value === 'object' &&
    value !== null &&
    Object.entries(value).every(([key, setting]) => changeableSettings.has(key) && typeof setting === 'boolean')
  )
}
