import { randomBytes, randomInt } from 'node:crypto'
import { chown, mkdir, open, readFile, readlink, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { PostgresVersion } from '../contract/postgres-versions.ts'
import { findFreePort } from '../lib/free-port.ts'
import type { PostgresPrograms } from './embedded-programs.ts'
import { formatAccessRules, serverSettings, createScramVerifier } from './provision.ts'

export const superuser = 'homeport'
const maxLog_bytes = 2 * 2 ** 20

/** Stored data about the server, mode 0600. The port stays the same unless another program uses it. */
export interface PostgresServerFile {
  port: number
  password: string
}

/** The content of `postmaster.pid` of a running server. */
export interface PostgresProcess {
  pid: number
  port: number
}

export interface PostgresCluster {
  readonly folder: string
  /** Creates the cluster, or completes it after a crash. */
  prepare(): Promise<PostgresServerFile>
  running(): Promise<PostgresProcess | undefined>
  /** `hasEnded`: whether the started process has exited. */
  start(port: number): Promise<{ hasEnded(): boolean }>
  /** Requests a stop without a signal. */
  stop(mode: 'fast' | 'immediate'): Promise<void>
}

/** The folder `root` contains `cluster` (owned by the user that PostgreSQL runs as), `server.json` and `postgres.log`. */
export function createPostgresCluster(root: string, programs: PostgresPrograms, major: PostgresVersion): PostgresCluster {
  const folder = join(root, 'cluster')
  const serverFile = join(root, 'server.json')

  async function initializeCluster(password: string): Promise<void> {
    const partFolder = join(root, 'cluster.part')
    await rm(partFolder, { recursive: true, force: true, maxRetries: 5 })
    await mkdir(partFolder, { mode: 0o700 })
    if (programs.user) await chown(partFolder, programs.user.uid, programs.user.gid)
    // ICU, so that sorting and case folding do not depend on the locales of the machine.
    const initdbOptions = ['--auth=reject', '--encoding=UTF8', '--locale=C', '--locale-provider=icu', '--icu-locale=und']
    await programs.run(programs.initdb, partFolder, (visibleFolder) => ['-D', visibleFolder, '-U', superuser, ...initdbOptions])
    await setPassword(partFolder, password)
    await rename(partFolder, folder)
  }

  /** In single-user mode, so that no connection without a password is needed. */
  async function setPassword(at: string, password: string): Promise<void> {
    const input = `ALTER ROLE ${superuser} PASSWORD '${createScramVerifier(password)}';\n`
    await programs.run(programs.postgres, at, (visibleFolder) => ['--single', '-D', visibleFolder, 'postgres'], input)
  }

  return {
    folder,

    async prepare() {
      await mkdir(root, { recursive: true, mode: 0o700 })
      const saved = await readServerFile(serverFile)
      const version = (await readFile(join(folder, 'PG_VERSION'), 'utf8').catch(() => '')).trim()
      if (version !== '' && version !== String(major))
        throw new Error(`The databases in ${folder} were created by PostgreSQL ${version}, but the server of this folder is PostgreSQL ${major}.`)
      if (saved && version !== '') return saved
      const created = { port: saved?.port ?? 0, password: randomBytes(24).toString('base64url') }
      if (version === '') await initializeCluster(created.password)
      else await setPassword(folder, created.password)
      await writeServerFile(serverFile, created)
      return created
    },

    async running() {
      const [pid, , , port] = (await readFile(join(folder, 'postmaster.pid'), 'utf8').catch(() => '')).split('\n')
      const candidate = { pid: Number(pid), port: Number(port) }
      if (!Number.isInteger(candidate.pid) || candidate.pid < 2 || !isAlive(candidate.pid)) return undefined
      if (await isOtherProgram(candidate.pid, folder)) {
        // Another program has this pid now; PostgreSQL would treat it as a running server and not start.
        await rm(join(folder, 'postmaster.pid'), { force: true })
        return undefined
      }
      return candidate
    },

    async start(preferredPort) {
      const port = await findFreePort(preferredPort === 0 ? pickRandomPort() : preferredPort, pickRandomPort(), pickRandomPort())
      const saved = await readServerFile(serverFile)
      if (saved && saved.port !== port) await writeServerFile(serverFile, { ...saved, port })
      await writeOwnedFile(join(folder, 'pg_hba.conf'), formatAccessRules(`host all ${superuser} all scram-sha-256`), programs)
      await writeOwnedFile(join(folder, 'postgresql.conf'), formatSettings(port), programs)
      const logFile = join(root, 'postgres.log')
      if (((await stat(logFile).catch(() => undefined))?.size ?? 0) > maxLog_bytes) await rm(logFile)
      const log = await open(logFile, 'a', 0o600)
      try {
        const child =
          process.platform === 'win32'
            ? // It gives up the rights of an administrator, which PostgreSQL refuses.
              await programs.spawnDetached(
                programs.pg_ctl,
                folder,
                (visibleFolder) => ['start', '-W', '-s', '-D', visibleFolder, '-l', `${logFile}.txt`],
                log.fd,
              )
            : await programs.spawnDetached(programs.postgres, folder, (visibleFolder) => ['-D', visibleFolder], log.fd)
        child.unref()
        // pg_ctl exits and leaves the server running.
        return { hasEnded: () => process.platform !== 'win32' && (child.exitCode !== null || child.signalCode !== null) }
      } finally {
        await log.close()
      }
    },

    async stop(mode) {
      await programs.run(programs.pg_ctl, folder, (visibleFolder) => ['stop', '-W', '-s', '-m', mode, '-D', visibleFolder])
    },
  }
}

const formatSettings = (port: number): string =>
  Object.entries({
    ...serverSettings,
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: '',
    shared_buffers: '64MB',
    max_wal_size: '256MB',
    // Errors of the app are returned to the app; in this log they would only fill the disk.
    log_min_messages: 'log',
    log_checkpoints: 'off',
    lc_messages: 'C',
    timezone: 'UTC',
    log_timezone: 'UTC',
    default_text_search_config: 'pg_catalog.english',
  })
    .map(([name, value]) => `${name} = '${value}'\n`)
    .join('')

async function writeOwnedFile(path: string, text: string, { user }: PostgresPrograms): Promise<void> {
  await writeFile(path, text, { mode: 0o600 })
  if (user) await chown(path, user.uid, user.gid)
}

async function readServerFile(path: string): Promise<PostgresServerFile | undefined> {
  try {
    const content = JSON.parse(await readFile(path, 'utf8')) as PostgresServerFile
    return Number.isInteger(content.port) && typeof content.password === 'string' ? content : undefined
  } catch {
    return undefined
  }
}

async function writeServerFile(path: string, content: PostgresServerFile): Promise<void> {
  await writeFile(`${path}.half`, JSON.stringify(content), { mode: 0o600, flush: true })
  await rename(`${path}.half`, path)
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

/** Supported only on Linux; elsewhere PostgreSQL's own check is used. */
async function isOtherProgram(pid: number, folder: string): Promise<boolean> {
  const at = await readlink(`/proc/${pid}/cwd`).catch(() => undefined)
  return at !== undefined && at !== folder
}

/** Below the range of ephemeral ports, so that other programs seldom use the port during a restart. */
const pickRandomPort = () => randomInt(20_000, 30_000)
