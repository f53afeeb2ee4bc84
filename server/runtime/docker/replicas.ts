import { randomBytes } from 'node:crypto'
import type Docker from 'dockerode'
import { systemClock } from '../../lib/clock.ts'
import { appLogConfig, defaultAppPort, describeAppContainer, maxAppProcesses } from './app-container.ts'
import { execInContainer } from './exec.ts'
import { monitorContainer, type ContainerMonitor } from './container-monitor.ts'
import type { DockerEngine } from './engine.ts'
import { getStatusCode } from './errors.ts'
import { findDockerHostAddress } from './host-address.ts'
import { parseHealthcheckCommand, runHealthcheck } from './healthcheck.ts'
import { wasOomKilled } from './oom.ts'
import { createContainerStats } from './container-stats.ts'
import { createServiceConfig, createVolumes, giveVolumesToUser, removeReplica, startInNetworks } from './service-container.ts'
import { linkFiles } from './written-files.ts'
import { createReplicaExit } from '../exit.ts'
import { parseListeningSockets, readNetworkTables } from '../ports.ts'
import { attachContainer, createAttachedConfig } from './attached-container.ts'
import {
  StartFailure,
  type AttachedReplica,
  type AttachedRequest,
  type Endpoint,
  type ExistingReplica,
  type Replica,
  type ReplicaObserver,
  type StartRequest,
  type Runtime,
} from '../runtime.ts'

export interface DockerReplicas {
  start(request: StartRequest): Promise<Replica>
  startAttached(request: AttachedRequest): Promise<AttachedReplica>
  list(): Promise<ExistingReplica[]>
  adopt(found: ExistingReplica, observer: ReplicaObserver): Promise<Replica | undefined>
  stop(replicaId: string, grace_ms: number): Promise<void>
  freeze(replicaId: string): Promise<void>
  thaw(replicaId: string): Promise<void>
  usage: Runtime['usage']
  close(): Promise<void>
}

type ContainerRequest = Omit<StartRequest, keyof ReplicaObserver>

/** Containers of apps: isolation, start, monitoring and stop. */
export function createDockerReplicas(engine: DockerEngine): DockerReplicas {
  const monitors = new Map<string, ContainerMonitor>()
  /** Containers that this process paused. */
  const frozen = new Set<string>()
  const stats = createContainerStats()

  const startMonitor = async (container: Docker.Container, observer: ReplicaObserver, since_ms: number | null | 'start') => {
    const monitor = await monitorContainer(engine, container.id, since_ms, {
      onLine: observer.onLine,
      shouldBePaused: () => frozen.has(container.id),
      onExit(exit) {
        monitors.delete(container.id)
        frozen.delete(container.id)
        observer.onExit(exit)
      },
    })
    monitors.set(container.id, monitor)
    return monitor
  }

  const createContainer = async (
    docker: Docker,
    request: ContainerRequest,
    hasDirectNetwork: boolean,
    more: Docker.ContainerCreateOptions = {},
  ): Promise<Docker.Container> => {
    const { limitCpus, publish_host } = await engine.connection()
    const { artifact } = request
    if (artifact.kind !== 'image') throw new StartFailure('start_failed', 'This version was built without Docker.', 'Deploy the project again.')
    const { service } = request
    const { ports: numbers, environment, labels } = describeAppContainer(engine, request)
    const serviceConfig = service && createServiceConfig(engine, service)
    const ports = numbers.map((one) => `${one}/tcp`)
    const bytes = request.memory_mb * 1024 * 1024
    const ExtraHosts = await listExtraHosts(request.project_id)
    const create = async (image: string) =>
      docker.createContainer({
        Image: image,
        name: engine.createName(request.deployment_id, randomBytes(4).toString('hex')),
        Env: environment,
        ExposedPorts: Object.fromEntries(ports.map((one) => [one, {}])),
        Labels: labels,
        ...serviceConfig,
        ...more,
        HostConfig: {
          ...serviceConfig?.HostConfig,
          Memory: bytes,
          MemorySwap: bytes,
          NanoCpus: Math.round(limitCpus(request.cpus) * 1e9),
          PidsLimit: maxAppProcesses,
          CapDrop: ['ALL'],
          SecurityOpt: ['no-new-privileges'],
          Init: true,
          Privileged: false,
          RestartPolicy: { Name: 'no' },
          NetworkMode: await engine.ensureNetwork(),
          ExtraHosts,
          ...(hasDirectNetwork ? {} : { PortBindings: Object.fromEntries(ports.map((one) => [one, [{ HostIp: publish_host, HostPort: '' }]])) }),
          LogConfig: { Type: 'json-file', Config: appLogConfig },
          ...more.HostConfig,
        },
      })
    try {
      // A prebuilt image whose name was moved to a newer one still exists by its id, until it is cleaned up.
      return await create(artifact.id ?? artifact.image).catch((error: unknown) => {
        if (artifact.id === undefined || getStatusCode(error) !== 404) throw error
        return create(artifact.image)
      })
    } catch (error) {
      if (getStatusCode(error) === 404)
        throw new StartFailure('start_failed', 'The image of this version no longer exists.', 'Deploy the project again.', error)
      throw error
    }
  }

  /** The edge's hostnames, at the address where containers reach it. None for an engine whose containers cannot reach this machine by name. */
  const listExtraHosts = async (projectId: string): Promise<string[]> => {
    const { hasDirectNetwork, hasHostGateway } = await engine.connection()
    if (!hasDirectNetwork && !hasHostGateway) return []
    const address = await findDockerHostAddress(engine, true)
    const names = (address && (await engine.options.docker?.listEdgeHosts?.(projectId, address))) ?? []
    return names.map((name) => `${name}:${address?.bind ?? 'host-gateway'}`)
  }

  const describeReplica = async (docker: Docker, id: string, deploymentId: string, listenPort: number | null = null): Promise<Replica> => {
    const { hasDirectNetwork, publish_host } = await engine.connection()
    const found = await docker.getContainer(id).inspect()
    // The container's init process returns these codes when the program was not found or cannot be run.
    if (!found.State.Running && (found.State.ExitCode === 127 || found.State.ExitCode === 126))
      throw toStartFailure(new Error('executable file not found'), formatCommand(found.Config))
    const port = Number(found.Config.Labels['homeport.port'] ?? defaultAppPort)
    const address = found.NetworkSettings.Networks[await engine.ensureNetwork()]?.IPAddress ?? ''
    const getEndpoint = (containerPort: number): Endpoint | undefined => {
      if (hasDirectNetwork) return { host: address, port: containerPort }
      const published = found.NetworkSettings.Ports[`${containerPort}/tcp`]?.[0]?.HostPort
      return published ? { host: publish_host, port: Number(published) } : undefined
    }
    const ports = (found.Config.Labels['homeport.ports'] ?? '').split(',').flatMap((text) => {
      const endpoint = text === '' ? undefined : getEndpoint(Number(text))
      return endpoint ? [{ port: Number(text), assigned_port: Number(text), endpoint }] : []
    })
    const pid = found.State.Pid
    const check = found.Config.Healthcheck ?? {}
    const command = parseHealthcheckCommand(check, (found.Config as { Shell?: string[] }).Shell)
    return {
      id,
      deployment_id: deploymentId,
      command: formatCommand(found.Config),
      ...((listenPort === null ? undefined : getEndpoint(listenPort)) ?? getEndpoint(port) ?? { host: address, port }),
      assigned_port: port,
      ...(ports.length > 0 && { ports }),
      async getListeningPorts() {
        // The processes of a remote engine are on another machine, so the container's own tools are used if it has any.
        const table = (hasDirectNetwork && pid > 0 ? await readNetworkTables(pid) : '') || (await readContainerNetwork(docker.getContainer(id)))
        return parseListeningSockets(table).map((one) => {
          const endpoint = one.loopback_only ? undefined : getEndpoint(one.port)
          const is_exposed = `${one.port}/tcp` in (found.Config.ExposedPorts ?? {})
          return { port: one.port, loopback_only: one.loopback_only, is_exposed, endpoints: endpoint ? [endpoint] : [] }
        })
      },
      ...(command && { runHealthcheck: () => runHealthcheck(docker.getContainer(id), command, check, engine.options.clock ?? systemClock) }),
    }
  }

  const readContainerNetwork = async (container: Docker.Container): Promise<string> => {
    const { code, output } = await execInContainer(container, ['cat', '/proc/net/tcp', '/proc/net/tcp6'], 5_000, engine.options.clock ?? systemClock)
    // cat exits with 1 where IPv6 is not available, after it has printed the first table.
    return code === 0 || code === 1 ? output : ''
  }

  const readExit = async (docker: Docker, id: string) => {
    const found = await docker
      .getContainer(id)
      .inspect()
      .catch(() => undefined)
    return found ? createReplicaExit(found.State.ExitCode, null, await wasOomKilled(docker, id, found.State)) : createReplicaExit(null, null, false)
  }

  return {
    async start(request) {
      request.signal.throwIfAborted()
      const { docker, hasDirectNetwork } = await engine.connection()
      const { service } = request
      if (service) await createVolumes(engine, docker, request.project_id, service)
      const container = await createContainer(docker, request, hasDirectNetwork)
      let monitor: ContainerMonitor | undefined
      try {
        monitor = await startMonitor(container, request, 'start')
        request.signal.throwIfAborted()
        if (service) {
          await giveVolumesToUser(container, service)
          await linkFiles(container, service)
        }
        await engine.connectToDatabase(container, request.project_id)
        const start = () => engine.startContainer(container)
        await startInNetworks(engine, container, request.project_id, service?.networks ?? [], start).catch(async (error: unknown) => {
          const found = await container.inspect().catch(() => undefined)
          throw toStartFailure(error, formatCommand(found?.Config ?? {}))
        })
        const replica = await describeReplica(docker, container.id, request.deployment_id)
        // The exit is reported only from here on, because an app that could not be started has none.
        monitor.notifyStarted()
        return replica
      } catch (error) {
        monitors.delete(container.id)
        monitor?.close()
        await removeReplica(engine, docker, container).catch(() => {})
        throw error
      }
    },

    async startAttached(request) {
      request.signal.throwIfAborted()
      const { docker, hasDirectNetwork } = await engine.connection()
      const { service, project_id } = request
      await createVolumes(engine, docker, project_id, service)
      const container = await createContainer(docker, { ...request, listen_port: null }, hasDirectNetwork, createAttachedConfig(request))
      try {
        request.signal.throwIfAborted()
        await giveVolumesToUser(container, service)
        await engine.connectToDatabase(container, project_id)
        return await attachContainer(engine, container, request, (start) => startInNetworks(engine, container, project_id, service.networks, start))
      } catch (error) {
        await removeReplica(engine, docker, container).catch(() => {})
        throw toStartFailure(error, (request.command ?? ['sh']).join(' '))
      }
    },

    async list() {
      const { docker } = await engine.connection()
      const containers = await docker.listContainers({ all: true, filters: JSON.stringify(engine.createOwnFilters({ 'homeport.role': 'app' })) })
      return Promise.all(
        containers.map(async (container) => {
          const running = container.State === 'running' || container.State === 'paused'
          return {
            id: container.Id,
            project_id: container.Labels['homeport.project'] ?? '',
            deployment_id: container.Labels['homeport.deployment'] ?? '',
            service: container.Labels['homeport.service'] ?? null,
            definition: container.Labels['homeport.definition'] ?? null,
            replica: Number(container.Labels['homeport.replica'] ?? 1),
            running,
            frozen: container.State === 'paused',
            exit: running ? null : await readExit(docker, container.Id),
            adoptable: true,
            last_line_at: null,
            listen_port: null,
          }
        }),
      )
    },

    async adopt(found, observer) {
      const { docker } = await engine.connection()
      const container = docker.getContainer(found.id)
      const state = await container.inspect().then(
        (one) => one,
        (error: unknown) => (getStatusCode(error) === 404 ? undefined : Promise.reject(error)),
      )
      if (!state || state.Config.Labels['homeport.instance'] !== engine.options.instance_id) return undefined
      if (found.frozen) frozen.add(found.id)
      const monitor = await startMonitor(container, observer, found.last_line_at)
      monitor.notifyStarted()
      return describeReplica(docker, found.id, found.deployment_id, found.listen_port)
    },

    async stop(replicaId, grace_ms) {
      const { docker } = await engine.connection()
      const container = docker.getContainer(replicaId)
      const found = await container.inspect().then(
        (one) => one,
        (error: unknown) => (getStatusCode(error) === 404 ? undefined : Promise.reject(error)),
      )
      if (!found || found.Config.Labels['homeport.instance'] !== engine.options.instance_id) return
      if (found.State.Paused) await container.unpause().catch(() => {})
      if (found.State.Running) {
        // 304: the container has ended already.
        await container.stop({ t: Math.ceil(grace_ms / 1_000) }).catch((error: unknown) => {
          if (getStatusCode(error) !== 304 && getStatusCode(error) !== 404) throw error
        })
      }
      await monitors.get(replicaId)?.ended
      stats.forget(replicaId)
      await removeReplica(engine, docker, container)
    },

    async freeze(replicaId) {
      const { docker } = await engine.connection()
      frozen.add(replicaId)
      // 409: the container is paused already or does not run.
      await docker
        .getContainer(replicaId)
        .pause()
        .catch((error: unknown) => {
          if (getStatusCode(error) !== 409 && getStatusCode(error) !== 404) throw error
        })
    },

    async thaw(replicaId) {
      frozen.delete(replicaId)
      const { docker } = await engine.connection()
      const container = docker.getContainer(replicaId)
      const createGoneFailure = (error: unknown) => new StartFailure('start_failed', 'The app is no longer running.', 'Start it again.', error)
      await container.unpause().catch(async (error: unknown) => {
        if (getStatusCode(error) === 404) throw createGoneFailure(error)
        if (getStatusCode(error) !== 409 && !/not paused/.test(String(error))) throw error
        // Not paused: the container runs or has ended.
        const { State } = await container
          .inspect()
          .catch((cause: unknown) => Promise.reject(getStatusCode(cause) === 404 ? createGoneFailure(cause) : cause))
        if (!State.Running) throw createGoneFailure(error)
      })
    },

    usage: async (replicaId, options) => stats.read(replicaId, (await engine.connection()).docker.getContainer(replicaId), options),

    async close() {
      for (const monitor of monitors.values()) monitor.close()
      monitors.clear()
    },
  }
}

/** A command in shell form is `/bin/sh -c` and the text of the Dockerfile. */
function formatCommand({ Cmd, Entrypoint }: { Cmd?: string[] | null; Entrypoint?: string | string[] | null }): string {
  const args = Cmd?.length ? Cmd : [Entrypoint ?? []].flat()
  return args.join(' ').replace(/^\/bin\/(?:sh|bash) -c /, '')
}

function toStartFailure(error: unknown, command: string): unknown {
  const text = error instanceof Error ? error.message : ''
  if (/executable file not found|no such file or directory/.test(text)) {
    return new StartFailure(
      'start_failed',
      `The app did not start: the program of its start command, \`${command}\`, was not found in the image.`,
      'Check the start script in package.json or the CMD in the Dockerfile.',
      error,
    )
  }
  if (getStatusCode(error) === 400)
    return new StartFailure(
      'start_failed',
      `The app did not start: Docker rejected its start command, \`${command}\`.`,
      'Check the start script in package.json or the CMD in the Dockerfile.',
      error,
    )
  return error
}
