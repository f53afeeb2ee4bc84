import { ListFilter } from 'lucide-react'
import { useEffect, useMemo, useState } from 'react'
import { useDeployments, useLatestDeployment } from '../../api/deployments.ts'
import { useWatching } from '../../api/previews.ts'
import { useProject } from '../../api/projects.ts'
import type { Deployment, DeploymentStatus, DeploymentTarget } from '../../../server/contract/deployments.ts'
import type { DeploymentFilter } from '../../api/query-keys.ts'
import { toApiError } from '../../lib/api-error.ts'
import { Button } from '../../components/button.tsx'
import { EmptyState, ProblemView, SkeletonRows } from '../../components/feedback.tsx'
import { FilterSelect } from '../../components/filter-select.tsx'
import { useQueryParams } from '../../lib/use-query-params.ts'
import { useTitle } from '../../lib/use-title.ts'
import { useFaviconStatus } from '../../lib/use-favicon-status.ts'
import { SkippedPushes } from '../previews/index.ts'
import { DeploymentList } from './deployment-list.tsx'
import { RollbackConfirmDialog } from './rollback-confirm-dialog.tsx'
import { deploymentRowHeight } from '../../components/deployment-rows.tsx'
import { deploymentBadge } from '../../components/status.tsx'
import styles from './list-page.module.css'

const statuses = ['queued', 'building', 'deploying', 'ready', 'failed', 'canceled'] as const satisfies readonly DeploymentStatus[]
const statusLabels = Object.fromEntries(statuses.map((status) => [status, deploymentBadge(status).label]))
const targets = { production: 'Production', preview: 'Previews' } as const satisfies Record<DeploymentTarget, string>

export default function DeploymentListPage({ slug }: { slug: string }) {
  const { params, change, clear } = useQueryParams()
  const filter = parseFilter(params)
  const isFiltered = Object.keys(filter).length > 0
  const { data, error, isPending, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useDeployments(slug, filter)
  // Both render together, because skipped pushes are above the list.
  const isLoading = useWatching(slug).isPending || isPending
  const { data: project } = useProject(slug)
  const { data: latest } = useLatestDeployment(slug)
  useTitle(`Deployments · ${project?.name ?? slug}`, useFaviconStatus(latest))
  const deployments = useMemo(() => data?.pages.flatMap((page) => page.deployments) ?? [], [data])
  const [isLoadingAll, setLoadingAll] = useState(false)
  const [rollback, setRollback] = useState<Deployment | null>(null)
  const loadMore = () => {
    if (hasNextPage && !isFetchingNextPage && !error) void fetchNextPage()
  }

  useEffect(() => {
    if (!isLoadingAll) return
    if (hasNextPage && !error) return loadMore()
    setLoadingAll(false)
    window.scrollTo({ top: document.documentElement.scrollHeight })
  })

  return (
    <div className="stack">
      <div className={styles.filters}>
        <FilterSelect label="Status" all="Any status" value={filter.status ?? ''} choices={statusLabels} onChange={(status) => change({ status })} />
        <FilterSelect
          label="Target"
          all="Production and previews"
          value={filter.target ?? ''}
          choices={targets}
          onChange={(target) => change({ target })}
        />
        <BranchFilter key={filter.branch ?? ''} branch={filter.branch ?? ''} onChange={(branch) => change({ branch })} />
        {isFiltered && (
          <Button kind="bare" onClick={clear}>
            Clear filters
          </Button>
        )}
      </div>
      {!isLoading && <SkippedPushes slug={slug} />}
      {error && <ProblemView problem={toApiError(error)} onRetry={() => void refetch()} />}
      {/* Placeholder in a separate element, because the list may begin further down. */}
      <section key={isLoading ? 'loading' : 'list'} className="card" aria-label="Deployments" hidden={error !== null && !data}>
        {isLoading && <SkeletonRows rows={8} height={deploymentRowHeight} />}
        {!isLoading && deployments.length > 0 && (
          <DeploymentList slug={slug} deployments={deployments} isComplete={!hasNextPage} onEndReached={loadMore} onRollback={setRollback} />
        )}
        {!isLoading && data && deployments.length === 0 && (
          <EmptyState icon={ListFilter} title={isFiltered ? 'No deployments match' : 'No deployments yet'}>
            {isFiltered ? 'Clear a filter to see more.' : 'Select Deploy to create the first one.'}
          </EmptyState>
        )}
      </section>
      {!isLoading && deployments.length > 0 && (
        <div className={styles.listFoot}>
          <p className="text-subtle" role="status">
            {isLoadingAll
              ? `Loading all deployments; ${deployments.length.toLocaleString()} so far`
              : hasNextPage
                ? `${deployments.length.toLocaleString()} most recent deployments; scroll to load more`
                : `${deployments.length.toLocaleString()} ${deployments.length === 1 ? 'deployment' : 'deployments'}${isFiltered ? ' that match' : ''}`}
          </p>
          {(hasNextPage || isLoadingAll) && (
            <Button kind="bare" onClick={() => setLoadingAll(!isLoadingAll)}>
              {isLoadingAll ? 'Stop' : 'Load all'}
            </Button>
          )}
        </div>
      )}
      {rollback && <RollbackConfirmDialog slug={slug} deployment={rollback} onClose={() => setRollback(null)} />}
    </div>
  )
}

/** Applies on Enter or blur, to avoid a request per keystroke. */
function BranchFilter({ branch, onChange }: { branch: string; onChange: (branch: string) => void }) {
  return (
    <input
      className="input mono"
      type="search"
      aria-label="Branch"
      placeholder="Any branch"
      defaultValue={branch}
      onBlur={({ target }) => target.value.trim() !== branch && onChange(target.value.trim())}
      onKeyDown={(event) => event.key === 'Enter' && event.currentTarget.blur()}
    />
  )
}

/** Ignores unknown filter values from the URL. */
function parseFilter(params: URLSearchParams): DeploymentFilter {
  const status = statuses.find((one) => one === params.get('status'))
  const target = params.get('target')
  const branch = params.get('branch')
  return { ...(status && { status }), ...((target === 'production' || target === 'preview') && { target }), ...(branch && { branch }) }
}
