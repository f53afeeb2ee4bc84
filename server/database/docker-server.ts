import { createHash } from 'node:crypto'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type Docker from 'dockerode'
import type { PostgresVersion } from '../contract/postgres-versions.ts'
import { type RuntimeName, runtimes } from '../contract/runtimes.ts'
import { sleep, systemClock, withTimeout } from '../lib/clock.ts'
import { findFreePort } from '../lib/free-port.ts'
import type { Log } from '../lib/log.ts'
import { rejectAfter } from '../runtime/docker/connection.ts'
import { type DockerEngine, removeContainer } from '../runtime/docker/engine.ts'
import { isConnectionError, getStatusCode } from '../runtime/docker/errors.ts'
import { type DatabaseAddress, type DatabaseServer, DatabaseUnavailableError } from './database-server.ts'
import { createContainerForm, createDatabaseContainer, postgresPort } from './docker-container.ts'
import { createContainerStatementRunner, execAsPostgres } from './docker-exec.ts'
import { removeNetwork } from '../runtime/docker/networks.ts'
import { connectServer, getDatabaseHost, removeProjectNetwork, ensureProjectNetwork } from './docker-network.ts'
import { dumpDatabase } from './dump-database.ts'
import { revokePublicAccess, createDatabase, dropDatabase, inspectDatabase } from './provision.ts'
import { restoreDatabase } from './restore-database.ts'

export interface DockerDatabaseOptions {
  /** The runtime whose projects have their databases here. */
  runtime: RuntimeName
  version: PostgresVersion
  engine: DockerEngine
  data_dir: string
  log: Log
}

/** Recovery after a crash may take longer; callers then have to retry. */
const startTimeout_ms = 60_000
const startAttempts = 6
const stopTimeout_ms = 2_000

/** The PostgreSQL container of the instance. Only a project's own containers reach it, over the project's own network. */
export function createDockerDatabaseServer({ runtime, version, engine, data_dir, log }: DockerDatabaseOptions): DatabaseServer {
  const form = createContainerForm(engine, version)
  const { name, bin_folder: binFolder } = form
  const portFile = join(data_dir, 'databases', version === 15 ? `${runtime}.json` : `${runtime}-${version}.json`)
  const closing = new AbortController()
  let starting: Promise<RunningContainer> | undefined
  /** The current long operation, for display. */
  let progress: string | undefined
  /** The start time of the container that was last seen ready. */
  let readyStartedAt: string | undefined

  interface RunningContainer extends DatabaseAddress {
    container: Docker.Container
  }

  const ensureRunning = async (): Promise<RunningContainer> => {
    if (closing.signal.aborted) throw new DatabaseUnavailableError('Homeport is shutting down.', 'Try again after Homeport has restarted.')
    starting ??= start().finally(() => {
      starting = undefined
      progress = undefined
    })
    try {
      return await starting
    } catch (error) {
      throw toUnavailableError(error)
    }
  }

  const start = async (): Promise<RunningContainer> => {
    const { docker } = await engine.connection()
    const container = docker.getContainer(name)
    let info = await inspectContainer(container)
    if (info && info.Config.Labels['homeport.form'] !== form.digest) {
      await container.stop({ t: 30 }).catch(() => {})
      await removeContainer(container)
      info = undefined
    }
    for (let attempt = 0; info?.State.Running !== true; attempt++) {
      if (attempt >= startAttempts) throw createStartError()
      progress ??= 'The database server is starting.'
      if (!info)
        await createDatabaseContainer(
          { form, engine, docker, onProgress: (message) => (progress = message), signal: closing.signal },
          await choosePort(attempt),
        )
      readyStartedAt = undefined
      try {
        await engine.startContainer(container)
      } catch (error) {
        if (!/port is already allocated|address already in use|ports are not available/i.test(String(error))) throw error
        // Another program uses its port: the container gets another port and keeps its data.
        await removeContainer(container)
      }
      info = await inspectContainer(container)
    }
    if (info.State.Paused) await container.unpause()
    const at = { host: '127.0.0.1', port: portOf(info) }
    // Docker also reports a container as `Running` with its previous start time when it is about to restart it.
    if (info.State.Restarting || readyStartedAt !== info.State.StartedAt) {
      info = await waitUntilReady(container)
      await revokePublicAccess(createContainerStatementRunner(container, `${binFolder}/psql`))
      for (const network of await docker.listNetworks({ filters: engine.createOwnFilters({ 'homeport.role': 'database' }) }))
        await connectServer(docker, network.Name, form.name, version)
      await writeSavedPort(at.port)
      readyStartedAt = info.State.StartedAt
    }
    return { ...at, container }
  }

  /** The previous port, else one derived from the instance id; if that port is in use, any free one. */
  const choosePort = async (attempt: number): Promise<number> => {
    const derivedPort =
      20_000 +
      (createHash('sha256')
        .update(engine.options.instance_id)
        .digest()
        .readUInt16BE(version === 15 ? 0 : 2) %
        10_000)
    return attempt === 0 ? ((await readSavedPort()) ?? derivedPort) : await findFreePort()
  }

  const readSavedPort = async (): Promise<number | undefined> => {
    try {
      const { port: savedPort } = JSON.parse(await readFile(portFile, 'utf8')) as { port?: unknown }
      return typeof savedPort === 'number' ? savedPort : undefined
    } catch {
      return undefined
    }
  }

  const writeSavedPort = async (value: number): Promise<void> => {
    if ((await readSavedPort()) === value) return
    await mkdir(join(data_dir, 'databases'), { recursive: true, mode: 0o700 })
    await writeFile(`${portFile}.part`, JSON.stringify({ port: value }))
    await rename(`${portFile}.part`, portFile)
  }

  const createStartError = () =>
    new DatabaseUnavailableError('The database server did not start.', `Check the container log (docker logs ${name}), then try again.`)

  const waitUntilReady = async (container: Docker.Container): Promise<Docker.ContainerInspectInfo> => {
    const deadline = systemClock.monotonic() + startTimeout_ms
    while (systemClock.monotonic() < deadline) {
      const info = await container.inspect()
      const { Running: RunningContainer, Restarting } = info.State
      if (!RunningContainer && !Restarting) break
      if (!Restarting && (await execAsPostgres(container, [`${binFolder}/pg_isready`, '-q', '-h', '/tmp']).catch(() => undefined))?.code === 0)
        return info
      await sleep(systemClock, 100)
    }
    throw createStartError()
  }

  const hasVolume = async (): Promise<boolean> => {
    try {
      const { docker } = await engine.connection()
      await rejectAfter(engineTimeout_ms, docker.getVolume(name).inspect())
      return true
    } catch (error) {
      if (getStatusCode(error) === 404) return false
      throw toUnavailableError(error)
    }
  }

  const openStatementRunner = async () => createContainerStatementRunner((await ensureRunning()).container, `${binFolder}/psql`)

  /** Translates a lost connection to Docker; the next call reconnects. */
  const toUnavailableError = (error: unknown): unknown => {
    if (error instanceof DatabaseUnavailableError) return error
    if (isConnectionError(error)) engine.forgetConnection()
    else if (!(error instanceof Error && 'code' in error && error.code === 'runtime_unavailable')) return error
    return new DatabaseUnavailableError('The database server runs in Docker, and Docker is not responding.', 'Start Docker, then try again.', error)
  }

  /** The previous address while Docker is unavailable, so that an app can start and reach the database later. */
  const readLastAddress = async (error: unknown): Promise<DatabaseAddress> => {
    const savedPort = error instanceof DatabaseUnavailableError ? await readSavedPort() : undefined
    if (savedPort === undefined) throw error
    log.warn('database_server_unavailable', { driver: 'docker', error })
    return { host: '127.0.0.1', port: savedPort }
  }

  async function address(from: 'machine'): Promise<DatabaseAddress>
  async function address(from: { runtime: RuntimeName; project_id: string }): Promise<DatabaseAddress | undefined>
  async function address(from: 'machine' | { runtime: RuntimeName; project_id: string }): Promise<DatabaseAddress> {
    if (from === 'machine' || runtimes[from.runtime].uses_host_network) {
      const { host, port: at } = await ensureRunning().catch(readLastAddress)
      return { host, port: at }
    }
    try {
      await ensureRunning()
      const { docker } = await engine.connection()
      await connectServer(docker, await ensureProjectNetwork(engine, docker, from.project_id), form.name, version)
    } catch (error) {
      await readLastAddress(toUnavailableError(error))
    }
    return { host: getDatabaseHost(version), port: postgresPort }
  }

  return {
    name: runtime,
    version,
    how_to_start: 'Start Docker. The server starts at its next use.',
    create: async (spec) => createDatabase(await openStatementRunner(), spec),
    async drop(spec) {
      // Without data there is nothing to drop, so no image is pulled.
      if (await hasVolume()) await dropDatabase(await openStatementRunner(), spec)
    },
    async inspect(db_name) {
      const info = await inspectDatabase(await openStatementRunner(), db_name)
      if (info) return info
      throw new DatabaseUnavailableError(
        'The database no longer exists on the server, because its volume was removed or replaced.',
        'Delete the database and create it again, or restore a backup.',
      )
    },
    address,
    async *dump(spec, signal) {
      yield* dumpDatabase({ ...spec, ...(await ensureRunning()) }, signal)
    },
    async restore(spec, sql, signal) {
      await restoreDatabase({ ...spec, ...(await ensureRunning()) }, sql, signal)
    },

    async disconnectProject(projectId) {
      const connection = await engine.connection().catch(() => undefined)
      if (connection) await removeProjectNetwork(engine, connection.docker, projectId)
    },

    async removeIfEmpty() {
      try {
        if (!(await hasVolume())) return
        const names = await (
          await openStatementRunner()
        )('postgres', "SELECT datname FROM pg_database WHERE NOT datistemplate AND datname <> 'postgres'")
        // Databases without a row, for example after a restore, may still be needed.
        if (names.length > 0) return
        const { docker } = await engine.connection()
        const container = docker.getContainer(name)
        await container.stop({ t: 30 }).catch(() => {})
        await removeContainer(container)
        const filters = engine.createOwnFilters({ 'homeport.role': 'database' })
        // The server of another version uses the same networks.
        if ((await docker.listContainers({ all: true, filters })).length === 0)
          for (const network of await docker.listNetworks({ filters })) await removeNetwork(docker, network.Name)
        await docker.getVolume(name).remove()
        readyStartedAt = undefined
        log.info('database_server_removed', { driver: 'docker' })
      } catch (error) {
        throw toUnavailableError(error)
      }
    },

    async state() {
      if (progress !== undefined) return { running: false, version: null, message: progress }
      try {
        const { docker } = await engine.connection()
        const info = await inspectContainer(docker.getContainer(name))
        if (!info) return { running: false, version: null, message: `The container ${name} does not exist.` }
        if (info.State.Restarting)
          return {
            running: false,
            version: null,
            message: `The container ${name} exited and is restarting. See docker logs ${name}.`,
          }
        if (!info.State.Running) return { running: false, version: null, message: `The container ${name} is not running.` }
        return { running: true, version: String(version), message: `The container ${name} is running at 127.0.0.1:${portOf(info)}.` }
      } catch (error) {
        const unavailable = toUnavailableError(error)
        return { running: false, version: null, message: unavailable instanceof Error ? unavailable.message : 'Docker is not responding.' }
      }
    },

    async close(stopServer) {
      closing.abort()
      // A pull in progress is aborted at the end.
      if (starting)
        await withTimeout(
          systemClock,
          stopTimeout_ms,
          starting.catch(() => {}),
        )
      if (!stopServer) return
      const connection = await engine.connection().catch(() => undefined)
      await connection?.docker
        .getContainer(name)
        .stop({ t: 8 })
        .catch(() => {})
    },
  }

  function portOf(info: Docker.ContainerInspectInfo): number {
    return Number(info.HostConfig.PortBindings[`${postgresPort}/tcp`]?.[0]?.HostPort ?? 0)
  }
}

/** An engine that hangs is treated as unavailable; callers may retry. */
const engineTimeout_ms = 10_000

const inspectContainer = (container: Docker.Container): Promise<Docker.ContainerInspectInfo | undefined> =>
  rejectAfter(engineTimeout_ms, container.inspect()).then(
    (info) => info,
    (error: unknown) => (getStatusCode(error) === 404 ? undefined : Promise.reject(error)),
  )
