import { readFileSync } from 'node:fs'
import type { NodeSecrets } from './protocol.ts'
import { startNodeEdge } from './node-edge.ts'

/**
 * The edge of another node of a cluster, as a program of its own. In its environment are HOMEPORT_EDGE_SECRETS, the path of its `NodeSecrets`, and
 * HOMEPORT_EDGE_STATE, a folder that is kept. HOMEPORT_EDGE_ADDRESS and HOMEPORT_EDGE_PORT are where the platform connects.
 */
const {
  HOMEPORT_EDGE_SECRETS: secrets = '',
  HOMEPORT_EDGE_STATE: directory = '',
  HOMEPORT_EDGE_ADDRESS: host = '',
  HOMEPORT_EDGE_PORT: port,
} = process.env
const edge = await startNodeEdge({ secrets: JSON.parse(readFileSync(secrets, 'utf8')) as NodeSecrets, directory, host, port: Number(port) })

for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => void edge.close().finally(() => process.exit()))
