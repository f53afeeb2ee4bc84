import type Docker from 'dockerode'
import { systemClock } from '../../lib/clock.ts'
import { execInContainer } from '../docker/exec.ts'
import type { DockerEngine } from '../docker/engine.ts'
import { parseHealthcheckCommand, runHealthcheck } from '../docker/healthcheck.ts'
import { defaultAppPort } from '../docker/app-container.ts'
import { parseListeningSockets, readNetworkTables } from '../ports.ts'
import type { Endpoint, Replica, StartRequest } from '../runtime.ts'
import { listNodes, requireManager } from './cluster.ts'
import type { NodeAgents } from './node-agents.ts'
import type { SwarmTask } from './tasks.ts'

/** A task as a replica: where the edge reaches it, and what can be seen of it from this node, or with the agent of its own. */
export async function describeTask(
  engine: DockerEngine,
  connect: NodeAgents['connect'],
  task: SwarmTask,
  { deployment_id, listen_port, spec }: { deployment_id: string; listen_port: number | null; spec: Docker.ServiceSpec },
): Promise<Replica> {
  const { docker, swarm } = await requireManager(engine)
  const { clock = systemClock } = engine.options
  const node = (await listNodes(docker, swarm)).find(({ id }) => id === task.node_id)
  const host = node?.address ?? ''
  const labels = spec.Labels ?? {}
  const assigned_port = Number(labels['homeport.port'] ?? defaultAppPort)
  const getEndpoint = (target: number): Endpoint | undefined => {
    const own = spec.EndpointSpec?.Ports?.find(({ TargetPort }) => TargetPort === target)?.PublishedPort
    // Services of earlier versions have the ports that their node chose.
    const published = own ?? task.ports.find((one) => one.target === target)?.published
    return published === undefined ? undefined : { host, port: published }
  }
  const ports = (labels['homeport.ports'] ?? '').split(',').flatMap((text) => {
    const endpoint = text === '' ? undefined : getEndpoint(Number(text))
    return endpoint ? [{ port: Number(text), assigned_port: Number(text), endpoint }] : []
  })
  const findContainer = async () => {
    const container = task.container_id === '' ? undefined : (await connect(task.node_id).catch(() => undefined))?.getContainer(task.container_id)
    const found = await container?.inspect().catch(() => undefined)
    return container && found && { container, found }
  }
  const { Image = '', Command, Args } = (spec.TaskTemplate as { ContainerSpec?: Docker.ContainerSpec } | undefined)?.ContainerSpec ?? {}
  // This node built or pulled every image.
  const image = await docker
    .getImage(Image)
    .inspect()
    .catch(() => undefined)
  const check = image?.Config.Healthcheck ?? {}
  const health = parseHealthcheckCommand(check, (image?.Config as { Shell?: string[] } | undefined)?.Shell)
  const existing = health && (await findContainer())
  return {
    id: task.service_id,
    deployment_id,
    command:
      formatArguments(Args ?? (Command ? [] : (image?.Config.Cmd ?? [])), Command ?? [image?.Config.Entrypoint ?? []].flat()) || 'its start command',
    ...((listen_port === null ? undefined : getEndpoint(listen_port)) ?? getEndpoint(assigned_port) ?? { host, port: assigned_port }),
    assigned_port,
    ...(node && { node: node.name }),
    ...(ports.length > 0 && { ports }),
    async getListeningPorts() {
      const running = await findContainer()
      if (!running) return []
      const { container, found } = running
      const isOwnNode = task.node_id === swarm.node_id
      const table = (isOwnNode && (await readNetworkTables(found.State.Pid))) || (await readContainerNetwork(container))
      return parseListeningSockets(table).map(({ port, loopback_only }) => {
        const endpoint = loopback_only ? undefined : getEndpoint(port)
        return { port, loopback_only, is_exposed: `${port}/tcp` in (found.Config.ExposedPorts ?? {}), endpoints: endpoint ? [endpoint] : [] }
      })
    },
    ...(existing && { runHealthcheck: () => runHealthcheck(existing.container, health, check, clock) }),
  }

  async function readContainerNetwork(from: Docker.Container): Promise<string> {
    const { code, output } = await execInContainer(from, ['cat', '/proc/net/tcp', '/proc/net/tcp6'], 5_000, clock)
    return code === 0 || code === 1 ? output : ''
  }
}

const formatArguments = (command: string[], entrypoint: string[]): string =>
  (command.length > 0 ? command : entrypoint).join(' ').replace(/^\/bin\/(?:sh|bash) -c /, '')

/** The start command for messages; that of the image is not known before a task runs. */
export const formatServiceCommand = ({ service }: StartRequest): string =>
  formatArguments(service?.command ?? [], service?.entrypoint ?? []) || 'the start command'
