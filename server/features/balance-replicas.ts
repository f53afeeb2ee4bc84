import type { PlacedReplica, RuntimeNode } from '../runtime/nodes.ts'

/**
 * The replicas that should move so that each service has as many on every node as on another, plus or minus one, of those that have the labels which it asks
 * for. Those on nodes that hold more than their share, the last ones first, because the first of an app costs most to replace.
 */
export function selectSurplus(nodes: readonly RuntimeNode[]): PlacedReplica[] {
  const active = nodes.filter(({ is_ready, availability }) => is_ready && availability === 'active')
  const placed = active.flatMap((node) => node.replicas.map((replica) => ({ node: node.id, replica })))
  const services = Map.groupBy(placed, ({ replica: { deployment_id, service } }) => `${deployment_id} ${service ?? ''}`)
  return [...services.values()].flatMap((own) => {
    const wanted = own[0]?.replica.node_labels ?? []
    const usable = active.filter((node) => wanted.every((label) => Object.entries(node.labels).some(([key, value]) => label === `${key}=${value}`)))
    const byNode = usable.map(({ id }) => own.filter(({ node }) => node === id).map(({ replica }) => replica))
    const strays = own.filter(({ node }) => !usable.some(({ id }) => id === node)).map(({ replica }) => replica)
    const [least, rest] = [Math.floor(own.length / usable.length), own.length % usable.length]
    const surplus = byNode
      .toSorted((a, b) => b.length - a.length)
      .flatMap((replicas, rank) => replicas.toSorted((a, b) => a.replica - b.replica).slice(least + (rank < rest ? 1 : 0)))
    // A node has lost the label, or got it too late. Where none has it, they stay.
    return usable.length === 0 ? [] : [...strays, ...surplus]
  })
}
