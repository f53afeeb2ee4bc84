import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The update settings that were built into the package (resources/package/electron-builder.ts). */
export function readPackageMetadata(folder: string): { download_page: string | null; public_key: string | null } {
  const { homepage, update_key } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { homepage?: unknown; update_key?: unknown }
  const url = typeof homepage === 'string' && URL.canParse(homepage) ? new URL(homepage) : undefined
  const isPage = url?.protocol === 'https:' && !url.hostname.endsWith('.invalid')
  return { download_page: isPage ? url.href : null, public_key: typeof update_key === 'string' ? update_key : null }
}
