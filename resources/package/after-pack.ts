import { extractFile, getRawHeader, type DirectoryRecord } from '@electron/asar'
import type { AfterPackContext } from 'electron-builder'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'

/** Files that only the desktop reads. */
const desktopOnly = [
  'out/preload/',
  'out/main/index.js',
  'resources/tray/',
  'resources/icon.png',
  'node_modules/electron-updater/',
  'node_modules/builder-util-runtime/',
]

/**
 * Copies the code of the command line next to the archive, because Node cannot read archives. The desktop reads its own code only from the archive,
 * whose integrity Electron checks.
 */
export async function afterPack(context: AfterPackContext): Promise<void> {
  const resources = context.packager.getResourcesDir(context.appOutDir)
  const archive = join(resources, 'app.asar')
  for (const path of listPackedFiles(archive)) {
    if (desktopOnly.some((start) => path.startsWith(start))) continue
    const target = join(resources, 'app.asar.unpacked', ...path.split('/'))
    mkdirSync(dirname(target), { recursive: true })
    writeFileSync(target, extractFile(archive, join(...path.split('/'))))
  }
}

/** Files whose content is in the archive itself, with `/` between folders. */
export function listPackedFiles(archive: string): string[] {
  const found: string[] = []
  const walk = (folder: DirectoryRecord, path: string) => {
    for (const [name, entry] of Object.entries(folder.files)) {
      const entryPath = posix.join(path, name)
      if ('files' in entry) walk(entry, entryPath)
      else if (!('link' in entry) && !entry.unpacked) found.push(entryPath)
    }
  }
  walk(getRawHeader(archive).header, '')
  return found
}
