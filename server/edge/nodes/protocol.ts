import type { WorkerCommand, WorkerEvent } from '../workers/protocol.ts'

/**
 * The messages between the platform and the edge of another node: those of a worker and some more, as lines of JSON over TLS with certificates on both
 * sides. The platform connects. Files of static sites are sent beforehand, as requests to the same port.
 */

export type NodeCommand =
  | WorkerCommand
  /** Where to listen. Sent before `start`, and again when it changes. */
  | { type: 'listen'; listeners: NodeListeners }
  /** The answer to `renew_lease`. */
  | { type: 'lease_renewed'; id: number }
  /** Answered with a `result`: those of the addresses that this node cannot connect to. */
  | { type: 'try_addresses'; id: number; addresses: TcpAddress[] }

export type NodeEvent =
  | WorkerEvent
  /** For how long the platform waits for this edge before a purge is complete. */
  | { type: 'renew_lease'; id: number }
  /** `problem`: why an address or port cannot be used; null once all are. */
  | { type: 'listening'; problem: string | null }

export interface TcpAddress {
  host: string
  port: number
}

export interface NodeListeners {
  /** `0.0.0.0` and `::` are all of them. */
  address: string
  port: number
  https_port: number
}

/** What the program of a node starts with. */
export interface NodeSettings {
  /** Where the platform connects. */
  host: string
  port: number
  /** What is kept. */
  directory: string
  /** PEM: its certificate and key, and the authority of the client. */
  cert: string
  key: string
  ca: string
  /** Base64: seals what it keeps on its disk. */
  state_key: string
}

/**
 * An edge serves cached responses for this long after it last heard of the platform, and the platform waits that long for one that is silent until a purge
 * is complete. Both count on their own clocks, the edge from the earlier moment.
 */
export const lease_ms = 5_000
export const renewalInterval_ms = 1_000

/** The name of the protocol in the request that opens the connection. */
export const upgradeProtocol = 'homeport-edge'
/** The header of that request with the epoch of the lease under which the platform leads; an edge follows no earlier one than it has seen. */
export const epochHeader = 'x-homeport-epoch'
/** A message with the routes of 10,000 projects has about 5 MB. */
export const maxMessage_bytes = 64 * 2 ** 20

/** The path of a static site at the port of the node, and of one of its files. */
export const sitePath = (site: string, file?: string): string =>
  `/sites/${site}${file === undefined ? '' : `/${file.split('/').map(encodeURIComponent).join('/')}`}`
