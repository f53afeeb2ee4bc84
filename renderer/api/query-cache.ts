import type { InfiniteData, Query, QueryClient } from '@tanstack/react-query'
import type { Deployment, DeploymentDetail } from '../../server/contract/deployments.ts'
import type { Project } from '../../server/contract/projects.ts'
import type { CallOutput, ApiEvent } from '../../server/client/operation-types.ts'
import { type DeploymentFilter, queryKeys } from './query-keys.ts'
import { ApiError } from '../../server/client/api-error.ts'

type ProjectPages = InfiniteData<CallOutput<'listProjects'>, string | null>
type DeploymentPages = InfiniteData<CallOutput<'listDeployments'>, string | null>

/** Writes events and mutation responses of the instance into every cached query that contains the data. */
export function applyEvent(cache: QueryClient, event: ApiEvent<'followInstance'>): void {
  if (event.event === 'project') {
    upsertProject(cache, event.data.project)
    // Queries with secrets are refetched, because events carry no secrets.
    for (const key of [
      queryKeys.previews,
      queryKeys.watching,
      queryKeys.forks,
      queryKeys.envVars,
      queryKeys.database,
      queryKeys.dumps,
      queryKeys.domains,
      queryKeys.managedServices,
      queryKeys.volumes,
      queryKeys.unsavedFiles,
      queryKeys.mail,
      queryKeys.devServers,
    ])
      void cache.invalidateQueries({ queryKey: key(event.data.project.slug) })
  } else if (event.event === 'project_removed') removeProject(cache, event.data.slug)
  else if (event.event === 'deployment') {
    upsertDeployment(cache, event.data.deployment)
    const slug = findProjectSlug(cache, event.data.deployment.project_id)
    if (slug !== undefined && event.data.deployment.target === 'preview') void cache.invalidateQueries({ queryKey: queryKeys.previews(slug) })
  }
}

export function upsertProject(cache: QueryClient, project: Project): void {
  refetchInFlight(cache, () => upsertProject(cache, project), queryKeys.projects, queryKeys.project(project.slug))
  cache.setQueryData(queryKeys.project(project.slug), project)
  cache.setQueryData<ProjectPages>(queryKeys.projects, (data) => {
    if (!data) return data
    let found = false
    const pages = data.pages.map((page) => {
      const index = page.projects.findIndex(({ id }) => id === project.id)
      if (index < 0) return page
      found = true
      return { ...page, projects: page.projects.with(index, project) }
    })
    const [first, ...others] = pages
    if (found || !first) return { ...data, pages }
    // The project is not loaded: it is new, or older than the loaded pages and arrives with its own page.
    const oldest = pages.at(-1)?.projects.at(-1)
    if (data.pages.at(-1)?.next_cursor && oldest && project.created_at < oldest.created_at) return data
    return { ...data, pages: [{ ...first, projects: [project, ...first.projects] }, ...others] }
  })
}

export function removeProject(cache: QueryClient, slug: string): void {
  refetchInFlight(cache, () => removeProject(cache, slug), queryKeys.projects)
  cache.setQueryData<ProjectPages>(
    queryKeys.projects,
    (data) => data && { ...data, pages: data.pages.map((page) => ({ ...page, projects: page.projects.filter((project) => project.slug !== slug) })) },
  )
  // Removes cached data that is not on screen.
  for (const key of [
    queryKeys.latest(slug),
    queryKeys.serving(slug),
    ['deployments', slug],
    ['deployment', slug],
    ['metrics', slug],
    queryKeys.cacheEvents(slug),
    queryKeys.envVars(slug),
    queryKeys.previews(slug),
    queryKeys.watching(slug),
    queryKeys.forks(slug),
    queryKeys.database(slug),
    queryKeys.dumps(slug),
    queryKeys.domains(slug),
    queryKeys.managedServices(slug),
    queryKeys.volumes(slug),
    queryKeys.volumeFiles(slug),
    queryKeys.unsavedFiles(slug),
    queryKeys.mail(slug),
    queryKeys.devServers(slug),
    ['mail-message', slug],
  ])
    cache.removeQueries({ queryKey: key, type: 'inactive' })
  // Tells pages of this project that it was deleted without a refetch, which would return 404.
  const error = new ApiError('project_not_found', 'This project no longer exists.', { status: 404 })
  const project = cache.getQueryCache().find({ queryKey: queryKeys.project(slug), exact: true })
  void project?.cancel({ silent: true }).then(() => project.setState({ data: undefined, status: 'error', error, fetchStatus: 'idle' }))
}

export function upsertDeployment(cache: QueryClient, deployment: Deployment): void {
  const slug = findProjectSlug(cache, deployment.project_id)
  if (slug === undefined) return
  refetchInFlight(
    cache,
    () => upsertDeployment(cache, deployment),
    ['deployments', slug],
    queryKeys.latest(slug),
    queryKeys.serving(slug),
    queryKeys.deployment(slug, deployment.id),
  )

  cache.setQueryData<DeploymentDetail>(queryKeys.deployment(slug, deployment.id), (detail) => detail && { ...detail, ...deployment })
  cache.setQueryData<Deployment | null>(queryKeys.latest(slug), (latest) =>
    latest === undefined ? latest : latest === null || deployment.created_at >= latest.created_at ? deployment : latest,
  )

  const serving = cache.getQueryData<Deployment | null>(queryKeys.serving(slug))
  if (serving !== undefined && deployment.target === 'production') {
    if (deployment.is_current) cache.setQueryData(queryKeys.serving(slug), deployment)
    else if (serving?.id === deployment.id) void cache.invalidateQueries({ queryKey: queryKeys.serving(slug) })
  }

  for (const [key, data] of cache.getQueriesData<DeploymentPages>({ queryKey: ['deployments', slug] })) {
    const filter = (key[2] ?? {}) as DeploymentFilter
    if (data) cache.setQueryData<DeploymentPages>(key, upsertIntoPages(data, deployment, filter))
  }
}

/** Updates the cached pages: replaces the deployment, removes it when the filter no longer matches, or prepends it when it is new. */
function upsertIntoPages(data: DeploymentPages, deployment: Deployment, filter: DeploymentFilter): DeploymentPages {
  const matchesFilter =
    (filter.status === undefined || filter.status === deployment.status) &&
    (filter.target === undefined || filter.target === deployment.target) &&
    (filter.branch === undefined || filter.branch === deployment.branch)
  const existing = data.pages.some((page) => page.deployments.some(({ id }) => id === deployment.id))
  const newest = data.pages[0]?.deployments[0]
  const pages = data.pages.map((page, index) => {
    const others = page.deployments.filter(({ id }) => id !== deployment.id || matchesFilter)
    if (existing)
      return { ...page, deployments: others.map((other) => (other.id === deployment.id ? deployment : demoteIfReplaced(other, deployment))) }
    const isNew = matchesFilter && index === 0 && (!newest || deployment.created_at >= newest.created_at)
    const rest = others.map((other) => demoteIfReplaced(other, deployment))
    return { ...page, deployments: isNew ? [deployment, ...rest] : rest }
  })
  return { ...data, pages }
}

/** A target has one current deployment, so the previous one loses the flag. */
function demoteIfReplaced(other: Deployment, current: Deployment): Deployment {
  const replaced =
    current.is_current && other.is_current && other.target === current.target && (current.target === 'production' || other.branch === current.branch)
  return replaced ? { ...other, is_current: false } : other
}

/** The slug of a project in this window's cache. */
export function findProjectSlug(cache: QueryClient, projectId: string): string | undefined {
  return findCachedProject(cache, projectId)?.slug
}

/** A project from this window's cache. */
export function findCachedProject(cache: QueryClient, projectId: string): Project | undefined {
  for (const [, project] of cache.getQueriesData<Project>({ queryKey: ['project'] })) if (project?.id === projectId) return project
  for (const page of cache.getQueryData<ProjectPages>(queryKeys.projects)?.pages ?? []) {
    const project = page.projects.find(({ id }) => id === projectId)
    if (project) return project
  }
  return undefined
}

/** Refetches everything on screen. Of an infinite list only the first page is refetched; the others load again on scrolling. */
export function refetchAll(cache: QueryClient): void {
  cache.setQueryData<ProjectPages>(queryKeys.projects, keepFirstPages)
  cache.setQueriesData<DeploymentPages>({ queryKey: ['deployments'] }, keepFirstPages)
  refetchQueries(cache, [])
}

/** Refetches these queries. A request in flight may predate the event, so it is canceled, except a next-page fetch, which finishes first. */
export function refetchQueries(cache: QueryClient, queryKey: readonly unknown[]): void {
  const fetchingMore = cache.getQueryCache().findAll({ queryKey, predicate: isFetchingNextPage })
  for (const { queryKey: one, promise } of fetchingMore) {
    const invalidate = () => cache.invalidateQueries({ queryKey: one, exact: true })
    void promise?.then(invalidate, invalidate)
  }
  const others = { queryKey, predicate: (query: Query) => !fetchingMore.includes(query) }
  void cache.cancelQueries(others).then(() => cache.invalidateQueries(others))
}

/** An infinite list that is fetching its next page. */
const isFetchingNextPage = ({ state }: Query): boolean =>
  state.fetchStatus === 'fetching' && state.fetchMeta?.fetchMore?.direction === 'forward' && state.data !== undefined

/** Removes cached data of a list that is not observed or must be reloaded. */
function keepFirstPages<Page>(data: InfiniteData<Page, string | null> | undefined): InfiniteData<Page, string | null> | undefined {
  return data && data.pages.length > 2 ? { pages: data.pages.slice(0, 2), pageParams: data.pageParams.slice(0, 2) } : data
}

/** A response in flight may be older than the event that was just written, so the query is refetched. */
function refetchInFlight(cache: QueryClient, reapply: () => void, ...affectedKeys: (readonly unknown[])[]): void {
  for (const queryKey of affectedKeys) {
    for (const query of cache.getQueryCache().findAll({ queryKey, fetchStatus: 'fetching' })) {
      // A next page contains older items and is appended to the pages from before the request, so the event must be written again afterwards.
      if (isFetchingNextPage(query)) void query.promise?.then(reapply, reapply)
      else
        void cache
          .cancelQueries({ queryKey: query.queryKey, exact: true })
          .then(() => cache.invalidateQueries({ queryKey: query.queryKey, exact: true }))
    }
  }
}
