import { realpath } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { resolveInside } from './files.ts'
import { BuildFailure } from './runtime.ts'
import type { NodePlan } from './dependency-key.ts'

/** Refuses a plan with a path, or a link on the way to it, that leaves the source. What does not exist yet is a matter of the build. */
export async function checkPlanPaths(source: string, plan: NodePlan): Promise<void> {
  const cacheFolders = plan.cache_directories.map((folder) => join(plan.app_directory, folder))
  const output = plan.kind === 'static' ? [plan.output_directory] : []
  const root = await realpath(source)
  for (const path of [plan.install_directory, plan.app_directory, ...output, ...plan.install_inputs, ...cacheFolders]) {
    try {
      const real = await realpath(resolveInside(root, path)).catch(() => root)
      if (real !== root && relative(root, real).split(sep)[0] === '..') throw new Error('A link leaves the source.')
    } catch (error) {
      throw new BuildFailure(
        'build_failed',
        `${path} leaves the source folder.`,
        'Use a folder within the project; a link must not lead out of it.',
        error,
      )
    }
  }
}
