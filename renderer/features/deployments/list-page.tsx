import { ListFilter } from 'lucide-react'
import { useSearchParams } from 'wouter'
import type { DeploymentStatus, DeploymentTarget } from '../../../server/contract/deployments.ts'
import type { DeploymentFilter } from '../../api/keys.ts'
import { problemFrom } from '../../api/problem.ts'
import { useDeployments, useLatest, useProject } from '../../api/queries.ts'
import { Button } from '../../ui/button.tsx'
import { Empty, ProblemView, SkeletonRows } from '../../ui/feedback.tsx'
import { useTitle } from '../frame/title.ts'
import { useBeacon } from '../project/beacon.ts'
import { DeploymentRows } from './deployment-rows.tsx'
import { deploymentSign } from '../../ui/status.tsx'
import './list-page.css'

const statuses = ['queued', 'building', 'deploying', 'ready', 'failed', 'canceled'] as const satisfies readonly DeploymentStatus[]
const targets = { production: 'Production', preview: 'Previews' } as const satisfies Record<DeploymentTarget, string>

export default function DeploymentListPage({ slug }: { slug: string }) {
  const [params, setParams] = useSearchParams()
  const filter = filterFrom(params)
  const isFiltered = Object.keys(filter).length > 0
  const { data, error, isPending, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useDeployments(slug, filter)
  const { data: project } = useProject(slug)
  const { data: latest } = useLatest(slug)
  useTitle(`Deployments · ${project?.name ?? slug}`, useBeacon(latest))
  const deployments = data?.pages.flatMap((page) => page.deployments) ?? []

  const set = (name: keyof DeploymentFilter, value: string) =>
    setParams(
      (before) => {
        const next = new URLSearchParams(before)
        if (value === '') next.delete(name)
        else next.set(name, value)
        return next
      },
      { replace: true },
    )

  return (
    <div className="stack">
      <div className="filters">
        <select className="input select" aria-label="Status" value={filter.status ?? ''} onChange={({ target }) => set('status', target.value)}>
          <option value="">Any status</option>
          {statuses.map((status) => (
            <option key={status} value={status}>
              {deploymentSign(status).word}
            </option>
          ))}
        </select>
        <select className="input select" aria-label="Target" value={filter.target ?? ''} onChange={({ target }) => set('target', target.value)}>
          <option value="">Production and previews</option>
          {Object.entries(targets).map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
        <BranchFilter key={filter.branch ?? ''} branch={filter.branch ?? ''} onChange={(branch) => set('branch', branch)} />
        {isFiltered && (
          <Button kind="bare" onClick={() => setParams({}, { replace: true })}>
            Clear filters
          </Button>
        )}
      </div>
      {error && <ProblemView problem={problemFrom(error)} onRetry={() => void refetch()} />}
      <section className="card" aria-label="Deployments">
        {isPending && <SkeletonRows rows={8} height={62} />}
        {deployments.length > 0 && <DeploymentRows slug={slug} deployments={deployments} />}
        {data && deployments.length === 0 && (
          <Empty icon={ListFilter} title={isFiltered ? 'No deployment fits these filters' : 'No deployment yet'}>
            {isFiltered ? 'Take a filter away to see more.' : 'Press Deploy to make the first one.'}
          </Empty>
        )}
      </section>
      {hasNextPage && (
        <Button className="older" busy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          Older deployments
        </Button>
      )}
    </div>
  )
}

/** Takes effect on Enter or when left, so that half a name does not ask the platform. */
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

/** Only what the platform understands; an address may say anything. */
function filterFrom(params: URLSearchParams): DeploymentFilter {
  const status = statuses.find((one) => one === params.get('status'))
  const target = params.get('target')
  const branch = params.get('branch')
  return { ...(status && { status }), ...((target === 'production' || target === 'preview') && { target }), ...(branch && { branch }) }
}
