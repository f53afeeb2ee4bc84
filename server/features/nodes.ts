import { Problem } from '../contract/errors.ts'
import { limits } from '../contract/limits.ts'
import type { ClusterNode, nodeOperations } from '../contract/nodes.ts'
import type { RuntimeName } from '../contract/runtimes.ts'
import type { NodeEdgeStatus } from '../edge/nodes/node-link.ts'
import type { Runtime } from '../runtime/runtime.ts'
import type { PlacedReplica, RuntimeNode, RuntimeNodes } from '../runtime/nodes.ts'
import { findDeploymentById } from '../store/deployments.ts'
import { findProject } from '../store/projects.ts'
import { selectSurplus } from './balance-replicas.ts'
import type { OperationHandlers } from './context.ts'
import type { FeatureDeps } from './deps.ts'

/** The nodes of the cluster on which new deployments run. */
export function createNodeHandlers(deps: FeatureDeps): Pick<OperationHandlers, keyof typeof nodeOperations> {
  const { db } = deps.store
  /** Nodes whose replicas are being replaced, after which the engine drains them. A later change of a node ends its drain. */
  const draining = new Map<string, symbol>()
  /** One after the other, because each counts what runs where. */
  let moving: Promise<unknown> = Promise.resolve()
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const done = moving.then(work)
    moving = done.catch(() => {})
    return done
  }

  const findNodes = (): RuntimeNodes | undefined => deps.runtimes[deps.instance().runtime.name].nodes

  const requireNodes = (): RuntimeNodes => {
    const nodes = findNodes()
    if (nodes) return nodes
    throw new Problem('runtime_unavailable', 'This instance runs apps on one machine. Connect it to a cluster first (homeport help cluster).')
  }

  const findNode = async (nodes: RuntimeNodes, name: string): Promise<{ node: RuntimeNode; others: RuntimeNode[] }> => {
    const listed = await nodes.list()
    const node = listed.find(({ id }) => id === name) ?? listed.find((one) => one.name === name)
    if (node) return { node, others: listed.filter(({ id }) => id !== node.id) }
    const known = listed.map((one) => one.name).join(', ')
    throw new Problem('node_not_found', `The cluster has no node “${name}”. Its nodes are ${known}.`)
  }

  const present = (nodes: readonly RuntimeNode[]): ClusterNode[] =>
    db.readSync((tx) =>
      nodes.map(({ replicas, ...node }): ClusterNode => {
        const presented = replicas.flatMap(({ id: _, project_id, ...replica }) => {
          const project = findProject(tx, project_id)
          const deployment = findDeploymentById(tx, replica.deployment_id)
          if (!project || !deployment) return []
          const branch = deployment.target === 'preview' ? deployment.branch : null
          return [{ ...replica, project_slug: project.slug, project_name: project.name, branch }]
        })
        const order = (one: (typeof presented)[number]) => `${one.project_slug} ${one.branch ?? ''} ${one.service ?? ''} ${one.replica}`
        // One that does not answer never reports the end of what ran on it.
        const isEmptying = node.is_ready && node.availability === 'drained' && presented.length > 0
        return {
          ...node,
          edge: describeEdge(deps.nodeEdges.listStatuses().get(node.id)),
          availability: isEmptying ? 'draining' : node.availability,
          replicas: presented.toSorted((a, b) => order(a).localeCompare(order(b), 'en', { numeric: true })),
        }
      }),
    )

  const moveFrom = (replicas: readonly PlacedReplica[]): Promise<number> => {
    const ids = new Set(replicas.map(({ id }) => id))
    return ids.size === 0 ? Promise.resolve(0) : deps.deployments.moveReplicas((id) => ids.has(id))
  }

  /** The replicas of apps move before the engine drains the node, because the engine stops a replica before it starts another. */
  const startDraining = async (nodes: RuntimeNodes, node: RuntimeNode): Promise<void> => {
    if (draining.has(node.id)) return
    await nodes.setAvailability(node.id, 'draining')
    const drain = Symbol(node.id)
    draining.set(node.id, drain)
    const isCurrent = () => draining.get(node.id) === drain
    const moveReplicas = async () => {
      if (!isCurrent()) return
      const now = (await nodes.list()).find(({ id }) => id === node.id)
      if (now?.is_ready) await moveFrom(now.replicas)
      if (isCurrent()) await nodes.setAvailability(node.id, 'drained')
    }
    void inTurn(moveReplicas)
      .catch(async (error: unknown) => {
        deps.log.warn('node_not_drained', { node: node.name, error })
        if (isCurrent()) await nodes.setAvailability(node.id, 'cordoned').catch(() => {})
      })
      .finally(() => isCurrent() && draining.delete(node.id))
  }

  /** A restart goes on with the drains of the previous run, once the apps that it moves are supervised again. */
  const resumeDrains = async (nodes: RuntimeNodes): Promise<void> => {
    for (const node of await nodes.list()) if (node.availability === 'draining') await startDraining(nodes, node)
  }
  for (const [name, { nodes }] of Object.entries(deps.runtimes) as [RuntimeName, Pick<Runtime, 'nodes'>][])
    if (nodes)
      void deps.deployments
        .whenRecovered(name)
        .then(() => resumeDrains(nodes))
        .catch((error: unknown) => deps.log.warn('drains_not_resumed', { runtime: name, error }))

  return {
    async listNodes() {
      const nodes = findNodes()
      return { nodes: nodes ? present(await nodes.list()) : [] }
    },

    async updateNode(_context, { params, body: { availability, labels } }) {
      const nodes = requireNodes()
      const { node, others } = await findNode(nodes, params.node)
      if (labels) await setLabels(nodes, node, labels)
      if (availability && availability !== 'active' && !others.some((other) => other.is_ready && other.availability === 'active'))
        throw new Problem('node_in_use', `No other node takes apps. Add or activate one before ${node.name} stops taking them.`)
      if (availability === 'drained' && node.availability !== 'drained') await startDraining(nodes, node)
      else if (availability) {
        draining.delete(node.id)
        if (availability !== node.availability) await nodes.setAvailability(node.id, availability)
      }
      const [presented] = present([(await findNode(nodes, node.id)).node])
      if (!presented) throw new Problem('node_not_found', 'The node was removed in the meantime.')
      return { node: presented }
    },

    async removeNode(_context, { params }) {
      const nodes = requireNodes()
      const { node } = await findNode(nodes, params.node)
      if (node.is_control_plane) throw new Problem('node_in_use', `Homeport runs on ${node.name}, so it stays in the cluster.`)
      if (node.is_ready && (node.availability !== 'drained' || node.replicas.length > 0))
        throw new Problem('node_in_use', `${node.name} takes apps. Drain it, and remove it when it is empty.`)
      await nodes.remove(node.id)
      return { ok: true }
    },

    async createJoinToken(_context, { body: { role } }) {
      return requireNodes().readJoinToken(role)
    },

    async balanceNodes() {
      const nodes = requireNodes()
      return inTurn(async () => ({ moved: await moveFrom(selectSurplus(await nodes.list())) }))
    },
  }
}

const describeEdge = (status: NodeEdgeStatus | undefined): ClusterNode['edge'] => {
  if (!status) return null
  if (!status.is_connected) return 'not_connected'
  return status.problem === null ? 'serving' : 'not_listening'
}

/** Labels of Homeport's own are none of the user's. */
async function setLabels(nodes: RuntimeNodes, node: RuntimeNode, changes: Readonly<Record<string, string | null>>): Promise<void> {
  const reserved = Object.keys(changes).find((key) => key.startsWith('homeport.'))
  if (reserved !== undefined) throw invalidLabels(`The label ${reserved} belongs to Homeport. Choose another key.`)
  const labels = Object.entries({ ...node.labels, ...changes }).filter(([, value]) => value !== null)
  if (labels.length > limits.node_labels) throw invalidLabels(`A node has at most ${limits.node_labels} labels.`)
  await nodes.setLabels(node.id, changes)
}

const invalidLabels = (message: string): Problem => new Problem('invalid_input', message, { issues: [{ path: 'labels', message }] })
