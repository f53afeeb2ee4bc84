/** The browser asks before the page is left while something runs that would be lost. */
export function askBeforeUnload(isRunning: () => boolean): void {
  globalThis.addEventListener?.('beforeunload', (event) => {
    if (isRunning()) event.preventDefault()
  })
}
