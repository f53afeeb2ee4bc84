import { History } from 'lucide-react'
import { activityActors, type ActivityActor } from '../../../server/contract/activity-actors.ts'
import { type ActivityQuery, useActivity } from '../../api/activity.ts'
import { useInstanceSession } from '../../api/instance.ts'
import { Button } from '../../components/button.tsx'
import { EmptyState, ProblemView, SkeletonRows } from '../../components/feedback.tsx'
import { FilterSelect } from '../../components/filter-select.tsx'
import { toApiError } from '../../lib/api-error.ts'
import { useQueryParams } from '../../lib/use-query-params.ts'
import { ProjectFilterSelect } from '../projects/index.ts'
import { ActivityList } from './activity-list.tsx'
import styles from './activity.module.css'

const actorLabels: Record<ActivityActor, string> = {
  user: 'People',
  token: 'API tokens',
  push: 'Pushes and webhooks',
  schedule: 'Schedules',
  system: 'Homeport',
}
const kinds = {
  'deployment.': 'Deployments',
  'env_vars.': 'Variables',
  'project.': 'Project',
  'domain.': 'Domains',
  'database.': 'Database',
  'volume.': 'Volumes',
  'preview.': 'Previews',
  'token.': 'API tokens',
} as const

/** Changes of one project, or of all, with filters in the address. */
export function ActivityView({ slug }: { slug?: string }) {
  const { params, change, clear } = useQueryParams()
  const filters = parseFilters(params)
  const myId = useInstanceSession().data?.user.id
  const { data, error, isPending, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useActivity(slug, filters)
  const entries = data?.pages.flatMap((page) => page.entries) ?? []
  const isFiltered = Object.keys(filters).length > 0
  return (
    <div className="stack">
      <div className={styles.filters}>
        {slug === undefined && <ProjectFilterSelect value={filters.project ?? ''} onChange={(value) => change({ project: value })} />}
        <FilterSelect
          label="Changed by"
          all="Everyone"
          value={filters.actor ?? ''}
          choices={actorLabels}
          onChange={(value) => change({ actor: value })}
        />
        <FilterSelect label="Kind" all="All changes" value={filters.action ?? ''} choices={kinds} onChange={(value) => change({ action: value })} />
        {isFiltered && (
          <Button kind="bare" onClick={clear}>
            Clear filters
          </Button>
        )}
      </div>
      {error && <ProblemView problem={toApiError(error)} onRetry={() => void refetch()} />}
      <section className="card" aria-label="Activity" hidden={error !== null && !data}>
        {isPending && <SkeletonRows rows={8} height={60} />}
        {entries.length > 0 && <ActivityList entries={entries} myId={myId} hasProjects={slug === undefined} />}
        {data && entries.length === 0 && (
          <EmptyState icon={History} title={isFiltered ? 'No changes match' : 'No activity yet'}>
            {isFiltered ? 'Clear a filter to see more.' : 'Every change, deployment and crash is listed here, with who or what caused it.'}
          </EmptyState>
        )}
        {hasNextPage && (
          <footer className={styles.foot}>
            <Button busy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
              Load more
            </Button>
          </footer>
        )}
      </section>
    </div>
  )
}

/** Ignores unknown filter values from the URL. */
function parseFilters(params: URLSearchParams): ActivityQuery {
  const actor = activityActors.find((one) => one === params.get('actor'))
  const action = Object.keys(kinds).find((one) => one === params.get('action'))
  const project = params.get('project')
  return { ...(actor && { actor }), ...(action && { action }), ...(project && { project }) }
}
