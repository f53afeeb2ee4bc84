import { execFile, spawn } from 'node:child_process'
import { access, constants, readdir, realpath, stat } from 'node:fs/promises'
import { platform } from 'node:os'
import { basename, delimiter, dirname, join } from 'node:path'
import type { RuntimeOptions } from '../runtime.ts'
import { createBubblewrapArguments } from './bubblewrap.ts'
import type { SandboxProvider, HiddenPath, Sandbox } from './sandbox.ts'
import { createSeatbeltProfile } from './seatbelt.ts'

interface SandboxSearch {
  sandbox: Sandbox | null
  /** Why no sandbox is available. */
  reason: string
  fix: string
}

export function createSandboxProvider(options: RuntimeOptions): SandboxProvider {
  let search: Promise<SandboxSearch> | undefined
  const find = () => (search ??= findSandbox(options))
  return {
    find: async () => (await find()).sandbox,
    async check() {
      const { sandbox, reason, fix } = await find()
      if (sandbox)
        return {
          name: 'sandbox',
          status: 'ok',
          message: `Builds and apps that run as processes are sandboxed with ${sandbox.name}. They can only see system programs and their own project. The data and key of this instance, your home folder and other projects are hidden. They share the network, the user and the package manager caches.`,
          hint: null,
        }
      return {
        name: 'sandbox',
        status: 'warning',
        message: `Builds and apps that run as processes are not sandboxed (${reason}). They can read and change everything your user can: the key, tokens and data of this instance (${options.data_dir}), your home folder, and the folders of other projects.`,
        hint: fix,
      }
    },
  }
}

async function findSandbox(options: RuntimeOptions): Promise<SandboxSearch> {
  const none = (reason: string, fix: string): SandboxSearch => ({ sandbox: null, reason, fix })
  if (options.sandbox === 'off') return none('HOMEPORT_SANDBOX is off', 'Unset HOMEPORT_SANDBOX, then restart Homeport.')
  if (platform() === 'win32') return none('not supported on Windows', 'Only deploy code that you trust, or use Docker.')
  const findDriver = platform() === 'darwin' ? findSeatbelt : findBubblewrap
  const sandbox = await findDriver(options)
  if (!sandbox) return none('bubblewrap is not installed', 'Install the bubblewrap package and restart Homeport, or use Docker.')
  const failure = await testSandbox(sandbox)
  if (failure === undefined) return { sandbox, reason: '', fix: '' }
  return none(
    `${sandbox.name} does not work here: ${failure}`,
    'Allow this user to create user namespaces (Ubuntu: an AppArmor profile for bwrap; in a container: its security options) and restart Homeport, or use Docker.',
  )
}

async function findBubblewrap(options: RuntimeOptions): Promise<Sandbox | undefined> {
  const folders = [...(options.path ?? '').split(delimiter).filter((folder) => folder.startsWith('/')), '/usr/bin', '/usr/local/bin']
  const bwrap = await findProgram('bwrap', folders)
  if (bwrap === undefined) return undefined
  const version = await new Promise<string>((resolve) => {
    execFile(bwrap, ['--version'], { timeout: 5_000 }, (error, stdout) => resolve(error ? 'bubblewrap' : stdout.trim()))
  })
  const isRoot = process.getuid?.() === 0
  const visible = await listVisiblePrograms(options)
  const hidden = [...(await resolveHiddenPaths(options.hidden_paths ?? [])), ...(isRoot ? await findRestrictedPaths('/etc') : [])]
  return {
    name: version,
    confine: (command, folders) => ({
      file: bwrap,
      args: createBubblewrapArguments(command, { read: [...visible, ...folders.read], write: folders.write }, hidden, isRoot),
      reports_pid: true,
    }),
  }
}

async function findSeatbelt(options: RuntimeOptions): Promise<Sandbox> {
  const visible = await listVisiblePrograms(options)
  const hidden = (await resolveHiddenPaths(options.hidden_paths ?? [])).map(({ path }) => path)
  return {
    name: 'sandbox-exec',
    confine: ({ file, args }, folders) => ({
      file: '/usr/bin/sandbox-exec',
      args: ['-p', createSeatbeltProfile({ read: [...visible, ...folders.read], write: folders.write }, hidden), file, ...args],
      reports_pid: false,
    }),
  }
}

/** Runs a no-op command in the sandbox, because the system may forbid an installed sandbox to work. Returns the error. */
function testSandbox(sandbox: Sandbox): Promise<string | undefined> {
  const { file, args } = sandbox.confine({ file: '/bin/sh', args: ['-c', ':'], cwd: '/' }, { read: [], write: [] })
  return new Promise((resolve) => {
    const child = spawn(file, args, { stdio: ['ignore', 'ignore', 'pipe', 'pipe'], timeout: 10_000, env: {} })
    let stderr = ''
    child.stderr?.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
    child.once('error', (error) => resolve(error.message))
    child.once('exit', (code) => resolve(code === 0 ? undefined : stderr.trim().slice(0, 300) || `exited with ${code ?? 'a signal'}`))
  })
}

/** The platform's own Node and npm and the packages installed with them. */
async function listVisiblePrograms({ node_path, npm_cli_path, data_dir, ca_file }: RuntimeOptions): Promise<string[]> {
  const nodes = [...new Set([node_path, await realpath(node_path).catch(() => node_path)])]
  return [
    // The whole folder with node is visible, for npx and corepack.
    ...nodes.flatMap((node) => (basename(dirname(node)) === 'bin' ? [dirname(node), join(dirname(node), '../lib/node_modules')] : [node])),
    join(dirname(npm_cli_path), '..'),
    join(data_dir, 'toolchains'),
    ...(ca_file === undefined ? [] : [ca_file]),
    // Often a link to a file in /run.
    await realpath('/etc/resolv.conf').catch(() => '/etc/resolv.conf'),
  ]
}

async function resolveHiddenPaths(paths: string[]): Promise<HiddenPath[]> {
  const real = await Promise.all(paths.map((path) => realpath(path).catch(() => path)))
  return Promise.all([...new Set([...paths, ...real])].map(async (path) => ({ path, is_folder: await isFolder(path) })))
}

/** Paths that only root may read, hidden when the platform runs as root. */
async function findRestrictedPaths(folder: string): Promise<HiddenPath[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  const paths = await Promise.all(
    entries.map(async (entry): Promise<HiddenPath[]> => {
      const path = join(folder, entry.name)
      if (!entry.isDirectory() && !entry.isFile()) return []
      const isRestricted = ((await stat(path)).mode & (entry.isDirectory() ? 0o001 : 0o004)) === 0
      if (isRestricted) return [{ path, is_folder: entry.isDirectory() }]
      return entry.isDirectory() ? findRestrictedPaths(path) : []
    }),
  )
  return paths.flat()
}

const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    (stats) => stats.isDirectory(),
    () => false,
  )

/** The path of the first folder that contains the program; a name with a slash is a path. */
export async function findProgram(name: string, folders: string[]): Promise<string | undefined> {
  for (const file of name.includes('/') ? [name] : folders.map((folder) => join(folder, name)))
    if (
      await access(file, constants.X_OK).then(
        () => true,
        () => false,
      )
    )
      return file
  return undefined
}
