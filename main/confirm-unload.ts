import { type BrowserWindow, dialog } from 'electron'

/**
 * Asks for confirmation before a page with an active upload or promotion is closed or reloaded. Electron shows no dialog for `beforeunload`, so the
 * window would just stay open. The dialog does not block the process, because the platform runs in it.
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
        detail: 'It is still running in this window and stops when the page closes. Existing deployments are not affected.',
      })
      .finally(() => (isConfirming = false))
    if (response !== 0 || window.isDestroyed()) return
    if (isCloseRequest) return window.destroy()
    isReloadConfirmed = true
    webContents.reload()
  }
}
