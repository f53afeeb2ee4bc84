import { createHash } from 'node:crypto'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import type Docker from 'dockerode'
import { sleep, systemClock, withTimeout } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { within } from '../runtime/docker-connect.ts'
import { type Engine, isConnectionError, removeContainer, statusOf } from '../runtime/docker-engine.ts'
import { type Address, type DatabaseServer, DatabaseUnavailable } from './database.ts'
import { form, makeContainer, port, programs } from './docker-container.ts'
import { askIn, runIn } from './docker-exec.ts'
import { alias, attach, dropNetwork, makeNetwork, removeNetwork } from './docker-network.ts'
import { dumpDatabase } from './dump.ts'
import { closeCluster, createDatabase, dropDatabase, lookAtDatabase } from './provision.ts'
import { restoreDatabase } from './restore.ts'

export interface DockerServerOptions {
  engine: Engine
  data_dir: string
  log: Log
}

/** Recovery after a crash may take a while; who waits longer than this asks again. */
const startPatience_ms = 60_000
const startAttempts = 6
const stopPatience_ms = 2_000

/** One Postgres container of the instance. A project's containers reach it over a network of their own, and no others do. */
export function createDockerServer({ engine, data_dir, log }: DockerServerOptions): DatabaseServer {
  const name = engine.name('databases')
  const portFile = join(data_dir, 'databases', 'docker.json')
  const closing = new AbortController()
  let starting: Promise<Running> | undefined
  /** What takes long, for people. */
  let progress: string | undefined
  /** The start of the container that was seen to answer. */
  let answered: string | undefined

  interface Running extends Address {
    container: Docker.Container
  }

  const running = async (): Promise<Running> => {
    if (closing.signal.aborted) throw new DatabaseUnavailable('Homeport is stopping.', 'Try again when it runs.')
    starting ??= start().finally(() => {
      starting = undefined
      progress = undefined
    })
    try {
      return await starting
    } catch (error) {
      throw explain(error)
    }
  }

  const start = async (): Promise<Running> => {
    const { docker } = await engine.connection()
    const container = docker.getContainer(name)
    let found = await inspect(container)
    if (found && found.Config.Labels['homeport.form'] !== form) {
      await container.stop({ t: 30 }).catch(() => {})
      await removeContainer(container)
      found = undefined
    }
    for (let attempt = 0; found?.State.Running !== true; attempt++) {
      if (attempt >= startAttempts) throw notUp()
      progress ??= 'The database server is being started.'
      if (!found) await makeContainer({ engine, docker, say: (message) => (progress = message), signal: closing.signal }, await choosePort(attempt))
      answered = undefined
      try {
        await engine.startContainer(container)
      } catch (error) {
        if (!/port is already allocated|address already in use|ports are not available/i.test(String(error))) throw error
        // Somebody else took its port: it gets another one, its data stays.
        await removeContainer(container)
      }
      found = await inspect(container)
    }
    if (found.State.Paused) await container.unpause()
    const at = { host: '127.0.0.1', port: portOf(found) }
    // The engine calls a container that it is about to start again `Running` too, with the start of before.
    if (found.State.Restarting || answered !== found.State.StartedAt) {
      found = await untilReady(container)
      await closeCluster(askIn(container, `${programs}/psql`))
      for (const network of await docker.listNetworks({ filters: engine.ours({ 'homeport.role': 'database' }) }))
        await attach(engine, docker, network.Name)
      await keepPort(at.port)
      answered = found.State.StartedAt
    }
    return { ...at, container }
  }

  /** The port of before, else one that follows from the instance; if that is taken, any that is free. */
  const choosePort = async (attempt: number): Promise<number> => {
    const own = 20_000 + (createHash('sha256').update(engine.options.instance_id).digest().readUInt16BE(0) % 10_000)
    return attempt === 0 ? ((await keptPort()) ?? own) : await freePort()
  }

  const keptPort = async (): Promise<number | undefined> => {
    try {
      const { port: kept } = JSON.parse(await readFile(portFile, 'utf8')) as { port?: unknown }
      return typeof kept === 'number' ? kept : undefined
    } catch {
      return undefined
    }
  }

  const keepPort = async (value: number): Promise<void> => {
    if ((await keptPort()) === value) return
    await mkdir(join(data_dir, 'databases'), { recursive: true, mode: 0o700 })
    await writeFile(`${portFile}.part`, JSON.stringify({ port: value }))
    await rename(`${portFile}.part`, portFile)
  }

  const notUp = () =>
    new DatabaseUnavailable(
      'The database server does not come up.',
      `Look at the log of the container ${name} (docker logs ${name}), then try again.`,
    )

  const untilReady = async (container: Docker.Container): Promise<Docker.ContainerInspectInfo> => {
    const giveUpAt = systemClock.monotonic() + startPatience_ms
    while (systemClock.monotonic() < giveUpAt) {
      const found = await container.inspect()
      const { Running, Restarting } = found.State
      if (!Running && !Restarting) break
      if (!Restarting && (await runIn(container, [`${programs}/pg_isready`, '-q', '-h', '/tmp']).catch(() => undefined))?.code === 0) return found
      await sleep(systemClock, 100)
    }
    throw notUp()
  }

  const isThere = async (): Promise<boolean> => {
    try {
      const { docker } = await engine.connection()
      await within(patience_ms, docker.getVolume(name).inspect())
      return true
    } catch (error) {
      if (statusOf(error) === 404) return false
      throw explain(error)
    }
  }

  const ask = async () => askIn((await running()).container, `${programs}/psql`)

  /** Says in plain words that the engine is away; it is looked for anew the next time. */
  const explain = (error: unknown): unknown => {
    if (error instanceof DatabaseUnavailable) return error
    if (isConnectionError(error)) engine.lost()
    else if (!(error instanceof Error && 'code' in error && error.code === 'runtime_unavailable')) return error
    return new DatabaseUnavailable('The database server runs in Docker, and Docker does not answer.', 'Start Docker, then try again.', error)
  }

  /** Its address of before, when it cannot be asked now: an app is started all the same, and finds it there when it is back. */
  const lastAddress = async (error: unknown): Promise<Address> => {
    const kept = error instanceof DatabaseUnavailable ? await keptPort() : undefined
    if (kept === undefined) throw error
    log.warn('database_server_away', { driver: 'docker', error })
    return { host: '127.0.0.1', port: kept }
  }

  async function address(from: 'machine'): Promise<Address>
  async function address(from: { runtime: 'docker' | 'process'; project_id: string }): Promise<Address | undefined>
  async function address(from: 'machine' | { runtime: 'docker' | 'process'; project_id: string }): Promise<Address> {
    if (from === 'machine' || from.runtime === 'process') {
      const { host, port: at } = await running().catch(lastAddress)
      return { host, port: at }
    }
    try {
      await running()
      const { docker } = await engine.connection()
      await attach(engine, docker, await makeNetwork(engine, docker, from.project_id))
    } catch (error) {
      await lastAddress(explain(error))
    }
    return { host: alias, port }
  }

  return {
    name: 'docker',
    create: async (spec) => createDatabase(await ask(), spec),
    async drop(spec) {
      // Without data there is nothing to drop, and no server to fetch for that.
      if (await isThere()) await dropDatabase(await ask(), spec)
    },
    async look(db_name) {
      const found = await lookAtDatabase(await ask(), db_name)
      if (found) return found
      throw new DatabaseUnavailable(
        'The server has no such database any more: its volume was removed or replaced.',
        'Delete it here, then make it anew, or restore a backup.',
      )
    },
    address,
    async *dump(spec, signal) {
      yield* dumpDatabase({ ...spec, ...(await running()) }, signal)
    },
    async restore(spec, sql, signal) {
      await restoreDatabase({ ...spec, ...(await running()) }, sql, signal)
    },

    async forget(projectId) {
      const connected = await engine.connection().catch(() => undefined)
      if (connected) await dropNetwork(engine, connected.docker, projectId)
    },

    async retire() {
      try {
        if (!(await isThere())) return
        const names = await (await ask())('postgres', "SELECT datname FROM pg_database WHERE NOT datistemplate AND datname <> 'postgres'")
        // What a restored data folder does not know of may still be wanted.
        if (names.length > 0) return
        const { docker } = await engine.connection()
        const container = docker.getContainer(name)
        await container.stop({ t: 30 }).catch(() => {})
        await removeContainer(container)
        for (const network of await docker.listNetworks({ filters: engine.ours({ 'homeport.role': 'database' }) }))
          await removeNetwork(docker, network.Name)
        await docker.getVolume(name).remove()
        answered = undefined
        log.info('database_server_removed', { driver: 'docker' })
      } catch (error) {
        throw explain(error)
      }
    },

    async state() {
      if (progress !== undefined) return { running: false, version: null, message: progress }
      try {
        const { docker } = await engine.connection()
        const found = await inspect(docker.getContainer(name))
        if (!found) return { running: false, version: null, message: `There is no container ${name} now.` }
        if (found.State.Restarting)
          return {
            running: false,
            version: null,
            message: `The container ${name} ended and is being restarted; its log says why (docker logs ${name}).`,
          }
        if (!found.State.Running) return { running: false, version: null, message: `The container ${name} does not run.` }
        return { running: true, version: '15', message: `The container ${name} runs, at 127.0.0.1:${portOf(found)}.` }
      } catch (error) {
        const explained = explain(error)
        return { running: false, version: null, message: explained instanceof Error ? explained.message : 'Docker does not answer.' }
      }
    },

    async close(stops) {
      closing.abort()
      // An image may be on its way; nobody waits for it at the end.
      if (starting)
        await withTimeout(
          systemClock,
          stopPatience_ms,
          starting.catch(() => {}),
        )
      if (!stops) return
      const connected = await engine.connection().catch(() => undefined)
      await connected?.docker
        .getContainer(name)
        .stop({ t: 8 })
        .catch(() => {})
    },
  }

  function portOf(found: Docker.ContainerInspectInfo): number {
    return Number(found.HostConfig.PortBindings[`${port}/tcp`]?.[0]?.HostPort ?? 0)
  }
}

/** An engine that hangs is as good as none: who asks is told so, and may ask again. */
const patience_ms = 10_000

const inspect = (container: Docker.Container): Promise<Docker.ContainerInspectInfo | undefined> =>
  within(patience_ms, container.inspect()).then(
    (found) => found,
    (error: unknown) => (statusOf(error) === 404 ? undefined : Promise.reject(error)),
  )

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve))
  const at = server.address()
  await new Promise((resolve) => server.close(resolve))
  return typeof at === 'object' && at ? at.port : 0
}
