import { createHash } from 'node:crypto'
import { checkServerIdentity, type ConnectionOptions } from 'node:tls'
import type Docker from 'dockerode'
import { systemClock } from '../../lib/clock.ts'
import type { DockerEngine } from '../docker/engine.ts'
import { ensureBaseImage } from '../docker/images.ts'
import { loadDockerode } from '../docker/load-dockerode.ts'
import { agentProgram } from './agent-program.ts'
import { agentName, createAgentCertificate, createClientCertificate, fingerprintOf, type ClusterIdentity } from './cluster-identity.ts'
import { listNodes, requireManager, type SwarmConnection } from './cluster.ts'
import { hasEnded, isUnwanted, listTasks } from './tasks.ts'
import type { ClusterRegistry } from './cluster-registry.ts'
import type { SharedImages } from './shared-images.ts'

const port = 7443
const day_ms = 86_400_000
/** Certificates of agents are valid for 60 days. */
const renewal_ms = 30 * day_ms
const check_ms = 3600_000
const retry_ms = 60_000
const connectTimeout_ms = 3_000
const silence_ms = 60_000
/** For how long a task is known to be the agent of its node. */
const known_ms = 10_000

/**
 * A small program on each other node, as a service of the swarm, through which Homeport reaches the containers of its apps there: figures, pausing, commands
 * and health checks, and the removal of images. Without it these are missing, and nothing else.
 */
export interface NodeAgents {
  /** The engine of a node as far as its agent allows; that of this node whole. Undefined where no agent answers. */
  connect(nodeId: string): Promise<Docker | undefined>
  /** Starts the agents, or renews them, in the background. */
  ensure(): void
  /** Removes an image of an app from all other nodes, by a name with its digest. */
  removeImages(names: string[]): Promise<void>
}

export function createNodeAgents(
  engine: DockerEngine,
  { registry, images, readIdentity }: { registry: ClusterRegistry; images: SharedImages; readIdentity: () => Promise<ClusterIdentity> },
): NodeAgents {
  const { clock = systemClock, log, instance_id } = engine.options
  const labels = { 'homeport.role': 'agent' }
  const clients = new Map<string, { task_id: string; docker: Docker; until: number; checked_at: number }>()
  let nextCheck = -Infinity

  /** False: there is no other node yet. */
  const start = async (): Promise<boolean> => {
    const manager = await requireManager(engine)
    const { docker, swarm } = manager
    if ((await listNodes(docker, swarm)).length < 2) return false
    const identity = await readIdentity()
    const [found] = await docker.listServices({ filters: engine.createOwnFilters(labels) })
    const base = await ensureBaseImage(engine, '24', () => {}, {
      registries: { logins: [], uses_docker_login: true },
      signal: new AbortController().signal,
    })
    const { Id } = await docker.getImage(base).inspect()
    const config = createHash('sha256')
      .update([agentProgram, Id, swarm.node_id, fingerprintOf(identity.authority.certificate)].join('\n'))
      .digest('hex')
    const own = found?.Spec?.Labels ?? {}
    if (own['homeport.config'] === config && Number(own['homeport.renewal']) > clock.now()) return true
    const { image, authconfig } = await images.share({
      artifact: { kind: 'image', image: base, id: Id, port: null, bytes: 0 },
      signal: new AbortController().signal,
    })
    await removeOldSecrets(docker)
    const spec = await createSpec(manager, identity, { image, config })
    if (found) await docker.getService(found.ID).update({ ...spec, authconfig, version: found.Version?.Index })
    else if (authconfig) await docker.createService(authconfig, spec)
    else await docker.createService(spec)
    log.info('node_agents_started')
    return true
  }

  const createSpec = async ({ docker, swarm }: SwarmConnection, identity: ClusterIdentity, { image, config }: { image: string; config: string }) => {
    const name = engine.createName('agent')
    const now = clock.now()
    const { certificate: cert, key } = createAgentCertificate(identity, now)
    const data = JSON.stringify({ cert, key, ca: identity.authority.certificate })
    const secretName = `${name}-${createHash('sha256').update(data).digest('hex').slice(0, 12)}`
    const { id: SecretID } = (await docker.createSecret({
      Name: secretName,
      Labels: engine.createLabels('agent'),
      Data: Buffer.from(data).toString('base64'),
    })) as { id: string }
    // A service without a network of its own would publish its port at all addresses.
    await engine.createPrivateNetwork(docker, { Name: name, Internal: false, Labels: engine.createLabels('network') })
    const network: { Id: string } = await docker.getNetwork(name).inspect()
    const spec: Docker.ServiceSpec = {
      Name: name,
      Labels: { ...engine.createLabels('agent'), 'homeport.config': config, 'homeport.renewal': String(now + renewal_ms) },
      TaskTemplate: {
        ContainerSpec: {
          Image: image,
          Labels: engine.createLabels('agent'),
          Command: ['node', '--max-old-space-size=32', '-e', agentProgram],
          Env: [`HOMEPORT_INSTANCE=${instance_id}`, `HOMEPORT_IMAGES=${await registry.getPrefix()}/${engine.createName()}/`],
          User: '0:0',
          ReadOnly: true,
          Init: true,
          CapabilityDrop: ['ALL'],
          Privileges: { NoNewPrivileges: true } as Docker.Privileges,
          Mounts: [{ Type: 'bind', Source: engine.options.docker?.node_socket ?? '/var/run/docker.sock', Target: '/var/run/docker.sock' }],
          Secrets: [{ SecretID, SecretName: secretName, File: { Name: 'agent', UID: '0', GID: '0', Mode: 0o400 } }],
        },
        Resources: { Limits: { MemoryBytes: 128 * 1024 * 1024, NanoCPUs: 5e8, Pids: 64 }, Reservations: { MemoryBytes: 32 * 1024 * 1024 } },
        RestartPolicy: { Condition: 'any', Delay: 2e9 },
        Placement: { Constraints: [`node.id!=${swarm.node_id}`] },
        Networks: [{ Target: network.Id }],
        LogDriver: { Name: 'json-file', Options: { 'max-size': '1m', 'max-file': '1' } },
      },
      Mode: { Global: {} },
      EndpointSpec: { Mode: 'dnsrr', Ports: [{ Protocol: 'tcp', TargetPort: port, PublishMode: 'host' }] },
    }
    return spec
  }

  /** All but the newest, which tasks may still have. */
  const removeOldSecrets = async (docker: Docker): Promise<void> => {
    const secrets = await docker.listSecrets({ filters: JSON.stringify(engine.createOwnFilters(labels)) })
    for (const { ID } of secrets.toSorted((a, b) => ((a.CreatedAt ?? '') < (b.CreatedAt ?? '') ? -1 : 1)).slice(0, -1))
      await docker
        .getSecret(ID)
        .remove()
        .catch(() => {})
  }

  const ensure = (): void => {
    if (clock.monotonic() < nextCheck) return
    nextCheck = clock.monotonic() + check_ms
    const check = start().catch((error: unknown) => {
      log.warn('node_agents_not_started', { error })
      return false
    })
    engine.runInBackground(
      check.then((isStarted) => {
        if (!isStarted) nextCheck = clock.monotonic() + retry_ms
      }),
    )
  }

  const createClient = async (host: string, clientPort: number): Promise<Docker> => {
    const identity = await readIdentity()
    const { certificate: cert, key } = createClientCertificate(identity, clock.now())
    const DockerClient = await loadDockerode()
    // dockerode passes them on, but has no types for two of them.
    const options: Docker.DockerOptions & Pick<ConnectionOptions, 'checkServerIdentity'> & { connectionTimeout: number } = {
      protocol: 'https',
      host,
      port: clientPort,
      ca: identity.authority.certificate,
      cert,
      key,
      checkServerIdentity: (_host, certificate) => checkServerIdentity(agentName, certificate),
      connectionTimeout: connectTimeout_ms,
      timeout: silence_ms,
    }
    return new DockerClient(options)
  }

  const connect = async (nodeId: string): Promise<Docker | undefined> => {
    const manager = await requireManager(engine)
    if (nodeId === manager.swarm.node_id) return manager.docker
    ensure()
    const now = clock.monotonic()
    const known = clients.get(nodeId)
    if (known && now - known.checked_at < known_ms) return known.docker
    const [nodes, tasks] = await Promise.all([listNodes(manager.docker, manager.swarm), listTasks(manager.docker, engine.createOwnFilters(labels))])
    const node = nodes.find(({ id }) => id === nodeId)
    const task = tasks.findLast((one) => one.node_id === nodeId && one.state === 'running' && !hasEnded(one) && !isUnwanted(one))
    const published = task?.ports.find(({ target }) => target === port)?.published
    if (!node?.is_ready || !task || published === undefined) {
      clients.delete(nodeId)
      return undefined
    }
    const isSame = known?.task_id === task.id && known.until > now
    const docker = isSame ? known.docker : await createClient(node.address, published)
    clients.set(nodeId, { task_id: task.id, docker, until: isSame ? known.until : now + day_ms, checked_at: now })
    return docker
  }

  return {
    connect,
    ensure,
    async removeImages(names) {
      const { docker, swarm } = await requireManager(engine)
      for (const { id } of await listNodes(docker, swarm)) {
        const remote = id === swarm.node_id ? undefined : await connect(id)
        for (const name of remote ? names : [])
          await remote
            ?.getImage(name)
            // Also with a container that has ended.
            .remove({ force: true })
            .catch(() => {})
      }
    },
  }
}
