import { randomBytes } from 'node:crypto'
import type Docker from 'dockerode'
import { systemClock } from '../lib/clock.ts'
import { runInside } from './docker-exec.ts'
import { followContainer, type Follower } from './docker-follow.ts'
import { removeContainer, statusOf, type Engine } from './docker-engine.ts'
import { checkCommand, runCheck } from './docker-health.ts'
import { ranOutOfMemory } from './docker-memory.ts'
import { createUsage } from './docker-usage.ts'
import { exitOf } from './exits.ts'
import { parseListening, readNetwork } from './process-ports.ts'
import { StartFailure, type Endpoint, type FoundInstance, type Instance, type InstanceObserver, type StartRequest } from './runtime.ts'

export interface Instances {
  start(request: StartRequest): Promise<Instance>
  list(): Promise<FoundInstance[]>
  adopt(found: FoundInstance, observer: InstanceObserver): Promise<Instance | undefined>
  stop(instanceId: string, grace_ms: number): Promise<void>
  freeze(instanceId: string): Promise<void>
  thaw(instanceId: string): Promise<void>
  usage(instanceId: string): Promise<{ cpu_percent: number; memory_mb: number } | null>
  close(): Promise<void>
}

const defaultPort = 8080
const maxProcesses = 256

/** Containers of apps: how they are shut in, started, followed and stopped. */
export function createInstances(engine: Engine): Instances {
  const followers = new Map<string, Follower>()
  /** Those that we paused. */
  const frozen = new Set<string>()
  const usage = createUsage(engine)

  const follow = async (container: Docker.Container, observer: InstanceObserver, since_ms: number | null | 'start') => {
    const follower = await followContainer(engine, container.id, since_ms, {
      onLine: observer.onLine,
      mayBeFrozen: () => frozen.has(container.id),
      onExit(exit) {
        followers.delete(container.id)
        frozen.delete(container.id)
        observer.onExit(exit)
      },
    })
    followers.set(container.id, follower)
    return follower
  }

  const create = async (docker: Docker, request: StartRequest, native: boolean): Promise<Docker.Container> => {
    const { artifact } = request
    if (artifact.kind !== 'image') throw new StartFailure('start_failed', 'This version was built without Docker.', 'Deploy the project again.')
    const port = artifact.port ?? defaultPort
    const ports = [...new Set([port, ...(request.listen_port === null ? [] : [request.listen_port])])].map((one) => `${one}/tcp`)
    const bytes = request.memory_mb * 1024 * 1024
    const variables = { HOST: '0.0.0.0', ...request.variables, PORT: String(port) }
    try {
      return await docker.createContainer({
        Image: artifact.image,
        name: engine.name(request.deployment_id, randomBytes(4).toString('hex')),
        Env: Object.entries(variables).map(([key, value]) => `${key}=${value}`),
        ExposedPorts: Object.fromEntries(ports.map((one) => [one, {}])),
        Labels: engine.labels('app', { project_id: request.project_id, deployment_id: request.deployment_id, 'homeport.port': String(port) }),
        HostConfig: {
          Memory: bytes,
          MemorySwap: bytes,
          // One core, so that no app takes the whole machine.
          NanoCpus: 1e9,
          PidsLimit: maxProcesses,
          CapDrop: ['ALL'],
          SecurityOpt: ['no-new-privileges'],
          Init: true,
          Privileged: false,
          RestartPolicy: { Name: 'no' },
          NetworkMode: await engine.network(),
          ...(native ? {} : { PortBindings: Object.fromEntries(ports.map((one) => [one, [{ HostIp: '127.0.0.1', HostPort: '' }]])) }),
          LogConfig: { Type: 'json-file', Config: { 'max-size': '10m', 'max-file': '3' } },
        },
      })
    } catch (error) {
      if (statusOf(error) === 404) throw new StartFailure('start_failed', 'The image of this version is gone.', 'Deploy the project again.', error)
      throw error
    }
  }

  const describe = async (docker: Docker, id: string, deploymentId: string, listenPort: number | null = null): Promise<Instance> => {
    const { native } = await engine.connection()
    const found = await docker.getContainer(id).inspect()
    // The init process in the container says by these that it found no program, or none that can be run.
    if (!found.State.Running && (found.State.ExitCode === 127 || found.State.ExitCode === 126))
      throw startFailure(new Error('executable file not found'), commandText(found.Config))
    const port = Number(found.Config.Labels['homeport.port'] ?? defaultPort)
    const address = found.NetworkSettings.Networks[await engine.network()]?.IPAddress ?? ''
    const endpointOf = (inside: number): Endpoint | undefined => {
      if (native) return { host: address, port: inside }
      const published = found.NetworkSettings.Ports[`${inside}/tcp`]?.[0]?.HostPort
      return published ? { host: '127.0.0.1', port: Number(published) } : undefined
    }
    const pid = found.State.Pid
    const check = found.Config.Healthcheck ?? {}
    const command = checkCommand(check, (found.Config as { Shell?: string[] }).Shell)
    return {
      id,
      deployment_id: deploymentId,
      command: commandText(found.Config),
      ...((listenPort === null ? undefined : endpointOf(listenPort)) ?? endpointOf(port) ?? { host: address, port }),
      recommended_port: port,
      async listeningPorts() {
        // An engine elsewhere has its processes elsewhere: then the container's own tools tell, if it has any.
        const table = (native && pid > 0 ? await readNetwork(pid) : '') || (await readInside(docker.getContainer(id)))
        return parseListening(table).map((one) => {
          const endpoint = one.loopback_only ? undefined : endpointOf(one.port)
          const is_exposed = `${one.port}/tcp` in (found.Config.ExposedPorts ?? {})
          return { port: one.port, loopback_only: one.loopback_only, is_exposed, endpoints: endpoint ? [endpoint] : [] }
        })
      },
      ...(command && { ownCheck: () => runCheck(docker.getContainer(id), command, check, engine.options.clock ?? systemClock) }),
    }
  }

  const readInside = async (container: Docker.Container): Promise<string> => {
    const { code, output } = await runInside(container, ['cat', '/proc/net/tcp', '/proc/net/tcp6'], 5_000, engine.options.clock ?? systemClock)
    // cat fails with 1 where there is no IPv6, after it has printed the first table.
    return code === 0 || code === 1 ? output : ''
  }

  const exitOfEnded = async (docker: Docker, id: string) => {
    const found = await docker
      .getContainer(id)
      .inspect()
      .catch(() => undefined)
    return found ? exitOf(found.State.ExitCode, null, await ranOutOfMemory(docker, id, found.State)) : exitOf(null, null, false)
  }

  return {
    async start(request) {
      request.signal.throwIfAborted()
      const { docker, native } = await engine.connection()
      const container = await create(docker, request, native)
      let follower: Follower | undefined
      try {
        follower = await follow(container, request, 'start')
        request.signal.throwIfAborted()
        await engine.joinDatabase(container, request.project_id)
        await engine.startContainer(container).catch(async (error: unknown) => {
          const found = await container.inspect().catch(() => undefined)
          throw startFailure(error, commandText(found?.Config ?? {}))
        })
        const instance = await describe(docker, container.id, request.deployment_id)
        // Only now can its end be told: an app that could not be started has none.
        follower.started()
        return instance
      } catch (error) {
        followers.delete(container.id)
        follower?.close()
        await removeContainer(container).catch(() => {})
        throw error
      }
    },

    async list() {
      const { docker } = await engine.connection()
      const containers = await docker.listContainers({ all: true, filters: JSON.stringify(engine.ours({ 'homeport.role': 'app' })) })
      return Promise.all(
        containers.map(async (container) => {
          const running = container.State === 'running' || container.State === 'paused'
          return {
            id: container.Id,
            project_id: container.Labels['homeport.project'] ?? '',
            deployment_id: container.Labels['homeport.deployment'] ?? '',
            running,
            frozen: container.State === 'paused',
            exit: running ? null : await exitOfEnded(docker, container.Id),
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
        (error: unknown) => (statusOf(error) === 404 ? undefined : Promise.reject(error)),
      )
      if (!state || state.Config.Labels['homeport.instance'] !== engine.options.instance_id) return undefined
      if (found.frozen) frozen.add(found.id)
      const follower = await follow(container, observer, found.last_line_at)
      follower.started()
      return describe(docker, found.id, found.deployment_id, found.listen_port)
    },

    async stop(instanceId, grace_ms) {
      const { docker } = await engine.connection()
      const container = docker.getContainer(instanceId)
      const found = await container.inspect().then(
        (one) => one,
        (error: unknown) => (statusOf(error) === 404 ? undefined : Promise.reject(error)),
      )
      if (!found || found.Config.Labels['homeport.instance'] !== engine.options.instance_id) return
      if (found.State.Paused) await container.unpause().catch(() => {})
      if (found.State.Running) {
        // 304: it has ended meanwhile.
        await container.stop({ t: Math.ceil(grace_ms / 1_000) }).catch((error: unknown) => {
          if (statusOf(error) !== 304 && statusOf(error) !== 404) throw error
        })
      }
      await followers.get(instanceId)?.ended
      usage.forget(instanceId)
      await removeContainer(container)
    },

    async freeze(instanceId) {
      const { docker } = await engine.connection()
      frozen.add(instanceId)
      // 409: it is frozen already, or does not run.
      await docker
        .getContainer(instanceId)
        .pause()
        .catch((error: unknown) => {
          if (statusOf(error) !== 409 && statusOf(error) !== 404) throw error
        })
    },

    async thaw(instanceId) {
      frozen.delete(instanceId)
      const { docker } = await engine.connection()
      const container = docker.getContainer(instanceId)
      const gone = (error: unknown) => new StartFailure('start_failed', 'The app is gone.', 'Start it again.', error)
      await container.unpause().catch(async (error: unknown) => {
        if (statusOf(error) === 404) throw gone(error)
        if (statusOf(error) !== 409 && !/not paused/.test(String(error))) throw error
        // Not frozen: it runs, or it has ended.
        const { State } = await container.inspect().catch((cause: unknown) => Promise.reject(statusOf(cause) === 404 ? gone(cause) : cause))
        if (!State.Running) throw gone(error)
      })
    },

    usage: (instanceId) => usage.look(instanceId),

    async close() {
      for (const follower of followers.values()) follower.close()
      followers.clear()
    },
  }
}

/** A command of the shell form comes as `/bin/sh -c` and the text of the Dockerfile. */
function commandText({ Cmd, Entrypoint }: { Cmd?: string[] | null; Entrypoint?: string | string[] | null }): string {
  const words = Cmd?.length ? Cmd : [Entrypoint ?? []].flat()
  return words.join(' ').replace(/^\/bin\/(?:sh|bash) -c /, '')
}

function startFailure(error: unknown, command: string): unknown {
  const text = error instanceof Error ? error.message : ''
  if (/executable file not found|no such file or directory/.test(text)) {
    return new StartFailure(
      'start_failed',
      `The app did not start: the program of its command, \`${command}\`, was not found in the image.`,
      'Check the start script of package.json, or the CMD of the Dockerfile.',
      error,
    )
  }
  if (statusOf(error) === 400)
    return new StartFailure(
      'start_failed',
      `The app did not start: the engine refused its start command, \`${command}\`.`,
      'Check the start script or the CMD of the Dockerfile.',
      error,
    )
  return error
}
