import { execFile } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/**
 * Opens a URL in the user's browser; returns false without one. A sign-in link is never passed as an argument, because every user of
 * this machine can read those. The browser opens a private file that redirects to the link instead.
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
