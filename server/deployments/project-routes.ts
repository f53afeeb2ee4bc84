import type { DeploymentTarget } from '../contract/deployments.ts'
import type { ProjectStatus } from '../contract/projects.ts'
import type { Edge, StatusPage, Route } from '../edge/edge.ts'
import { findCurrentProductionDeployment, listCurrentDeployments, listOpenDeployments } from '../store/deployments.ts'
import { createServiceLabel } from '../lib/public-ports.ts'
import { listVerifiedHostnames } from '../store/domains.ts'
import type { Db } from '../store/store.ts'
import { findPreview, findPreviewByHost, readPreviewStatus } from '../store/previews.ts'
import { findProject, findProjectBySlug } from '../store/projects.ts'
import type { ProjectRow } from '../store/tables.ts'

interface RouteSlot {
  project_id: string
  deployment_id: string | null
  target: DeploymentTarget
  branch: string | null
}

/** The address of a service other than the main one, or of an additional port of any service. */
export interface ServiceRoute {
  service: string
  port: number | null
  route: Route
}

/** Keeps the edge's routes in step with the projects: an app that is live, else a page with the status. */
export interface ProjectRoutes {
  getRouteMetadata(slot: RouteSlot): Pick<Route, 'project_id' | 'project_name' | 'deployment_id' | 'dashboard_url' | 'visited_as'>
  /** The host at the edge: of the project, or of the preview of a branch. */
  getHost(slot: Pick<RouteSlot, 'project_id' | 'target' | 'branch'>): string
  /** Routes a host to an app; resolves when the previous app is drained. */
  setRoute(slot: RouteSlot, route: Route, drain_ms?: number): Promise<void>
  /** The host of a service other than the main one, or of an additional port; undefined when something else has the name, or no name is short enough. */
  findServiceHost(slot: Pick<RouteSlot, 'project_id' | 'target' | 'branch'>, service: string, port?: number | null): string | undefined
  /** Routes the addresses `NAME--SLUG.localhost` and `NAME-PORT--SLUG.localhost`; unlisted ones lose theirs. The first of two with one name gets it. */
  setServiceRoutes(slot: RouteSlot, routes: readonly ServiceRoute[]): void
  /** The time since when no visit has happened, as `Edge.idleSince` reports for a host. */
  idleSince(slot: RouteSlot): number | undefined
  /** Shows a status page instead of an app. */
  showPage(slot: RouteSlot, showPage: StatusPage['page'], drain_ms: number): void
  /** Shows the page of the project's status, unless an app is live; removes the host when the project was deleted. */
  refreshProject(projectId: string): void
  /** Removes the host of a closed preview. */
  removePreview(projectId: string, branch: string, host: string): void
  /** Applies changed custom domains of a project: verified domains get routes, others lose theirs. */
  refreshHosts(projectId: string): void
  /** The status page for a host without a route, or undefined when no project has this host. */
  getStatusPage(host: string): StatusPage | undefined
}

const serviceDrain_ms = 10_000

const statusPages: Record<ProjectStatus, StatusPage['page']> = {
  created: 'not_deployed',
  building: 'building',
  live: 'starting',
  failed: 'failed',
  crashed: 'crashed',
  inactive: 'stopped',
}

export function createProjectRoutes(options: {
  edge: Edge
  db: Db
  dashboardUrlOf(slug: string): string
  onError(error: unknown): void
}): ProjectRoutes {
  const { edge, db } = options
  /** Hosts by project and branch ('' for production), kept because the rows of a deleted project no longer exist. */
  const hosts = new Map<string, Map<string, string>>()

  /** Hosts of services other than the main one, by the host of their environment. */
  const serviceHosts = new Map<string, string[]>()
  const mainHostOf = new Map<string, string>()

  /** Undefined: the preview was closed and gets no route. */
  const findHost = ({ project_id, target, branch }: Pick<RouteSlot, 'project_id' | 'target' | 'branch'>): string | undefined => {
    const key = target === 'production' ? '' : (branch ?? '')
    const cachedHost = hosts.get(project_id)?.get(key)
    if (cachedHost !== undefined) return cachedHost
    const host = db.readSync((tx) => {
      const project = findProject(tx, project_id)
      if (!project) return undefined
      return target === 'production' ? `${project.slug}.localhost` : findPreview(tx, project_id, key)?.host
    })
    if (host === undefined) return undefined
    const projectHosts = hosts.get(project_id) ?? new Map<string, string>()
    hosts.set(project_id, projectHosts.set(key, host))
    return host
  }
  const getHost: ProjectRoutes['getHost'] = (slot) => {
    const host = findHost(slot)
    if (host === undefined) throw new Error(`${slot.target === 'production' ? `Project ${slot.project_id}` : 'A closed preview'} has no host.`)
    return host
  }
  const getProductionHost = (project_id: string) => getHost({ project_id, target: 'production', branch: null })

  const findServiceHost: ProjectRoutes['findServiceHost'] = (slot, service, port = null) => {
    const mainHost = findHost(slot)
    const environment = mainHost?.slice(0, -'.localhost'.length)
    const slug = db.readSync((tx) => findProject(tx, slot.project_id))?.slug
    const label = environment === undefined || slug === undefined ? undefined : createServiceLabel(service, port, environment, slug)
    if (label === undefined || mainHost === undefined) return undefined
    const host = `${label}.localhost`
    // The preview of a branch may have the same name as a service, and a service of a preview the same as one of production.
    const owner = mainHostOf.get(host)
    return (owner !== undefined && owner !== mainHost) || db.readSync((tx) => findPreviewByHost(tx, host) ?? findProjectBySlug(tx, label))
      ? undefined
      : host
  }

  const applyRoute = (host: string | undefined, route: Route, drain_ms = 0): Promise<void> => {
    if (host === undefined) return Promise.resolve()
    const drained = edge.setRoute(host, route, { drain_ms })
    drained.catch(options.onError)
    return drained
  }

  const createStatusPage = (project: ProjectRow): StatusPage => ({
    kind: 'page',
    page: project.status === 'building' ? choosePageWhileBuilding(project) : statusPages[project.status],
    project_id: project.id,
    project_name: project.name,
    deployment_id: project.crashed_at === null ? null : (db.readSync((tx) => findCurrentProductionDeployment(tx, project.id))?.id ?? null),
    dashboard_url: options.dashboardUrlOf(project.slug),
  })

  /** The page during a build: an existing version is starting, if there is one. */
  const choosePageWhileBuilding = (project: ProjectRow): StatusPage['page'] => {
    if (project.crashed_at !== null) return 'crashed'
    return db.readSync((tx) => listCurrentDeployments(tx, project.id)).some((row) => row.target === 'production') ? 'starting' : 'building'
  }

  const findPreviewPage = (host: string): StatusPage | undefined =>
    db.readSync((tx) => {
      const preview = findPreviewByHost(tx, host)
      const project = preview && findProject(tx, preview.project_id)
      if (!preview || !project) return undefined
      const { is_serving: is_served, is_building: is_open, status } = readPreviewStatus(tx, preview.project_id, preview.branch) ?? {}
      const page = is_served ? 'starting' : is_open ? 'building' : status === 'failed' ? 'failed' : 'stopped'
      return { ...createStatusPage(project), page, visited_as: host }
    })

  const getRouteMetadata: ProjectRoutes['getRouteMetadata'] = (slot) => {
    const project = db.readSync((tx) => findProject(tx, slot.project_id))
    return {
      project_id: slot.project_id,
      project_name: project?.name ?? '',
      deployment_id: slot.deployment_id,
      dashboard_url: options.dashboardUrlOf(project?.slug ?? ''),
      ...(slot.target === 'preview' ? { visited_as: findHost(slot) } : {}),
    }
  }

  /** Removes a host with those of its services, unless another project uses it now. */
  const removeHost = (projectId: string, host: string): void => {
    for (const one of serviceHosts.get(host) ?? []) removeHost(projectId, one)
    serviceHosts.delete(host)
    mainHostOf.delete(host)
    edge.setAliases(host, [])
    if (edge.getRoute(host)?.project_id === projectId) void edge.removeRoute(host).catch(options.onError)
  }

  /** A preview without a live or starting app has no route: its page is generated per request. */
  const refreshPreviews = (project: ProjectRow): void => {
    const projectHosts = [...(hosts.get(project.id) ?? [])].filter(([branch]) => branch !== '')
    if (projectHosts.length === 0) return
    const serving = db.readSync((tx) => [
      ...listCurrentDeployments(tx, project.id),
      ...listOpenDeployments(tx, project.id).filter((row) => row.status === 'deploying'),
    ])
    const servedBranches = new Set(serving.filter((row) => row.target === 'preview').map((row) => row.branch))
    for (const [branch, host] of projectHosts)
      if (!servedBranches.has(branch) && edge.getRoute(host)?.project_id === project.id) void edge.removeRoute(host).catch(options.onError)
  }

  return {
    getRouteMetadata,
    getHost,
    setRoute: (slot, route, drain_ms) => applyRoute(findHost(slot), route, drain_ms),
    findServiceHost,
    setServiceRoutes(slot, routes) {
      const mainHost = findHost(slot)
      if (mainHost === undefined) return
      const wanted = new Map<string, Route>()
      for (const { service, port, route } of routes) {
        const host = findServiceHost(slot, service, port)
        if (host !== undefined && !wanted.has(host)) wanted.set(host, route)
      }
      for (const host of serviceHosts.get(mainHost) ?? [])
        if (!wanted.has(host) && !db.readSync((tx) => findPreviewByHost(tx, host))) removeHost(slot.project_id, host)
      for (const [host, route] of wanted) {
        mainHostOf.set(host, mainHost)
        void applyRoute(host, route, serviceDrain_ms)
      }
      if (wanted.size > 0) serviceHosts.set(mainHost, [...wanted.keys()])
      else serviceHosts.delete(mainHost)
    },
    idleSince(slot) {
      const host = findHost(slot)
      if (host === undefined) return undefined
      const idle = [host, ...(serviceHosts.get(host) ?? [])].map((one) => edge.idleSince(one))
      return idle.reduce((latest, since) => (latest === undefined || since === undefined ? undefined : Math.max(latest, since)))
    },
    showPage(slot, page, drain_ms) {
      void applyRoute(findHost(slot), { ...getRouteMetadata(slot), kind: 'page', page }, drain_ms)
    },
    refreshProject(projectId) {
      const project = db.readSync((tx) => findProject(tx, projectId))
      if (!project) {
        const projectHosts = hosts.get(projectId)
        hosts.delete(projectId)
        for (const host of projectHosts?.values() ?? []) removeHost(projectId, host)
        return
      }
      refreshPreviews(project)
      const host = getProductionHost(projectId)
      const now = edge.getRoute(host)
      const isServed = now?.project_id === projectId && (now.kind !== 'page' || now.page === 'no_web_service')
      const isOffline = project.status === 'inactive' || project.status === 'created' || project.status === 'crashed'
      if (isOffline) for (const one of serviceHosts.get(host) ?? []) removeHost(projectId, one)
      if (!isServed || isOffline) void applyRoute(host, createStatusPage(project))
    },
    removePreview(projectId, branch, host) {
      hosts.get(projectId)?.delete(branch)
      removeHost(projectId, host)
    },
    refreshHosts(projectId) {
      const hostnames = db.readSync((tx) => findProject(tx, projectId) && listVerifiedHostnames(tx, projectId))
      if (!hostnames) return
      // A project's first host is always below localhost, whatever its row contains.
      edge.setAliases(
        getProductionHost(projectId),
        hostnames.filter((name) => !/(^|\.)localhost$/i.test(name)),
      )
    },
    getStatusPage(host) {
      const slug = host.endsWith('.localhost') ? host.slice(0, -'.localhost'.length) : ''
      const project = db.readSync((tx) => findProjectBySlug(tx, slug))
      return project ? createStatusPage(project) : findPreviewPage(host)
    },
  }
}
