import type { PlacedReplica, RuntimeNode } from '../../server/runtime/nodes.ts'

/** A node of a cluster that takes replicas. */
export const runtimeNode = (name: string, replicas: PlacedReplica[], more: Partial<RuntimeNode> = {}): RuntimeNode => ({
  id: `id-${name}`,
  name,
  address: '10.0.0.1',
  role: 'manager',
  is_leader: false,
  is_control_plane: false,
  is_ready: true,
  availability: 'active',
  cpus: 2,
  memory_mb: 4096,
  reserved_mb: 0,
  engine_version: null,
  labels: {},
  replicas,
  ...more,
})

export const placedReplica = (id: string, more: Partial<PlacedReplica> = {}): PlacedReplica => ({
  id,
  project_id: 'prj_a',
  deployment_id: 'dpl_a',
  service: null,
  replica: 1,
  state: 'running',
  node_labels: [],
  ...more,
})
