import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { ServerPlan, StaticPlan } from '../contract/build-plan.ts'

export type NodePlan = ServerPlan | StaticPlan

const lifecycleScripts = ['preinstall', 'install', 'postinstall', 'prepare', 'prepublish']

/**
 * The cache key of installed dependencies, or null when they cannot be cached: a project with its own install scripts, or with packages from
 * folders, may depend on any file of the source. Variables are part of the key because they can affect an install: all variables where packages have
 * install scripts, else those that npm reads. A cache belongs to one project.
 */
export async function createDependencyKey(
  folder: string,
  plan: NodePlan,
  projectId: string,
  variables: Record<string, string>,
): Promise<string | null> {
  if (plan.install_inputs.includes('.')) return null
  for (const input of plan.install_inputs) {
    if (basename(input) !== 'package.json') continue
    const manifest = parseJson(await readFile(join(folder, input), 'utf8').catch(() => '{}'))
    if (lifecycleScripts.some((name) => typeof manifest.scripts?.[name] === 'string')) return null
    const ranges = { ...manifest.dependencies, ...manifest.devDependencies, ...manifest.optionalDependencies }
    if (Object.values(ranges).some((range) => /^(file|link|portal|exec|patch):|^\.{1,2}\//.test(String(range)))) return null
  }
  const hash = createHash('sha256').update(`${projectId}\0${plan.install_key}\0`)
  const isRelevant = (await hasNoInstallScripts(folder, plan)) ? await createNpmVariableFilter(folder, plan) : () => true
  for (const name of Object.keys(variables).filter(isRelevant).toSorted()) hash.update(`${name}\0${variables[name]}\0`)
  return hash.digest('hex').slice(0, 40)
}

/** Known only for npm's own lock file and npm's own install command. */
async function hasNoInstallScripts(folder: string, plan: NodePlan): Promise<boolean> {
  const lock = plan.install_inputs.find((input) => basename(input) === 'package-lock.json')
  if (lock === undefined || !/^npm (ci|install)( --[a-z=-]+)*$/.test(plan.install_command ?? '')) return false
  const { packages } = parseJson(await readFile(join(folder, lock), 'utf8').catch(() => '{}'))
  return packages !== undefined && Object.values(packages).every((one) => one.hasInstallScript !== true && !String(one.resolved).startsWith('git'))
}

/** Selects npm settings, variables that Node and the network use, and variables in .npmrc. */
async function createNpmVariableFilter(folder: string, plan: NodePlan): Promise<(name: string) => boolean> {
  const files = [...new Set(plan.install_inputs.map((input) => join(folder, dirname(input), '.npmrc')))]
  const text = (await Promise.all(files.map((file) => readFile(file, 'utf8').catch(() => '')))).join('\n')
  return (name) => /npm|node|proxy|ssl|cert|^(home|path|ci|git_\w+)$/i.test(name) || text.includes('${' + name)
}

interface Manifest {
  packages?: Record<string, { hasInstallScript?: unknown; resolved?: unknown }>
  scripts?: Record<string, unknown>
  dependencies?: Record<string, unknown>
  devDependencies?: Record<string, unknown>
  optionalDependencies?: Record<string, unknown>
}

function parseJson(text: string): Manifest {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : {}
  } catch {
    return {}
  }
}
