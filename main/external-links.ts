import { dialog, shell } from 'electron'

/** Whether a URL may be opened in the user's browser: http or https, without credentials. */
export function isWebUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, username, password } = new URL(text)
  return (protocol === 'http:' || protocol === 'https:') && username === '' && password === ''
}

/**
 * Opens a URL in the user's browser. A local app opens immediately; for any other URL the user is asked, because it may come from a commit message or
 * a remote instance.
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
