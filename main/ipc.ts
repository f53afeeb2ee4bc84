import { BrowserWindow, dialog, ipcMain, Notification, type IpcMainInvokeEvent } from 'electron'
import { channels } from '../preload/bridge.ts'
import { openOutside } from './outside.ts'
import { isOwnPage } from './window.ts'

export interface IpcOptions {
  origin: string
  edge_url: string
  /** Brings the window up at a path of the dashboard. */
  goTo(path: string): void
}

/** Answers the channels of the bridge, to the top frame of our own page alone. */
export function answerBridge(options: IpcOptions): void {
  const answer = (channel: string, handle: (window: BrowserWindow | null, argument: unknown) => unknown) =>
    ipcMain.handle(channel, (event: IpcMainInvokeEvent, argument: unknown) => {
      const frame = event.senderFrame
      if (!frame || frame.parent !== null || !isOwnPage(frame.url, options.origin)) throw new Error('This page may not speak to the desktop.')
      return handle(BrowserWindow.fromWebContents(event.sender), argument)
    })

  answer(channels.chooseFolder, async (window) => {
    const question = { title: 'Choose a folder to deploy', properties: ['openDirectory' as const, 'createDirectory' as const] }
    const { canceled, filePaths } = window ? await dialog.showOpenDialog(window, question) : await dialog.showOpenDialog(question)
    return canceled ? null : (filePaths[0] ?? null)
  })

  answer(channels.openExternal, (_window, url) => (typeof url === 'string' ? openOutside(url, options.edge_url) : false))

  answer(channels.notify, (window, value) => {
    if (!isNotice(value) || window?.isFocused() || !Notification.isSupported()) return
    const notification = new Notification({ title: value.title.slice(0, 100), body: value.body.slice(0, 300) })
    notification.on('click', () => options.goTo(`/${value.path.replace(/^\/+/, '')}`))
    notification.show()
  })

  answer(channels.setProgress, (window, value) => {
    // Below 0 takes the bar away.
    window?.setProgressBar(typeof value === 'number' && value >= 0 && value <= 1 ? value : -1)
  })
}

function isNotice(value: unknown): value is { title: string; body: string; path: string } {
  if (typeof value !== 'object' || value === null) return false
  const { title, body, path } = value as Record<string, unknown>
  return typeof title === 'string' && typeof body === 'string' && typeof path === 'string' && path.length < 1000
}
