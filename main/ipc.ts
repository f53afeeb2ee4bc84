import { BrowserWindow, dialog, ipcMain, type IpcMainInvokeEvent } from 'electron'
import { type Bridge, channels, type DesktopChange, type DesktopState, type UpdateStep } from '../preload/bridge.ts'
import { type Bounds, isDashboard, ownSession } from './confine.ts'
import { openOutside } from './outside.ts'

export interface IpcOptions extends Bounds {
  notify(notice: Parameters<Bridge['notify']>[0]): void
  setProgress(value: number | null): void
  readDesktop(): DesktopState
  changeDesktop(change: DesktopChange): DesktopState
  updateDesktop(step: UpdateStep): Promise<void>
  showLogs(): void
}

/** Answers the channels of the bridge: to the dashboard in the top frame of our window, and to nobody else. */
export function answerBridge(options: IpcOptions): void {
  const answer = (channel: string, handle: (argument: unknown, window: BrowserWindow | null) => unknown) =>
    ipcMain.handle(channel, (event: IpcMainInvokeEvent, argument: unknown) => {
      const frame = event.senderFrame
      const isOurs = frame !== null && frame.parent === null && event.sender.session === ownSession() && isDashboard(frame.url, options.origin)
      if (!isOurs) throw new Error('This page may not speak to the desktop.')
      return handle(argument, BrowserWindow.fromWebContents(event.sender))
    })

  answer(channels.chooseFolder, async (_argument, window) => {
    const question = { title: 'Choose a folder to deploy', properties: ['openDirectory' as const, 'createDirectory' as const] }
    const { canceled, filePaths } = window ? await dialog.showOpenDialog(window, question) : await dialog.showOpenDialog(question)
    return canceled ? null : (filePaths[0] ?? null)
  })
  answer(channels.openExternal, (url) => (typeof url === 'string' ? openOutside(url, options.edge_url) : false))
  answer(channels.notify, (value) => (isNotice(value) ? options.notify(value) : undefined))
  answer(channels.setProgress, (value) => options.setProgress(typeof value === 'number' && value >= 0 && value <= 1 ? value : null))
  answer(channels.readDesktop, () => options.readDesktop())
  answer(channels.changeDesktop, (value) => {
    if (!isChange(value)) throw new Error('That is no setting of the desktop.')
    return options.changeDesktop(value)
  })
  answer(channels.updateDesktop, (value) => {
    if (value !== 'check' && value !== 'download' && value !== 'restart') throw new Error('That is no step of an update.')
    return options.updateDesktop(value)
  })
  answer(channels.showLogs, () => options.showLogs())
}

function isNotice(value: unknown): value is Parameters<Bridge['notify']>[0] {
  if (typeof value !== 'object' || value === null) return false
  const { title, body, path } = value as Record<string, unknown>
  return typeof title === 'string' && typeof body === 'string' && typeof path === 'string' && path.length < 1000
}

const changeable = new Set<string>(['opens_at_login', 'keeps_running', 'notifies', 'downloads_updates'] satisfies (keyof DesktopChange)[])

function isChange(value: unknown): value is DesktopChange {
  return typeof value === 'object' && value !== null && Object.entries(value).every(([key, one]) => changeable.has(key) && typeof one === 'boolean')
}
