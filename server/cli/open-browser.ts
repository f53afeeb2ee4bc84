import { execFile } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/**
 * Opens an address in the person's browser; false when there is nothing to open it with. A link that signs in never becomes an
 * argument, which everybody on this machine could read: the browser is given a private file that leads there.
 */
export async function openInBrowser(url: string, options: { is_secret: boolean; data_dir: string; has_display: boolean }): Promise<boolean> {
  if (!options.has_display) return false
  if (!options.is_secret) return runOpener(url)
  const path = join(options.data_dir, 'sign-in.html')
  mkdirSync(options.data_dir, { recursive: true, mode: 0o700 })
  rmSync(path, { force: true })
  writeFileSync(path, `<!doctype html><meta charset="utf-8"><title>Homeport</title><meta http-equiv="refresh" content="0;url=${escapeHtml(url)}">`, {
    mode: 0o600,
    flag: 'wx',
  })
  return runOpener(pathToFileURL(path).href)
}

function runOpener(address: string): Promise<boolean> {
  const [command, ...args] = openCommand(address)
  return new Promise((resolve) => {
    execFile(command, args, { timeout: 10_000 }, (error) => resolve(error === null))
  })
}

function openCommand(address: string): [string, ...string[]] {
  if (process.platform === 'darwin') return ['open', address]
  if (process.platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler', address]
  return ['xdg-open', address]
}

const escapeHtml = (text: string) => text.replace(/&/g, '&amp;').replace(/"/g, '&quot;').replace(/</g, '&lt;')
