/** How long the object URL is kept for the browser to start saving (ms). */
const revokeDelay_ms = 60_000

/** Lets the browser save a file under a name. */
export function saveFile(file: Blob, name: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(file)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), revokeDelay_ms)
}
