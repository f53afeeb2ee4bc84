import { createHash, createHmac } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import type Docker from 'dockerode'
import { edgeNodeFlags } from '../../lib/edge-node-flags.ts'
import { systemClock } from '../../lib/clock.ts'
import type { DockerEngine } from '../docker/engine.ts'
import type { EdgeProgram, NodeEdgeEndpoint } from '../nodes.ts'
import { createClientCertificate, createEdgeCertificate, edgeName, type ClusterIdentity } from './cluster-identity.ts'
import { listNodes, requireManager, type SwarmNode } from './cluster.ts'
import { gossipPort } from './node-probes.ts'
import { applyNodeService } from './node-service.ts'
import type { SharedImages } from './shared-images.ts'

/** Where the edge of a node waits for Homeport, at the private address of the node. */
const port = 7444
const day_ms = 86_400_000
const programPath = '/homeport-edge'
const statePath = '/var/lib/homeport-edge'

/** Unpacks the program, whose files import each other, and runs it. */
const createCommand = (entry: string): string[] => [
  'node',
  ...edgeNodeFlags,
  '-e',
  `const { mkdirSync, readFileSync, writeFileSync } = require('node:fs')
const files = JSON.parse(require('node:zlib').gunzipSync(readFileSync('${programPath}')))
mkdirSync('/tmp/edge', { recursive: true })
for (const [name, text] of Object.entries({ 'package.json': '{"type":"module"}', ...files })) writeFileSync('/tmp/edge/' + name, text)
const load = (path) => import(path)
load('/tmp/edge/${entry}')`,
  '/run/secrets/edge',
]

/** The edge of Homeport on each other node, as a service in the network of that machine, where the addresses of visitors and of all apps are. */
export function createSwarmEdges(engine: DockerEngine, deps: { images: SharedImages; readIdentity: () => Promise<ClusterIdentity> }) {
  const { clock = systemClock } = engine.options
  const labels = { 'homeport.role': 'edge' }
  let client: { tls: NodeEdgeEndpoint['tls']; until: number } | undefined

  const nameOf = (nodeId: string): string => createEdgeName(engine, nodeId)

  const ensureConfig = async (docker: Docker, program: EdgeProgram): Promise<{ ConfigID: string; ConfigName: string }> => {
    const data = gzipSync(JSON.stringify(program.files)).toString('base64')
    const ConfigName = engine.createName('edge', createHash('sha256').update(data).digest('hex').slice(0, 12))
    const known = await docker.listConfigs({ filters: JSON.stringify(engine.createOwnFilters(labels)) })
    const found = known.find(({ Spec }) => Spec?.Name === ConfigName)
    // Those of earlier versions, unless a service still has one.
    for (const { ID } of known.filter((one) => one !== found))
      await docker
        .getConfig(ID)
        .remove()
        .catch(() => {})
    if (found) return { ConfigID: found.ID, ConfigName }
    const { id } = (await docker.createConfig({ Name: ConfigName, Labels: engine.createLabels('edge'), Data: data })) as { id: string }
    return { ConfigID: id, ConfigName }
  }

  const apply = async (docker: Docker, program: EdgeProgram, node: SwarmNode, claimRestart: () => boolean) => {
    const name = nameOf(node.id)
    return applyNodeService(engine, deps, {
      role: 'edge',
      name,
      version: JSON.stringify([program, createCommand(''), node.address]),
      claimRestart,
      createCertificate: createEdgeCertificate,
      createSecret: ({ certificate: cert, key }, { authority }) =>
        JSON.stringify({
          host: node.address,
          port,
          directory: statePath,
          cert,
          key,
          ca: authority.certificate,
          state_key: createStateKey(authority.key, node.id),
        }),
      createSpec: async () => ({
        container: {
          Command: createCommand(program.entry),
          // Ports below 1024.
          CapabilityAdd: ['NET_BIND_SERVICE'],
          Mounts: [
            {
              Type: 'volume',
              Source: name,
              Target: statePath,
              VolumeOptions: { NoCopy: true, Labels: engine.createLabels('edge'), DriverConfig: {} },
            },
            { Type: 'tmpfs', Target: '/tmp' },
          ] as Docker.MountSettings[],
          Configs: [{ ...(await ensureConfig(docker, program)), File: { Name: programPath, UID: '0', GID: '0', Mode: 0o444 } }],
          StopGracePeriod: 10e9,
        },
        // Without a reservation, because it has to start on a full node too, for a moment beside the one that it replaces.
        resources: { Limits: { Pids: 128 } },
        is_started_first: true,
        networks: ['host'],
        constraint: `node.id==${node.id}`,
        is_global: false,
        ports: [],
      }),
    })
  }

  const getClient = async (): Promise<NodeEdgeEndpoint['tls']> => {
    if (client && client.until > clock.now()) return client.tls
    const identity = await deps.readIdentity()
    const { certificate: cert, key } = createClientCertificate(identity, clock.now())
    client = { tls: { ca: identity.authority.certificate, cert, key, servername: edgeName }, until: clock.now() + day_ms }
    return client.tls
  }

  return {
    /** See `RuntimeNodes`. */
    async applyEdges(program: EdgeProgram | null, claimRestart: () => boolean): Promise<NodeEdgeEndpoint[]> {
      const { docker, swarm } = await requireManager(engine)
      const others = (await listNodes(docker, swarm)).filter(({ id }) => id !== swarm.node_id)
      const wanted = program ? others : []
      const names = new Set(wanted.map(({ id }) => nameOf(id)))
      for (const service of await docker.listServices({ filters: engine.createOwnFilters(labels) }))
        if (!names.has(service.Spec?.Name ?? '')) await docker.getService(service.ID).remove()
      if (!program) return []
      // An update restarts an edge, so they are updated one after the other, one with each call.
      for (const node of wanted) if (node.is_ready && (await apply(docker, program, node, claimRestart)) === 'updated') break
      const tls = wanted.length > 0 ? await getClient() : undefined
      return wanted.flatMap((node) => (tls ? [{ node_id: node.id, node: node.name, host: node.address, port, open_port: gossipPort, tls }] : []))
    },
  }
}

/** Stops the edge of this node, whose ports Homeport is about to use itself. */
export async function removeOwnEdge(engine: DockerEngine): Promise<void> {
  const { docker, swarm } = await requireManager(engine)
  const name = createEdgeName(engine, swarm.node_id)
  const services = await docker.listServices({ filters: JSON.stringify({ name: [name] }) })
  for (const { ID, Spec } of services) if (Spec?.Name === name) await docker.getService(ID).remove()
}

const createEdgeName = (engine: DockerEngine, nodeId: string): string => engine.createName('edge', nodeId.slice(0, 12))

/** The same after a renewal, so that an edge can read what it has kept. */
const createStateKey = (authorityKey: string, nodeId: string): string =>
  createHmac('sha256', authorityKey).update(`edge state ${nodeId}`).digest('base64')
