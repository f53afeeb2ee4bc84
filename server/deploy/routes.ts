import type { DeploymentTarget } from '../contract/deployments.ts'
import type { ProjectStatus } from '../contract/projects.ts'
import type { Edge, Page, Route } from '../edge/edge.ts'
import { listCurrent } from '../store/deployments.ts'
import { listVerifiedHostnames } from '../store/domains.ts'
import type { Db } from '../store/open.ts'
import { findProject, findProjectBySlug } from '../store/projects.ts'
import type { ProjectRow } from '../store/tables.ts'

interface Place {
  project_id: string
  deployment_id: string | null
  target: DeploymentTarget
  branch: string | null
}

/** Keeps the edge's table in step with the projects: an app where one serves, else the page that says why not. */
export interface Routes {
  owner(projectId: string, deploymentId: string | null): Pick<Route, 'project_id' | 'project_name' | 'deployment_id' | 'dashboard_url'>
  /** Routes a project to what serves it; resolves when the one before is drained. */
  set(place: Place, route: Route, drain_ms?: number): Promise<void>
  /** Since when nobody has visited it, as `Edge.idleSince` says of a name. */
  idleSince(place: Place): number | undefined
  /** Shows a page in place of an app. */
  page(projectId: string, place: Place, page: Page['page'], drain_ms: number): void
  /** Puts the page of the project's status, unless an app serves; takes the name away when the project is gone. */
  refresh(projectId: string): void
  /** The project's own hostnames have changed: those that are verified route, and no others. */
  refreshHosts(projectId: string): void
  /** What a name without a route gets: the page of its project's status, or undefined when there is no such project. */
  pageOf(host: string): Page | undefined
}

const pageOf: Record<ProjectStatus, Page['page']> = {
  created: 'not_deployed',
  building: 'building',
  live: 'starting',
  failed: 'failed',
  crashed: 'crashed',
  inactive: 'stopped',
}

export function createRoutes(options: { edge: Edge; db: Db; dashboardUrlOf(slug: string): string; onError(error: unknown): void }): Routes {
  const { edge, db } = options
  /** Host by project; kept because a project that is gone can no longer be asked for its slug. */
  const hosts = new Map<string, string>()

  const hostOf = (projectId: string): string => {
    const known = hosts.get(projectId)
    if (known !== undefined) return known
    const project = db.readNow((tx) => findProject(tx, projectId))
    if (!project) throw new Error(`Project ${projectId} has no host.`)
    const host = `${project.slug}.localhost`
    hosts.set(projectId, host)
    return host
  }

  const put = (host: string, route: Route, drain_ms = 0): Promise<void> => {
    const drained = edge.setRoute(host, route, { drain_ms })
    drained.catch(options.onError)
    return drained
  }

  const pageRoute = (project: ProjectRow): Page => ({
    kind: 'page',
    page: project.status === 'building' ? meanwhile(project) : pageOf[project.status],
    project_id: project.id,
    project_name: project.name,
    deployment_id: null,
    dashboard_url: options.dashboardUrlOf(project.slug),
  })

  /** A new version is being built: the one before is on its way, if there is one. */
  const meanwhile = (project: ProjectRow): Page['page'] => {
    if (project.crashed_at !== null) return 'crashed'
    return db.readNow((tx) => listCurrent(tx, project.id)).some((row) => row.target === 'production') ? 'starting' : 'building'
  }

  const owner: Routes['owner'] = (projectId, deploymentId) => {
    const project = db.readNow((tx) => findProject(tx, projectId))
    return {
      project_id: projectId,
      project_name: project?.name ?? '',
      deployment_id: deploymentId,
      dashboard_url: options.dashboardUrlOf(project?.slug ?? ''),
    }
  }

  return {
    owner,
    set: (place, route, drain_ms) => put(hostOf(place.project_id), route, drain_ms),
    idleSince: (place) => edge.idleSince(hostOf(place.project_id)),
    page(projectId, place, page, drain_ms) {
      void put(hostOf(projectId), { ...owner(projectId, place.deployment_id), kind: 'page', page }, drain_ms)
    },
    refresh(projectId) {
      const project = db.readNow((tx) => findProject(tx, projectId))
      if (!project) {
        const host = hosts.get(projectId)
        hosts.delete(projectId)
        if (host !== undefined) edge.setNames(host, [])
        // Another project may have taken the name by now.
        if (host !== undefined && edge.route(host)?.project_id === projectId) void edge.removeRoute(host).catch(options.onError)
        return
      }
      const host = hostOf(projectId)
      const now = edge.route(host)
      const served = now?.project_id === projectId && now.kind !== 'page'
      const gone = project.status === 'inactive' || project.status === 'created' || project.status === 'crashed'
      if (!served || gone) void put(host, pageRoute(project))
    },
    refreshHosts(projectId) {
      const hostnames = db.readNow((tx) => findProject(tx, projectId) && listVerifiedHostnames(tx, projectId))
      if (!hostnames) return
      // Names under localhost are the projects' first names, whatever a row says.
      edge.setNames(
        hostOf(projectId),
        hostnames.filter((name) => !/(^|\.)localhost$/i.test(name)),
      )
    },
    pageOf(host) {
      const slug = host.endsWith('.localhost') ? host.slice(0, -'.localhost'.length) : ''
      const project = db.readNow((tx) => findProjectBySlug(tx, slug))
      return project && pageRoute(project)
    },
  }
}
