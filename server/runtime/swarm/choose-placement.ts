import type Docker from 'dockerode'
import type { DockerEngine } from '../docker/engine.ts'
import type { StartRequest } from '../runtime.ts'
import { canTakeTasks, formatLabelConstraint, hasLabels, listNodes, requireManager } from './cluster.ts'
import type { NodeProbes } from './node-probes.ts'
import { hasEnded, isUnwanted, listTasks } from './tasks.ts'

/**
 * The constraints of a replica: nodes with the wanted labels whose machine answers, and of them those with the fewest replicas of the same app. `isSpread`
 * false: also the others, which may be all that have room.
 */
export async function choosePlacement(
  engine: DockerEngine,
  docker: Docker,
  { request, probes, isSpread }: { request: StartRequest; probes: Pick<NodeProbes, 'isSilent'>; isSpread: boolean },
): Promise<string[]> {
  const { swarm } = await requireManager(engine)
  const wanted = request.node_labels ?? []
  const all = await listNodes(docker, swarm)
  // The swarm would still place a replica on a node that it has not missed yet.
  const silent = all.filter(({ id }) => probes.isSilent(id)).map(({ id }) => `node.id!=${id}`)
  const constraints = [...wanted.map(formatLabelConstraint), ...silent]
  const nodes = all.filter((node) => canTakeTasks(node) && hasLabels(node, wanted) && !probes.isSilent(node.id))
  if (nodes.length < 2 || !isSpread) return constraints
  const filters = engine.createOwnFilters({ 'homeport.deployment': request.deployment_id, 'homeport.role': 'replica' })
  const siblings = await listTasks(docker, filters)
  const own = new Set(
    (await docker.listServices({ filters }))
      .filter(({ Spec }) => (Spec?.Labels?.['homeport.service'] ?? '') === (request.service?.name ?? ''))
      .map(({ ID }) => ID),
  )
  const used = siblings.filter((task) => own.has(task.service_id) && !hasEnded(task) && !isUnwanted(task)).map(({ node_id }) => node_id)
  const count = (id: string) => used.filter((one) => one === id).length
  const fewest = Math.min(...nodes.map(({ id }) => count(id)))
  return [...constraints, ...nodes.flatMap(({ id }) => (count(id) > fewest ? [`node.id!=${id}`] : []))]
}
