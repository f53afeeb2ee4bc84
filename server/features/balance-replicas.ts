import type { PlacedReplica, RuntimeNode } from '../runtime/nodes.ts'

/**
 * The replicas that should move so that each service has as many on every node as on another, plus or minus one. Those on nodes that hold more than their
 * share, the last ones first, because the first of an app costs most to replace.
 */
export function selectSurplus(nodes: readonly RuntimeNode[]): PlacedReplica[] {
  const usable = nodes.filter(({ is_ready, availability }) => is_ready && availability === 'active')
  const placed = usable.flatMap((node) => node.replicas.map((replica) => ({ node: node.id, replica })))
  const services = Map.groupBy(placed, ({ replica: { deployment_id, service } }) => `${deployment_id} ${service ?? ''}`)
  return [...services.values()].flatMap((own) => {
    const byNode = usable.map(({ id }) => own.filter(({ node }) => node === id).map(({ replica }) => replica))
    const [least, rest] = [Math.floor(own.length / usable.length), own.length % usable.length]
    return byNode
      .toSorted((a, b) => b.length - a.length)
      .flatMap((replicas, rank) => replicas.toSorted((a, b) => a.replica - b.replica).slice(least + (rank < rest ? 1 : 0)))
  })
}
