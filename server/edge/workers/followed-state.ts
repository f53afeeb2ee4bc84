import type { CaptureCriteria } from '../capture-rule.ts'
import type { EdgeServer } from '../server.ts'
import type { WorkerCommand, WorkerState } from './protocol.ts'

type Tables = Pick<WorkerState, 'aliases' | 'challenges' | 'captures' | 'uncached_projects' | 'cache_changes' | 'routes'>

/** What the platform has said, applied to the edge of a worker. It may be said again as a whole, and can be read as a whole. */
export interface FollowedState {
  /** Makes everything as the platform says, whatever it was before. Routes that stay keep their requests. */
  follow(next: WorkerState): void
  /** Applies one change. */
  apply(command: Extract<WorkerCommand, { type: 'set_aliases' | 'set_challenges' | 'set_capture' | 'set_caching' }>): void
  /** Which state of a project's cache this worker has seen: the number of purges and invalidations. */
  countCacheChange(projectId: string): void
  getCacheChanges(projectId: string): number
  readTables(): Tables
}

export function createFollowedState(edge: EdgeServer): FollowedState {
  const aliases = new Map<string, readonly string[]>()
  const challenges = new Map<string, Readonly<Record<string, string>>>()
  const captures = new Map<string, CaptureCriteria>()
  const uncachedProjects = new Set<string>()
  const cacheChanges = new Map<string, number>()
  let platform_start: string | undefined

  const listRoutes = (): WorkerState['routes'] =>
    edge.listHosts().flatMap((host): WorkerState['routes'] => {
      const route = edge.getRoute(host)
      return route ? [[host, route]] : []
    })

  const followRoutes = (next: WorkerState['routes']): void => {
    const hosts = new Set(next.map(([host]) => host))
    for (const [host] of listRoutes()) if (!hosts.has(host)) void edge.removeRoute(host)
    for (const [host, route] of next) if (JSON.stringify(edge.getRoute(host)) !== JSON.stringify(route)) void edge.setRoute(host, route)
  }

  /** What was purged or invalidated while nothing was heard is not known, so all of these projects goes. */
  const dropMissedChanges = (next: WorkerState): void => {
    const counts = new Map(next.cache_changes)
    const projects = new Set([...listRoutes().map(([, { project_id }]) => project_id), ...cacheChanges.keys(), ...counts.keys()])
    for (const id of projects)
      if (next.platform_start !== platform_start || counts.get(id) !== cacheChanges.get(id)) void edge.cache.purge(id, { all: true })
  }

  const countCacheChange = (projectId: string): void => void cacheChanges.set(projectId, (cacheChanges.get(projectId) ?? 0) + 1)

  return {
    follow(next) {
      edge.setHttpsPort(next.https_port)
      if (platform_start !== undefined) dropMissedChanges(next)
      platform_start = next.platform_start
      replaceAll(cacheChanges, next.cache_changes, () => {})
      followRoutes(next.routes)
      replaceAll(aliases, next.aliases, (host, names) => edge.setAliases(host, names ?? []))
      replaceAll(challenges, next.challenges, (host, responses) => void edge.setChallenges(host, responses ?? {}))
      replaceAll(captures, next.captures, (project, criteria) => edge.requests.setCapture(project, criteria ?? null))
      for (const [host, route] of next.development_routes) edge.setDevelopmentRoute(host, route)
      for (const project of uncachedProjects) if (!next.uncached_projects.includes(project)) edge.cache.setEnabled(project, true)
      uncachedProjects.clear()
      for (const project of next.uncached_projects) {
        uncachedProjects.add(project)
        edge.cache.setEnabled(project, false)
      }
    },
    apply(command) {
      switch (command.type) {
        case 'set_aliases':
          aliases.set(command.host, command.names)
          return edge.setAliases(command.host, command.names)
        case 'set_challenges':
          challenges.set(command.host, command.responses)
          return void edge.setChallenges(command.host, command.responses)
        case 'set_capture':
          if (command.criteria) captures.set(command.project_id, command.criteria)
          else captures.delete(command.project_id)
          return edge.requests.setCapture(command.project_id, command.criteria)
        case 'set_caching':
          countCacheChange(command.project_id)
          if (command.is_enabled) uncachedProjects.delete(command.project_id)
          else uncachedProjects.add(command.project_id)
          return edge.cache.setEnabled(command.project_id, command.is_enabled)
      }
    },
    countCacheChange,
    getCacheChanges: (projectId) => cacheChanges.get(projectId) ?? 0,
    readTables: () => ({
      routes: listRoutes(),
      aliases: [...aliases],
      challenges: [...challenges],
      captures: [...captures],
      uncached_projects: [...uncachedProjects],
      cache_changes: [...cacheChanges],
    }),
  }
}

function replaceAll<Value>(map: Map<string, Value>, entries: [string, Value][], set: (key: string, value: Value | undefined) => void): void {
  const kept = new Set(entries.map(([key]) => key))
  for (const key of map.keys()) if (!kept.has(key)) set(key, undefined)
  map.clear()
  for (const [key, value] of entries) {
    map.set(key, value)
    set(key, value)
  }
}
