import type { Manifest } from './manifest.ts'
import { readYaml } from './manifest.ts'
import { joinInside, type SourceFolder } from './source-folder.ts'

export interface PackageManagerChoice {
  name: 'npm' | 'pnpm' | 'yarn'
  /** An exact version, or a major that npm resolves; null: the npm that comes with Node. */
  version: string | null
  /** The lock file in use, relative to the install folder. */
  lock: string | null
  install_command: string
  reason: string
  /** Where the choice comes from. */
  origin: string
  /** The program that runs scripts at build time: npm where the package manager's own settings would interfere. */
  script_runner: 'npm' | 'pnpm' | 'yarn'
}

const lockFiles = ['pnpm-lock.yaml', 'yarn.lock', 'package-lock.json', 'npm-shrinkwrap.json', 'bun.lock', 'bun.lockb'] as const

/** The lock files in a folder; a folder with a lock file is an install folder. */
export async function findLockFiles(source: SourceFolder, directory: string): Promise<string[]> {
  const names = new Set(await source.list(directory))
  return lockFiles.filter((name) => names.has(name))
}

/**
 * Chooses the package manager of a folder by `packageManager` in package.json, else by the lock file. The commands install development dependencies
 * regardless of NODE_ENV, because builds need them.
 */
export async function choosePackageManager(source: SourceFolder, directory: string, manifest: Manifest): Promise<PackageManagerChoice> {
  const locks = await findLockFiles(source, directory)
  const named = manifest.package_manager?.match(/^(npm|pnpm|yarn|bun)@(\d[^+\s]*)/)
  const firstLock = locks[0] ?? null
  const byLock = firstLock === 'pnpm-lock.yaml' ? 'pnpm' : firstLock === 'yarn.lock' ? 'yarn' : 'npm'
  const name = named && named[1] !== 'bun' ? (named[1] as PackageManagerChoice['name']) : byLock
  const version = named && named[1] !== 'bun' ? (named[2] ?? null) : null
  const choice = await choosers[name](source, directory, version, locks)
  const unusedLocks = locks.filter((lock) => lock !== choice.lock)
  const notes = [
    choice.reason,
    ...(version ? [`packageManager in package.json says ${name}@${version}`] : []),
    ...(unusedLocks.length > 0 && !unusedLocks.every((lock) => lock.startsWith('bun')) ? [`${unusedLocks.join(', ')} not used`] : []),
  ]
  const lock = choice.lock ?? 'no lock file'
  return { ...choice, reason: notes.join('; '), origin: version ? 'package.json packageManager' : lock }
}

type ChoosePackageManager = (
  source: SourceFolder,
  directory: string,
  version: string | null,
  locks: string[],
) => Promise<Omit<PackageManagerChoice, 'origin'>>

const choosers: Record<PackageManagerChoice['name'], ChoosePackageManager> = {
  async npm(_source, _directory, version, locks) {
    const lock = locks.find((name) => name === 'package-lock.json' || name === 'npm-shrinkwrap.json') ?? null
    if (lock) return { name: 'npm', version, lock, install_command: 'npm ci --include=dev', reason: `npm ci: ${lock}`, script_runner: 'npm' }
    const bun = locks.find((name) => name.startsWith('bun'))
    const reason = bun
      ? `npm install: ${bun} is a Bun lock file and is not used; packages are installed with npm`
      : 'npm install: no lock file, so versions may differ between builds'
    return { name: 'npm', version, lock: null, install_command: 'npm install --include=dev', reason, script_runner: 'npm' }
  },
  async pnpm(source, directory, version, locks) {
    const lock = locks.includes('pnpm-lock.yaml') ? 'pnpm-lock.yaml' : null
    const common = { name: 'pnpm', script_runner: 'pnpm', lock } as const
    if (!lock)
      return {
        ...common,
        version: version ?? '10',
        install_command: 'pnpm install --no-frozen-lockfile --prod=false',
        reason: 'pnpm install: no pnpm-lock.yaml',
      }
    const format = (await source.read(joinInside(directory, lock)))?.match(/^lockfileVersion:\s*['"]?(\d+)/m)?.[1]
    const byFormat: Record<string, string> = { 5: '7', 6: '8', 9: '10' }
    return {
      ...common,
      version: version ?? byFormat[format ?? ''] ?? '10',
      install_command: 'pnpm install --frozen-lockfile --prod=false',
      reason: `pnpm install --frozen-lockfile: ${lock}`,
    }
  },
  async yarn(source, directory, version, locks) {
    const lock = locks.includes('yarn.lock') ? 'yarn.lock' : null
    const text = lock ? ((await source.read(joinInside(directory, lock))) ?? '') : ''
    const settings = (await readYaml(source, joinInside(directory, '.yarnrc.yml'))) ?? {}
    const release = typeof settings.yarnPath === 'string' ? settings.yarnPath.match(/yarn-(\d[\w.-]*)\.c?js$/)?.[1] : undefined
    const chosen = version ?? release ?? (text.includes('__metadata:') || Object.keys(settings).length > 0 ? '4' : '1.22.22')
    const common = { name: 'yarn', version: chosen, lock } as const
    if (chosen.startsWith('1.') || chosen === '1') {
      const reason = lock ? `yarn install --frozen-lockfile: ${lock} (Yarn 1)` : 'yarn install: no yarn.lock'
      return {
        ...common,
        script_runner: 'yarn',
        install_command: `yarn install${lock ? ' --frozen-lockfile' : ''} --production=false --non-interactive`,
        reason,
      }
    }
    // The app must start with plain node, and Plug'n'Play would need a loader. `yarn run` would not find its own files without Plug'n'Play, so npm
    // runs the scripts.
    const isForced = settings.nodeLinker === undefined || settings.nodeLinker === 'pnp'
    const reason = `yarn install${lock ? ` --immutable: ${lock}` : ': no yarn.lock'}${isForced ? '; into node_modules instead of Plug’n’Play' : ''}`
    const install = `${isForced ? 'YARN_NODE_LINKER=node-modules ' : ''}yarn install${lock ? ' --immutable' : ' --no-immutable'}`
    return { ...common, script_runner: isForced ? 'npm' : 'yarn', install_command: install, reason }
  },
}

/** The package manager that a user's own install command implies: `pnpm i` needs pnpm. */
export function parseManagerName(command: string): PackageManagerChoice['name'] | null {
  const name = command.trim().split(/\s+/)[0]
  return name === 'npm' || name === 'pnpm' || name === 'yarn' ? name : null
}
