import { type BrowserWindow, dialog } from 'electron'

/**
 * Asks before a page in the middle of an upload or a promotion is closed or reloaded. Electron shows nothing of its own for
 * `beforeunload`: the window would just stay. The question is not modal to the process, in which the platform runs too.
 */
export function confirmBeforeUnload(window: BrowserWindow, isShuttingDown: () => boolean): void {
  const { webContents } = window
  let isClosing = false
  let isConfirming = false
  let isReloadConfirmed = false
  window.on('close', () => (isClosing = true))
  webContents.on('did-finish-load', () => (isReloadConfirmed = false))
  webContents.on('will-prevent-unload', (event) => {
    if (isShuttingDown() || isReloadConfirmed) return event.preventDefault()
    const wasClosing = isClosing
    isClosing = false
    if (!isConfirming) void confirm(wasClosing)
  })

  async function confirm(isCloseRequest: boolean): Promise<void> {
    isConfirming = true
    const { response } = await dialog
      .showMessageBox(window, {
        type: 'question',
        buttons: [isCloseRequest ? 'Close Window' : 'Reload Page', 'Cancel'],
        defaultId: 1,
        cancelId: 1,
        message: 'Stop the upload or promotion?',
        detail: 'It is still running in this window, and stops when the page goes away. What was deployed before stays as it is.',
      })
      .finally(() => (isConfirming = false))
    if (response !== 0 || window.isDestroyed()) return
    if (isCloseRequest) return window.destroy()
    isReloadConfirmed = true
    webContents.reload()
  }
}
