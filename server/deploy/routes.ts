import type { DeploymentTarget } from '../contract/deployments.ts'
import type { ProjectStatus } from '../contract/projects.ts'
import type { Edge, Page, Route } from '../edge/edge.ts'
import { listCurrent, listOpenOf } from '../store/deployments.ts'
import { listVerifiedHostnames } from '../store/domains.ts'
import type { Db } from '../store/open.ts'
import { findPreview, findPreviewByHost, previewFacts } from '../store/previews.ts'
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
  owner(place: Place): Pick<Route, 'project_id' | 'project_name' | 'deployment_id' | 'dashboard_url' | 'visited_as'>
  /** The name at the edge: of the project, or of the preview of a branch. */
  hostOf(place: Pick<Place, 'project_id' | 'target' | 'branch'>): string
  /** Routes a project to what serves it; resolves when the one before is drained. */
  set(place: Place, route: Route, drain_ms?: number): Promise<void>
  /** Since when nobody has visited it, as `Edge.idleSince` says of a name. */
  idleSince(place: Place): number | undefined
  /** Shows a page in place of an app. */
  page(place: Place, page: Page['page'], drain_ms: number): void
  /** Puts the page of the project's status, unless an app serves; takes the name away when the project is gone. */
  refresh(projectId: string): void
  /** A preview was closed: its name leads nowhere from now on. */
  forget(projectId: string, branch: string, host: string): void
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
  /** Hosts by project and branch ('' for production); kept because a project that is gone can no longer be asked for its names. */
  const hosts = new Map<string, Map<string, string>>()

  /** Undefined: the preview was closed, and routes no more. */
  const findHost = ({ project_id, target, branch }: Pick<Place, 'project_id' | 'target' | 'branch'>): string | undefined => {
    const key = target === 'production' ? '' : (branch ?? '')
    const known = hosts.get(project_id)?.get(key)
    if (known !== undefined) return known
    const host = db.readNow((tx) => {
      const project = findProject(tx, project_id)
      if (!project) return undefined
      return target === 'production' ? `${project.slug}.localhost` : findPreview(tx, project_id, key)?.host
    })
    if (host === undefined) return undefined
    const mine = hosts.get(project_id) ?? new Map<string, string>()
    hosts.set(project_id, mine.set(key, host))
    return host
  }
  const hostOf: Routes['hostOf'] = (place) => {
    const host = findHost(place)
    if (host === undefined)
      throw new Error(`${place.target === 'production' ? `Project ${place.project_id}` : 'A preview that was closed'} has no host.`)
    return host
  }
  const ofProject = (project_id: string) => hostOf({ project_id, target: 'production', branch: null })

  const put = (host: string | undefined, route: Route, drain_ms = 0): Promise<void> => {
    if (host === undefined) return Promise.resolve()
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

  const pageOfPreview = (host: string): Page | undefined =>
    db.readNow((tx) => {
      const preview = findPreviewByHost(tx, host)
      const project = preview && findProject(tx, preview.project_id)
      if (!preview || !project) return undefined
      const { is_served, is_open, status } = previewFacts(tx, preview.project_id, preview.branch) ?? {}
      const page = is_served ? 'starting' : is_open ? 'building' : status === 'failed' ? 'failed' : 'stopped'
      return { ...pageRoute(project), page, visited_as: host }
    })

  const owner: Routes['owner'] = (place) => {
    const project = db.readNow((tx) => findProject(tx, place.project_id))
    return {
      project_id: place.project_id,
      project_name: project?.name ?? '',
      deployment_id: place.deployment_id,
      dashboard_url: options.dashboardUrlOf(project?.slug ?? ''),
      ...(place.target === 'preview' ? { visited_as: findHost(place) } : {}),
    }
  }

  /** Takes a name away, unless another project has it by now. */
  const drop = (projectId: string, host: string): void => {
    edge.setNames(host, [])
    if (edge.route(host)?.project_id === projectId) void edge.removeRoute(host).catch(options.onError)
  }

  /** The name of a preview that nothing serves, and nothing is about to, has no route: its page is made up when it is asked for. */
  const refreshPreviews = (project: ProjectRow): void => {
    const mine = [...(hosts.get(project.id) ?? [])].filter(([branch]) => branch !== '')
    if (mine.length === 0) return
    const serving = db.readNow((tx) => [...listCurrent(tx, project.id), ...listOpenOf(tx, project.id).filter((row) => row.status === 'deploying')])
    const served = new Set(serving.filter((row) => row.target === 'preview').map((row) => row.branch))
    for (const [branch, host] of mine)
      if (!served.has(branch) && edge.route(host)?.project_id === project.id) void edge.removeRoute(host).catch(options.onError)
  }

  return {
    owner,
    hostOf,
    set: (place, route, drain_ms) => put(findHost(place), route, drain_ms),
    idleSince(place) {
      const host = findHost(place)
      return host === undefined ? undefined : edge.idleSince(host)
    },
    page(place, page, drain_ms) {
      void put(findHost(place), { ...owner(place), kind: 'page', page }, drain_ms)
    },
    refresh(projectId) {
      const project = db.readNow((tx) => findProject(tx, projectId))
      if (!project) {
        const mine = hosts.get(projectId)
        hosts.delete(projectId)
        for (const host of mine?.values() ?? []) drop(projectId, host)
        return
      }
      refreshPreviews(project)
      const host = ofProject(projectId)
      const now = edge.route(host)
      const served = now?.project_id === projectId && now.kind !== 'page'
      const gone = project.status === 'inactive' || project.status === 'created' || project.status === 'crashed'
      if (!served || gone) void put(host, pageRoute(project))
    },
    forget(projectId, branch, host) {
      hosts.get(projectId)?.delete(branch)
      drop(projectId, host)
    },
    refreshHosts(projectId) {
      const hostnames = db.readNow((tx) => findProject(tx, projectId) && listVerifiedHostnames(tx, projectId))
      if (!hostnames) return
      // Names under localhost are the projects' first names, whatever a row says.
      edge.setNames(
        ofProject(projectId),
        hostnames.filter((name) => !/(^|\.)localhost$/i.test(name)),
      )
    },
    pageOf(host) {
      const slug = host.endsWith('.localhost') ? host.slice(0, -'.localhost'.length) : ''
      const project = db.readNow((tx) => findProjectBySlug(tx, slug))
      return project ? pageRoute(project) : pageOfPreview(host)
    },
  }
}
