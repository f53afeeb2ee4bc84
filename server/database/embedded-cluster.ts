import { randomBytes, randomInt } from 'node:crypto'
import { chown, mkdir, open, readFile, readlink, rename, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import type { Programs } from './embedded-files.ts'
import { accessRules, serverOptions, verifier } from './provision.ts'

export const superuser = 'homeport'
const major = '15'
const maxLog_bytes = 2 * 2 ** 20

/** What we keep about the server, 0600. The port stays the same as long as nobody else has taken it. */
export interface ServerFile {
  port: number
  password: string
}

/** What a running server says about itself, in `postmaster.pid`. */
export interface Running {
  pid: number
  port: number
}

export interface Cluster {
  readonly folder: string
  /** Makes it, or finishes what a crash left half made. */
  prepare(): Promise<ServerFile>
  running(): Promise<Running | undefined>
  /** `hasEnded`: what was started is gone again. */
  start(port: number): Promise<{ hasEnded(): boolean }>
  /** Asks the server to stop, without a signal. */
  stop(mode: 'fast' | 'immediate'): Promise<void>
}

/** The folder `root` holds: `cluster` (belongs to the user that PostgreSQL runs as), `server.json` and `postgres.log` (ours). */
export function createCluster(root: string, programs: Programs): Cluster {
  const folder = join(root, 'cluster')
  const serverFile = join(root, 'server.json')

  async function initialise(password: string): Promise<void> {
    const half = join(root, 'cluster.part')
    await rm(half, { recursive: true, force: true, maxRetries: 5 })
    await mkdir(half, { mode: 0o700 })
    if (programs.user) await chown(half, programs.user.uid, programs.user.gid)
    // ICU, so that text sorts and folds alike whatever languages the machine has.
    const how = ['--auth=reject', '--encoding=UTF8', '--locale=C', '--locale-provider=icu', '--icu-locale=und']
    await programs.run(programs.initdb, half, (seen) => ['-D', seen, '-U', superuser, ...how])
    await setPassword(half, password)
    await rename(half, folder)
  }

  /** In single-user mode: nobody has to be let in without a password for it. */
  async function setPassword(at: string, password: string): Promise<void> {
    const input = `ALTER ROLE ${superuser} PASSWORD '${verifier(password)}';\n`
    await programs.run(programs.postgres, at, (seen) => ['--single', '-D', seen, 'postgres'], input)
  }

  return {
    folder,

    async prepare() {
      await mkdir(root, { recursive: true, mode: 0o700 })
      const known = await readServerFile(serverFile)
      const found = (await readFile(join(folder, 'PG_VERSION'), 'utf8').catch(() => '')).trim()
      if (found !== '' && found !== major)
        throw new Error(`The databases in ${folder} were made by PostgreSQL ${found}; this Homeport runs ${major}.`)
      if (known && found !== '') return known
      const made = { port: known?.port ?? 0, password: randomBytes(24).toString('base64url') }
      if (found === '') await initialise(made.password)
      else await setPassword(folder, made.password)
      await writeServerFile(serverFile, made)
      return made
    },

    async running() {
      const [pid, , , port] = (await readFile(join(folder, 'postmaster.pid'), 'utf8').catch(() => '')).split('\n')
      const one = { pid: Number(pid), port: Number(port) }
      if (!Number.isInteger(one.pid) || one.pid < 2 || !isAlive(one.pid)) return undefined
      if (await isSomethingElse(one.pid, folder)) {
        // The number belongs to another program by now; PostgreSQL would take it for itself and not start.
        await rm(join(folder, 'postmaster.pid'), { force: true })
        return undefined
      }
      return one
    },

    async start(wanted) {
      const port = await freePort(wanted)
      const known = await readServerFile(serverFile)
      if (known && known.port !== port) await writeServerFile(serverFile, { ...known, port })
      await writeFor(join(folder, 'pg_hba.conf'), accessRules(`host all ${superuser} all scram-sha-256`), programs)
      await writeFor(join(folder, 'postgresql.conf'), settings(port), programs)
      const logFile = join(root, 'postgres.log')
      if (((await stat(logFile).catch(() => undefined))?.size ?? 0) > maxLog_bytes) await rm(logFile)
      const log = await open(logFile, 'a', 0o600)
      try {
        const child =
          process.platform === 'win32'
            ? // It gives up the rights of an administrator, which PostgreSQL refuses.
              await programs.begin(programs.pg_ctl, folder, (seen) => ['start', '-W', '-s', '-D', seen, '-l', `${logFile}.txt`], log.fd)
            : await programs.begin(programs.postgres, folder, (seen) => ['-D', seen], log.fd)
        child.unref()
        // pg_ctl ends by itself, and leaves the server behind.
        return { hasEnded: () => process.platform !== 'win32' && (child.exitCode !== null || child.signalCode !== null) }
      } finally {
        await log.close()
      }
    },

    async stop(mode) {
      await programs.run(programs.pg_ctl, folder, (seen) => ['stop', '-W', '-s', '-m', mode, '-D', seen])
    },
  }
}

const settings = (port: number): string =>
  Object.entries({
    ...serverOptions,
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: '',
    shared_buffers: '64MB',
    max_wal_size: '256MB',
    // What an app did wrong goes to the app; here it would only fill the disk.
    log_min_messages: 'log',
    log_checkpoints: 'off',
    lc_messages: 'C',
    timezone: 'UTC',
    log_timezone: 'UTC',
    default_text_search_config: 'pg_catalog.english',
  })
    .map(([name, value]) => `${name} = '${value}'\n`)
    .join('')

async function writeFor(path: string, text: string, { user }: Programs): Promise<void> {
  await writeFile(path, text, { mode: 0o600 })
  if (user) await chown(path, user.uid, user.gid)
}

async function readServerFile(path: string): Promise<ServerFile | undefined> {
  try {
    const found = JSON.parse(await readFile(path, 'utf8')) as ServerFile
    return Number.isInteger(found.port) && typeof found.password === 'string' ? found : undefined
  } catch {
    return undefined
  }
}

async function writeServerFile(path: string, content: ServerFile): Promise<void> {
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

/** Only Linux tells; elsewhere PostgreSQL's own check has to do. */
async function isSomethingElse(pid: number, folder: string): Promise<boolean> {
  const at = await readlink(`/proc/${pid}/cwd`).catch(() => undefined)
  return at !== undefined && at !== folder
}

/** Below those that a system hands out to whoever asks for any: over a restart one of these is seldom somebody else's. */
const quietPort = () => randomInt(20_000, 30_000)

/** The wanted port of loopback when it is free, else a quiet one, else any. */
async function freePort(wanted: number): Promise<number> {
  const ask = (port: number) =>
    new Promise<number>((resolve, reject) => {
      const server = createServer().once('error', reject)
      server.listen({ host: '127.0.0.1', port, exclusive: true }, () => {
        const at = server.address()
        server.close(() => resolve(typeof at === 'object' && at !== null ? at.port : 0))
      })
    })
  for (const port of [wanted === 0 ? quietPort() : wanted, quietPort(), quietPort()]) {
    const found = await ask(port).catch(() => undefined)
    if (found !== undefined) return found
  }
  return ask(0)
}
