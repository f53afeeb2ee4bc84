import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { screenshotVariants, type ScreenshotVariant } from '../contract/previews.ts'

export interface FileOf {
  project_id: string
  deployment_id: string
  variant: ScreenshotVariant
}

/** The pictures on disk: `screenshots/<project>/<deployment>-<variant>.png`. */
export function createFiles(root: string) {
  const pathOf = (of: FileOf) => join(root, of.project_id, `${of.deployment_id}-${of.variant}.png`)
  const remove = (path: string) => rm(path, { recursive: true, force: true, maxRetries: 3 })

  return {
    read: (of: FileOf): Promise<Uint8Array | undefined> => readFile(pathOf(of)).catch(unlessGone),
    async write(of: FileOf, png: Uint8Array): Promise<void> {
      const path = pathOf(of)
      await mkdir(dirname(path), { recursive: true, mode: 0o700 })
      try {
        await writeFile(`${path}.new`, png, { mode: 0o600 })
        await rename(`${path}.new`, path)
      } catch (error) {
        await remove(`${path}.new`)
        throw error
      }
    },
    remove: (of: FileOf) => remove(pathOf(of)),
    async drop(of: Omit<FileOf, 'variant'>): Promise<void> {
      for (const variant of screenshotVariants) await remove(pathOf({ ...of, variant }))
    },
    forget: (projectId: string) => remove(join(root, projectId)),
    /** Takes away what is not in the list, and returns what of it is not there. */
    async sweep(known: readonly FileOf[]): Promise<FileOf[]> {
      const wanted = new Set(known.map(pathOf))
      const there = new Set<string>()
      for (const project of (await readdir(root).catch(unlessGone)) ?? []) {
        for (const name of (await readdir(join(root, project)).catch(unlessGone)) ?? []) {
          const path = join(root, project, name)
          if (wanted.has(path)) there.add(path)
          else await remove(path)
        }
      }
      return known.filter((of) => !there.has(pathOf(of)))
    },
  }
}

function unlessGone(error: unknown): undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code !== 'ENOENT' && code !== 'ENOTDIR') throw error
}
