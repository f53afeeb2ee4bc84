import { createHash } from 'node:crypto'

/** The column `public_ports` of a project. */
export const parsePublicPorts = (json: string): number[] => JSON.parse(json) as number[]
export const formatPublicPorts = (ports: readonly number[]): string => JSON.stringify([...new Set(ports)])

/** The variable with the port on which an app listens for requests to one of its additional ports. */
export const getPortVariable = (port: number): string => `PORT_${port}`

/** The maximum length of a DNS label. */
const maxLabel_chars = 63

/**
 * The host label of a service other than the main one, `NAME--ENVIRONMENT`, or of an additional port, `NAME-PORT--ENVIRONMENT`; `environment` is the label
 * of the main service, which ends with the slug. A label that is too long is cut, with a hash in it. Undefined when the slug leaves no room.
 */
export function createServiceLabel(service: string, port: number | null, environment: string, slug: string): string | undefined {
  const name = `${service.replaceAll('_', '-')}${port === null ? '' : `-${port}`}`
  const label = `${name}--${environment}`
  if (label.length <= maxLabel_chars) return label
  const hash = createHash('sha256').update(label).digest('hex').slice(0, 8)
  const budget_chars = maxLabel_chars - slug.length - 3 - hash.length
  if (budget_chars < 1) return undefined
  return `${name.slice(0, budget_chars).replace(/-+$/, '')}-${hash}--${slug}`
}
