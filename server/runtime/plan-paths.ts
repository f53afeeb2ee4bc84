import { realpath } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { resolveInside } from './files.ts'
import { BuildFailure } from './runtime.ts'
import type { NodePlan } from './dependency-key.ts'

/** Rejects a plan with a path, or a link on it, that leaves the source. Paths that do not exist yet are left to the build. */
export function checkPlanPaths(source: string, plan: NodePlan): Promise<void> {
  const cacheFolders = plan.cache_directories.map((folder) => join(plan.app_directory, folder))
  const output = plan.kind === 'static' ? [plan.output_directory] : []
  return checkPaths(source, [plan.install_directory, plan.app_directory, ...output, ...plan.install_inputs, ...cacheFolders])
}

/** The same for single paths, relative to the source. */
export async function checkPaths(source: string, paths: readonly string[]): Promise<void> {
  const root = await realpath(source)
  for (const path of paths) {
    try {
      const real = await realpath(resolveInside(root, path)).catch(() => root)
      if (real !== root && relative(root, real).split(sep)[0] === '..') throw new Error('A link leaves the source.')
    } catch (error) {
      throw new BuildFailure(
        'build_failed',
        `${path} leaves the source folder.`,
        'Use a folder inside the project. Links must not point outside of it.',
        error,
      )
    }
  }
}
