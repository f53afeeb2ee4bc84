import { dialog, shell } from 'electron'

/** Whether an address may leave for the person's browser at all: http or https, without credentials in it. */
export function isWebUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, username, password } = new URL(text)
  return (protocol === 'http:' || protocol === 'https:') && username === '' && password === ''
}

/**
 * Opens an address outside. One of the person's own apps opens at once; for any other they are asked, because it may
 * have come from a commit message or a remote instance.
 */
export async function openExternalLink(text: string, edgeUrl: string): Promise<boolean> {
  if (!isWebUrl(text)) return false
  const url = new URL(text)
  if (!isLocalApp(url, new URL(edgeUrl))) {
    const { response } = await dialog.showMessageBox({
      type: 'question',
      buttons: ['Open', 'Cancel'],
      defaultId: 1,
      cancelId: 1,
      message: `Open ${url.host} in your browser?`,
      detail: url.href.slice(0, 500),
    })
    if (response !== 0) return false
  }
  await shell.openExternal(url.href)
  return true
}

function isLocalApp(url: URL, edge: URL): boolean {
  const isLocalName = url.hostname === 'localhost' || url.hostname.endsWith('.localhost')
  return isLocalName && url.protocol === edge.protocol && url.port === edge.port
}
