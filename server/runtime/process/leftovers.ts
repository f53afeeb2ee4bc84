import { readdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'

/** The name of a folder that is incomplete, or about to be removed, starts with one of these. Nothing uses it after a kill. */
export const partialPrefix = '.half-'
export const removedPrefix = '.removed-'

/** Removes what a killed platform left. Lists it at once, before this platform creates such folders itself. */
export async function removeLeftovers(dataDir: string): Promise<void> {
  const caches = ['dependencies', 'frameworks'].flatMap((kind) => listPaths(join(dataDir, 'cache', kind)))
  const paths = [join(dataDir, 'toolchains'), join(dataDir, 'volumes'), ...caches].flatMap((folder) =>
    listPaths(folder, (name) => name.startsWith(partialPrefix) || name.startsWith(removedPrefix)),
  )
  for (const path of paths) await rm(path, { recursive: true, force: true, maxRetries: 5 })
}

function listPaths(folder: string, matches: (name: string) => boolean = () => true): string[] {
  try {
    return readdirSync(folder)
      .filter(matches)
      .map((name) => join(folder, name))
  } catch {
    return []
  }
}
