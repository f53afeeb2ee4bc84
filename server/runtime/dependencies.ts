import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { ServerPlan, StaticPlan } from '../contract/build-plan.ts'

export type NodePlan = ServerPlan | StaticPlan

const lifecycle = ['preinstall', 'install', 'postinstall', 'prepare', 'prepublish']

/**
 * The key under which installed dependencies may be used again, or null when they may not: a project whose install runs
 * scripts of its own, or takes packages from folders, may depend on any file of the source.
 * Variables count too, as they may steer an install; a project's cache is for that project alone.
 */
export async function dependencyKey(folder: string, plan: NodePlan, projectId: string, variables: Record<string, string>): Promise<string | null> {
  for (const input of plan.install_inputs) {
    if (basename(input) !== 'package.json') continue
    const manifest = parse(await readFile(join(folder, input), 'utf8').catch(() => '{}'))
    if (lifecycle.some((name) => typeof manifest.scripts?.[name] === 'string')) return null
    const wanted = { ...manifest.dependencies, ...manifest.devDependencies, ...manifest.optionalDependencies }
    if (Object.values(wanted).some((range) => /^(file|link|portal|exec|patch):|^\.{1,2}\//.test(String(range)))) return null
  }
  const hash = createHash('sha256').update(`${projectId}\0${plan.install_key}\0`)
  for (const name of Object.keys(variables).toSorted()) hash.update(`${name}\0${variables[name]}\0`)
  return hash.digest('hex').slice(0, 40)
}

interface Manifest {
  scripts?: Record<string, unknown>
  dependencies?: Record<string, unknown>
  devDependencies?: Record<string, unknown>
  optionalDependencies?: Record<string, unknown>
}

function parse(text: string): Manifest {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : {}
  } catch {
    return {}
  }
}
