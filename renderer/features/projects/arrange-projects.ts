import type { Project } from '../../../server/contract/projects.ts'

/** In the order of the menu. `created` is the order of the platform. */
export const projectOrders = {
  created: 'Newest',
  active: 'Recent activity',
  name: 'Name',
  requests: 'Requests',
} as const satisfies Record<string, string>
export type ProjectOrder = keyof typeof projectOrders

export const projectStates = {
  live: 'Live',
  building: 'Building',
  failed: 'Failed',
  asleep: 'Asleep',
} as const satisfies Record<string, string>
export type ProjectState = keyof typeof projectStates

interface Arrangement {
  order: ProjectOrder
  state: ProjectState | null
  favorites: readonly string[]
  /** Requests of the last 24 hours by hour, by slug. */
  requests: ReadonlyMap<string, number[]> | undefined
}

const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' })

/** The projects of one state, in an order, with the favorites first. */
export function arrangeProjects(projects: readonly Project[], { order, state, favorites, requests }: Arrangement): readonly Project[] {
  const shown = state === null ? projects : projects.filter((project) => isInState(project, state))
  const compare = comparisons[order]
  const ordered = compare === null ? shown : shown.toSorted((a, b) => compare(a, b, requests))
  if (favorites.length === 0) return ordered
  const pinned = new Set(favorites)
  return [...ordered.filter(({ slug }) => pinned.has(slug)), ...ordered.filter(({ slug }) => !pinned.has(slug))]
}

type Comparison = (a: Project, b: Project, requests: Arrangement['requests']) => number

const comparisons: Record<ProjectOrder, Comparison | null> = {
  created: null,
  active: (a, b) => (activityTime(a) < activityTime(b) ? 1 : -1),
  name: (a, b) => collator.compare(a.name, b.name),
  requests: (a, b, requests) => requestCount(b, requests) - requestCount(a, requests),
}

function isInState({ status, is_cold }: Project, state: ProjectState): boolean {
  if (state === 'failed') return status === 'failed' || status === 'crashed'
  if (state === 'building') return status === 'building'
  return status === 'live' && is_cold === (state === 'asleep')
}

/** The last deployment, change or request. */
function activityTime({ updated_at, last_request_at }: Project): string {
  return last_request_at !== null && last_request_at > updated_at ? last_request_at : updated_at
}

function requestCount({ slug }: Project, requests: Arrangement['requests']): number {
  return requests?.get(slug)?.reduce((sum, count) => sum + count, 0) ?? 0
}
