import { type BrowserWindow, dialog } from 'electron'

/**
 * Asks before a page in the middle of an upload or a promotion is closed or reloaded. Electron shows nothing of its own for
 * `beforeunload`: the window would just stay. The question is not modal to the process, in which the platform runs too.
 */
export function askBeforeUnload(window: BrowserWindow, isEnding: () => boolean): void {
  const { webContents } = window
  let isClosing = false
  let isAsking = false
  let mayReload = false
  window.on('close', () => (isClosing = true))
  webContents.on('did-finish-load', () => (mayReload = false))
  webContents.on('will-prevent-unload', (event) => {
    if (isEnding() || mayReload) return event.preventDefault()
    const wasClosing = isClosing
    isClosing = false
    if (!isAsking) void ask(wasClosing)
  })

  async function ask(closes: boolean): Promise<void> {
    isAsking = true
    const { response } = await dialog
      .showMessageBox(window, {
        type: 'question',
        buttons: [closes ? 'Close Window' : 'Reload Page', 'Cancel'],
        defaultId: 1,
        cancelId: 1,
        message: 'Stop the upload or promotion?',
        detail: 'It is still running in this window, and stops when the page goes away. What was deployed before stays as it is.',
      })
      .finally(() => (isAsking = false))
    if (response !== 0 || window.isDestroyed()) return
    if (closes) return window.destroy()
    mayReload = true
    webContents.reload()
  }
}
