import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { screenshotVariants, type ScreenshotVariant } from '../contract/previews.ts'

export interface ScreenshotFile {
  project_id: string
  deployment_id: string
  variant: ScreenshotVariant
}

/** The screenshots on disk: `screenshots/<project>/<deployment>-<variant>.png`. */
export function createScreenshotFiles(root: string) {
  const pathOf = (file: ScreenshotFile) => join(root, file.project_id, `${file.deployment_id}-${file.variant}.png`)
  const remove = (path: string) => rm(path, { recursive: true, force: true, maxRetries: 3 })

  return {
    read: (file: ScreenshotFile): Promise<Uint8Array | undefined> => readFile(pathOf(file)).catch(ignoreMissing),
    async write(file: ScreenshotFile, png: Uint8Array): Promise<void> {
      const path = pathOf(file)
      await mkdir(dirname(path), { recursive: true, mode: 0o700 })
      try {
        await writeFile(`${path}.new`, png, { mode: 0o600 })
        await rename(`${path}.new`, path)
      } catch (error) {
        await remove(`${path}.new`)
        throw error
      }
    },
    remove: (file: ScreenshotFile) => remove(pathOf(file)),
    async removeDeployment(file: Omit<ScreenshotFile, 'variant'>): Promise<void> {
      for (const variant of screenshotVariants) await remove(pathOf({ ...file, variant }))
    },
    removeProject: (projectId: string) => remove(join(root, projectId)),
    /** Removes files that are not in the list, and returns listed files that do not exist. */
    async removeUnknown(known: readonly ScreenshotFile[]): Promise<ScreenshotFile[]> {
      const knownPaths = new Set(known.map(pathOf))
      const existing = new Set<string>()
      for (const project of (await readdir(root).catch(ignoreMissing)) ?? []) {
        for (const name of (await readdir(join(root, project)).catch(ignoreMissing)) ?? []) {
          const path = join(root, project, name)
          if (knownPaths.has(path)) existing.add(path)
          else await remove(path)
        }
      }
      return known.filter((file) => !existing.has(pathOf(file)))
    },
  }
}

function ignoreMissing(error: unknown): undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code !== 'ENOENT' && code !== 'ENOTDIR') throw error
}
