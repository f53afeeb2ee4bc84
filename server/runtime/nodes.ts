import type { ClusterNode, JoinToken, NodeReplica } from '../contract/nodes.ts'

/** A node as the engine knows it; see the contract for its fields. */
export interface RuntimeNode extends Omit<ClusterNode, 'replicas' | 'edge'> {
  /**
   * `draining`: cordoned until the replicas of apps have moved; stored with the node, so that a restart goes on with it. `drained`: nothing that the
   * engine could move may run there.
   */
  availability: ClusterNode['availability']
  replicas: PlacedReplica[]
}

export interface PlacedReplica extends Pick<NodeReplica, 'deployment_id' | 'service' | 'replica' | 'state'> {
  /** Of the `Replica`. */
  id: string
  /** Labels that its node must have, as `key=value`. */
  node_labels: string[]
  project_id: string
}

/** The machines of a cluster. Methods throw the `Problem` `runtime_unavailable` where the engine cannot answer or decide. */
export interface RuntimeNodes {
  /** By name. */
  list(): Promise<RuntimeNode[]>
  setAvailability(nodeId: string, availability: RuntimeNode['availability']): Promise<void>
  /** Sets labels, and removes those whose value is null. */
  setLabels(nodeId: string, labels: Readonly<Record<string, string | null>>): Promise<void>
  /** Removes a node, also one that does not answer. A manager is made a worker first. */
  remove(nodeId: string): Promise<void>
  /** What a machine needs to join. */
  readJoinToken(role: ClusterNode['role']): Promise<JoinToken>
  /**
   * Runs the edge on each other node, and not on those that are gone; null: on none. Returns where it can be reached. `claimRestart`: whether one of them,
   * which has to restart for a new program or certificate, may do so now; asked only for that.
   */
  applyEdges(program: EdgeProgram | null, claimRestart: () => boolean): Promise<NodeEdgeEndpoint[]>
}

/** Modules that import nothing but each other and Node's own: texts by file name, and the one to run. */
export interface EdgeProgram {
  files: Readonly<Record<string, string>>
  entry: string
}

/** Where the edge of another node waits for the platform. */
export interface NodeEdgeEndpoint {
  node_id: string
  /** Its name. */
  node: string
  host: string
  port: number
  /** A TCP port that the machine has open to the other nodes. */
  open_port: number
  /** PEM. `servername` is the name in the certificate of the edge. */
  tls: { ca: string; cert: string; key: string; servername: string }
}
