import type { EdgeServer } from '../server.ts'
import type { WorkerReport } from './protocol.ts'

type WorkerChanges = Omit<WorkerReport, 'metrics' | 'records'>

/** Finds what changed at the edge since it was last asked. */
export function createReporter(edge: EdgeServer) {
  let idleBefore = new Map<string, number | undefined>()
  const cachedBefore = new Map<string, string>()

  return {
    read(): WorkerChanges {
      const now = performance.now()
      const changes: WorkerChanges = {
        last_requests: [...edge.takeLastRequests()],
        idle: [],
        loads: [],
        cached: [],
        connections: edge.countConnections(),
      }
      const projects = new Set<string>()
      const idleNow: typeof idleBefore = new Map()
      for (const host of edge.listHosts()) {
        const idle_since = edge.idleSince(host)
        idleNow.set(host, idle_since)
        if (!idleBefore.has(host) || idleBefore.get(host) !== idle_since) {
          changes.idle.push([host, idle_since === undefined ? null : now - idle_since])
        }
        const load = edge.listReplicaLoad(host)
        if (load.length > 1 || load.some(({ in_flight }) => in_flight > 0)) changes.loads.push([host, load])
        const project = edge.getRoute(host)?.project_id
        if (project !== undefined) projects.add(project)
      }
      idleBefore = idleNow
      for (const project of projects) {
        const stats = edge.cache.stats(project)
        const text = `${stats.objects} ${stats.bytes}`
        if ((cachedBefore.get(project) ?? '0 0') === text) continue
        cachedBefore.set(project, text)
        changes.cached.push([project, stats])
      }
      return changes
    },
  }
}
