import { InfiniteQueryObserver, QueryClient } from '@tanstack/react-query'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Deployment } from '../../server/contract/deployments.ts'
import type { Project } from '../../server/contract/projects.ts'
import { applyEvent, refetchAll } from '../../renderer/api/query-cache.ts'
import { queryKeys } from '../../renderer/api/query-keys.ts'
import { until } from '../support/until.ts'

let cache: QueryClient

beforeEach(() => {
  cache = new QueryClient()
})

const applyDeployment = (deployment: Deployment) => applyEvent(cache, { event: 'deployment', id: null, data: { deployment } })
const list = (key: readonly unknown[]) =>
  cache
    .getQueryData<{ pages: { deployments: Deployment[] }[] }>(key)
    ?.pages.flatMap((page) => page.deployments.map(({ id, status, is_current }) => ({ id, status, is_current })))

const slugs = () =>
  cache
    .getQueryData<{ pages: { projects: Project[] }[] }>(queryKeys.projects)
    ?.pages.flatMap(({ projects }) => projects.map(({ slug, status }) => `${slug} ${status}`))

/** A visible list whose first page is loaded. `respond`: to the oldest open request. */
async function longList() {
  type Page = { projects: Project[]; next_cursor: string | null }
  const pendingPages: ((page: Page) => void)[] = []
  const respond = async (projects: Project[], next_cursor: string | null = null) =>
    (await until(() => pendingPages.shift(), { what: 'a request' }))({ projects, next_cursor })
  const observer = new InfiniteQueryObserver(cache, {
    queryKey: queryKeys.projects,
    queryFn: () => new Promise<Page>((resolve) => pendingPages.push(resolve)),
    initialPageParam: null,
    getNextPageParam: (page: Page) => page.next_cursor,
  })
  const stop = observer.subscribe(() => undefined)
  await respond([project('c', 3), project('b', 2)], 'b')
  await until(() => observer.getCurrentResult().isSuccess || undefined, { what: 'the first page' })
  return { observer, respond, stop }
}

describe('an event of the stream', () => {
  it('puts a new project first, and updates a changed one in place', () => {
    cache.setQueryData(queryKeys.projects, { pages: [{ projects: [project('b', 2), project('a', 1)], next_cursor: null }], pageParams: [null] })
    applyEvent(cache, { event: 'project', id: null, data: { project: project('c', 3) } })
    applyEvent(cache, { event: 'project', id: null, data: { project: { ...project('a', 1), status: 'live' } } })
    const slugs = cache
      .getQueryData<{ pages: { projects: Project[] }[] }>(queryKeys.projects)
      ?.pages[0]?.projects.map(({ slug, status }) => [slug, status])
    expect(slugs).toEqual([
      ['c', 'created'],
      ['b', 'created'],
      ['a', 'live'],
    ])
    applyEvent(cache, { event: 'project_removed', id: null, data: { id: 'prj_b', slug: 'b' } })
    expect(cache.getQueryData<{ pages: { projects: Project[] }[] }>(queryKeys.projects)?.pages[0]?.projects.map(({ slug }) => slug)).toEqual([
      'c',
      'a',
    ])
  })

  it('is not lost while a long list loads its next page', async () => {
    const { observer, respond, stop } = await longList()
    const more = observer.fetchNextPage()
    applyEvent(cache, { event: 'project', id: null, data: { project: { ...project('b', 2), status: 'live' } } })
    applyEvent(cache, { event: 'project_removed', id: null, data: { id: 'prj_c', slug: 'c' } })
    applyEvent(cache, { event: 'project', id: null, data: { project: project('d', 4) } })
    await respond([project('a', 1)])
    await more
    await until(() => slugs()?.length === 3 || undefined, { what: 'the event again' })
    expect(slugs()).toEqual(['d created', 'b live', 'a created'])
    stop()
  })

  it('a full refetch does not discard a next page in flight', async () => {
    const { observer, respond, stop } = await longList()
    const more = observer.fetchNextPage()
    refetchAll(cache)
    await respond([project('a', 1)])
    await more
    await respond([project('c', 3), { ...project('b', 2), status: 'live' }], 'b')
    await respond([project('a', 1)])
    await until(() => slugs()?.includes('b live') || undefined, { what: 'the event' })
    expect(slugs()).toEqual(['c created', 'b live', 'a created'])
    stop()
  })

  it('leaves an old project that is not loaded to its page', () => {
    cache.setQueryData(queryKeys.projects, { pages: [{ projects: [project('b', 5)], next_cursor: 'more' }], pageParams: [null] })
    applyEvent(cache, { event: 'project', id: null, data: { project: project('old', 1) } })
    expect(cache.getQueryData<{ pages: { projects: Project[] }[] }>(queryKeys.projects)?.pages[0]?.projects).toHaveLength(1)
  })

  it('respects the filter of a deployment list, and keeps one deployment current', () => {
    cache.setQueryData(queryKeys.project('a'), project('a', 1))
    const first = deployment('dpl_1', 1, { status: 'ready', is_current: true })
    for (const filter of [{}, { status: 'ready' as const }])
      cache.setQueryData(queryKeys.deployments('a', filter), { pages: [{ deployments: [first], next_cursor: null }], pageParams: [null] })
    cache.setQueryData(queryKeys.latest('a'), first)
    cache.setQueryData(queryKeys.serving('a'), first)

    applyDeployment(deployment('dpl_2', 2, { status: 'building' }))
    expect(list(queryKeys.deployments('a', {}))?.map(({ id }) => id)).toEqual(['dpl_2', 'dpl_1'])
    expect(list(queryKeys.deployments('a', { status: 'ready' }))?.map(({ id }) => id)).toEqual(['dpl_1'])
    expect(cache.getQueryData<Deployment>(queryKeys.latest('a'))?.id).toBe('dpl_2')
    expect(cache.getQueryData<Deployment>(queryKeys.serving('a'))?.id).toBe('dpl_1')

    applyDeployment(deployment('dpl_2', 2, { status: 'ready', is_current: true }))
    expect(list(queryKeys.deployments('a', { status: 'ready' }))).toEqual([
      { id: 'dpl_2', status: 'ready', is_current: true },
      { id: 'dpl_1', status: 'ready', is_current: false },
    ])
    expect(cache.getQueryData<Deployment>(queryKeys.serving('a'))?.id).toBe('dpl_2')
  })

  it('is ignored for a project that this window has not seen', () => {
    applyDeployment(deployment('dpl_9', 9, {}))
    expect(cache.getQueryCache().getAll()).toEqual([])
  })
})

function project(slug: string, second: number): Project {
  const at = `2026-01-01T00:00:0${second}.000Z`
  return {
    id: `prj_${slug}`,
    name: slug,
    slug,
    repo_url: null,
    repo_branch: 'main',
    is_connected: false,
    node_version: 'auto',
    install_command: 'auto',
    build_command: 'auto',
    root_directory: '.',
    memory_limit_mb: 512,
    port: null,
    status: 'created',
    always_warm: false,
    is_cold: false,
    caching_enabled: true,
    has_purge_token: false,
    last_request_at: null,
    created_at: at,
    updated_at: at,
  }
}

function deployment(id: string, second: number, more: Partial<Deployment>): Deployment {
  return {
    id,
    project_id: 'prj_a',
    status: 'queued',
    target: 'production',
    trigger: 'manual',
    source: 'git',
    branch: 'main',
    commit_sha: null,
    commit_message: null,
    commit_author: null,
    is_dirty: false,
    parent_id: null,
    is_current: false,
    can_rollback: false,
    url: null,
    queue_position: null,
    error: null,
    framework: null,
    runtime: 'process',
    image_bytes: null,
    queued_ms: null,
    build_ms: null,
    deploy_ms: null,
    screenshots: { desktop: false, mobile: false },
    created_at: `2026-01-01T00:00:0${second}.000Z`,
    started_at: null,
    finished_at: null,
    ...more,
  }
}
