import { z } from 'zod'
import { limits } from './limits.ts'
import { operation } from './operation.ts'
import { empty, okResponse } from './shared.ts'

export const nodeRoles = ['manager', 'worker'] as const
/** `cordoned`: takes no new replicas. `draining`: its replicas move to other nodes, after which it is `drained`. */
export const nodeAvailabilities = ['active', 'cordoned', 'draining', 'drained'] as const
/** `not_connected`: it does not answer, and continues with what it knew. `not_listening`: it cannot use an address or a port. */
export const nodeEdgeStates = ['serving', 'not_listening', 'not_connected'] as const
export const nodeReplicaStates = ['starting', 'running', 'stopping'] as const

/** Docker has its own rules for the key; these are narrower. */
const labelKey = z.string().regex(/^[a-zA-Z0-9][a-zA-Z0-9._-]{0,62}$/, 'A key has up to 63 letters, digits, dots, hyphens and underscores.')
const labelValue = z.string().regex(/^[a-zA-Z0-9][a-zA-Z0-9._-]{0,62}$/, 'A value has up to 63 letters, digits, dots, hyphens and underscores.')

/** Labels that a node must have. */
export const requiredNodeLabels = z
  .array(z.string().regex(/^[a-zA-Z0-9][a-zA-Z0-9._-]{0,62}=[a-zA-Z0-9][a-zA-Z0-9._-]{0,62}$/, 'Write a label as key=value, such as disk=ssd.'))
  .max(limits.node_labels)

export const nodeReplica = z.object({
  project_slug: z.string(),
  project_name: z.string(),
  deployment_id: z.string(),
  branch: z.string().nullable().describe('Of a preview; null for production.'),
  service: z.string().nullable().describe('Null for the only service of its app.'),
  replica: z.number().int().describe('From 1.'),
  state: z.enum(nodeReplicaStates),
})
export type NodeReplica = z.output<typeof nodeReplica>

export const clusterNode = z.object({
  id: z.string(),
  name: z.string(),
  address: z.string(),
  role: z.enum(nodeRoles),
  is_leader: z.boolean().describe('The manager that decides.'),
  is_control_plane: z.boolean().describe('Homeport runs on it, with its builds, databases and volumes.'),
  is_ready: z.boolean().describe('It answers the managers of the cluster.'),
  availability: z.enum(nodeAvailabilities),
  cpus: z.number(),
  memory_mb: z.number().int(),
  reserved_mb: z.number().int().describe('Memory that the cluster holds for its replicas: half of their limits.'),
  engine_version: z.string().nullable(),
  labels: z.record(z.string(), z.string()).describe('Which projects can ask for with `node_labels`.'),
  edge: z
    .enum(nodeEdgeStates)
    .nullable()
    .describe(
      'The edge of Homeport there, at which apps can be reached. `not_connected`: it does not answer, and continues with what it knew. Null on the node of Homeport, and if the instance listens on loopback only.',
    ),
  replicas: z.array(nodeReplica).describe('Of projects of this instance, by project.'),
})
export type ClusterNode = z.output<typeof clusterNode>

const joinToken = z.object({
  address: z.string().describe('Of a manager: host and port.'),
  token: z.string(),
  registry: z
    .string()
    .nullable()
    .describe('The registry that Homeport manages, as `HOST:PORT@sha256:FINGERPRINT` of its certificate authority. Null for one of the operator.'),
})
export type JoinToken = z.output<typeof joinToken>

const nodeParams = z.object({ node: z.string().describe('The name or ID of a node.') })

/** Instance-only operations: the machines of the cluster on which apps run. */
export const nodeOperations = {
  listNodes: operation({
    method: 'GET',
    path: '/instance/nodes',
    group: 'Instance',
    summary: 'List the nodes of the cluster with their replicas',
    description: 'An instance that runs apps on one machine has none.',
    access: 'owner',
    params: empty,
    query: empty,
    success: { status: 200, json: z.object({ nodes: z.array(clusterNode) }) },
    errors: ['runtime_unavailable'],
  }),
  updateNode: operation({
    method: 'PATCH',
    path: '/instance/nodes/{node}',
    group: 'Instance',
    summary: 'Cordon, drain or activate a node, or change its labels',
    description:
      '`cordoned`: it takes no new replicas, and those that run stay. `drained`: its replicas are replaced on other nodes one by one, each before the old one stops, and then the cluster moves the rest; until then it is `draining`. `active`: it takes replicas again; those on other nodes stay there until they are balanced. A label whose value is null is removed; the others are set, and replicas that run stay where they are.',
    access: 'owner',
    params: nodeParams,
    query: empty,
    body: z
      .strictObject({
        availability: z.enum(['active', 'cordoned', 'drained']).optional(),
        labels: z
          .record(labelKey, labelValue.nullable())
          .refine((labels) => Object.keys(labels).length <= limits.node_labels, `Change at most ${limits.node_labels} labels at once.`)
          .optional(),
      })
      .refine(({ availability, labels }) => availability !== undefined || labels !== undefined, 'Write an availability or labels.'),
    success: { status: 200, json: z.object({ node: clusterNode }) },
    errors: ['invalid_input', 'node_not_found', 'node_in_use', 'runtime_unavailable'],
  }),
  removeNode: operation({
    method: 'DELETE',
    path: '/instance/nodes/{node}',
    group: 'Instance',
    summary: 'Remove a node from the cluster',
    description: 'A node that answers must be drained first. The engine of a removed node keeps running and can join again.',
    access: 'owner',
    params: nodeParams,
    query: empty,
    success: { status: 200, json: okResponse },
    errors: ['node_not_found', 'node_in_use', 'runtime_unavailable'],
  }),
  createJoinToken: operation({
    method: 'POST',
    path: '/instance/nodes/join-token',
    group: 'Instance',
    summary: 'Get the token with which a machine joins the cluster',
    description: 'It is secret: who has it can add a machine that receives apps and their variables.',
    access: 'owner',
    params: empty,
    query: empty,
    body: z.strictObject({ role: z.enum(nodeRoles).default('worker') }),
    // The first one starts the registry of the cluster.
    is_slow: true,
    success: { status: 200, json: joinToken },
    errors: ['invalid_input', 'runtime_unavailable'],
  }),
  balanceNodes: operation({
    method: 'POST',
    path: '/instance/nodes/balance',
    group: 'Instance',
    summary: 'Spread the replicas of each app over the nodes again',
    description: 'After a node was added, or answers again. Each replica is replaced before the old one stops.',
    access: 'owner',
    params: empty,
    query: empty,
    success: { status: 200, json: z.object({ moved: z.number().int().describe('Replicas that run on another node now.') }) },
    errors: ['runtime_unavailable'],
  }),
}
