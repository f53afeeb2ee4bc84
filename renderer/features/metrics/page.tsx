import { ChartColumn } from 'lucide-react'
import { useState } from 'react'
import { Link, useLocation, useSearchParams } from 'wouter'
import { useCapabilities } from '../../api/capabilities.ts'
import { useServingDeployment } from '../../api/deployments.ts'
import { useInstanceSession, useSettings } from '../../api/instance.ts'
import { useMetrics } from '../../api/metrics.ts'
import { useProject } from '../../api/projects.ts'
import type { Metrics, MetricsRange } from '../../../server/contract/metrics.ts'
import type { Project } from '../../../server/contract/projects.ts'
import { toApiError } from '../../lib/api-error.ts'
import { ButtonLink } from '../../components/button.tsx'
import { EmptyState, ProblemView, SkeletonRows } from '../../components/feedback.tsx'
import { SegmentedControl } from '../../components/segmented-control.tsx'
import { useTitle } from '../../lib/use-title.ts'
import { useAppUrl } from '../../api/app-url.ts'
import { Charts } from './charts.tsx'
import { MetricTiles } from './metric-tiles.tsx'
import { MetricsTable } from './metrics-table.tsx'
import styles from './page.module.css'

const ranges = [
  { value: '24h', text: '24 hours' },
  { value: '7d', text: '7 days' },
  { value: '30d', text: '30 days' },
] as const satisfies readonly { value: MetricsRange; text: string }[]

/** Requests and response times of a project over a day, a week or a month. */
export default function MetricsPage({ slug }: { slug: string }) {
  const { data: project } = useProject(slug)
  useTitle(`Metrics · ${project?.name ?? slug}`)
  const { has_instance_api } = useCapabilities()
  const [, navigate] = useLocation()
  const [params, setParams] = useSearchParams()
  const range = ranges.find(({ value }) => value === params.get('range'))?.value ?? '24h'
  const { data, error, isPlaceholderData, dataUpdatedAt, refetch } = useMetrics(slug, range)
  // The hovered time, shared by all charts of the page.
  const [cursor, setCursor] = useState<number | null>(null)

  return (
    <div className="stack">
      <div className={styles.metricsHead}>
        <SegmentedControl
          label="Range"
          value={range}
          choices={ranges}
          onChange={(value) => {
            setCursor(null)
            setParams(value === '24h' ? {} : { range: value }, { replace: true })
          }}
        />
        {data && <p className="text-subtle">Updated {new Date(dataUpdatedAt).toLocaleTimeString()}</p>}
      </div>
      {error && <ProblemView problem={toApiError(error)} onRetry={() => void refetch()} />}
      {!data && !error && (
        <div className="card">
          <SkeletonRows rows={6} height={84} />
        </div>
      )}
      {data && data.range === range && data.totals.requests === 0 && project ? (
        <NoRequests project={project} metrics={data} />
      ) : (
        data && (
          <div className={`stack ${isPlaceholderData ? styles.metricsOlder : ''}`} aria-busy={isPlaceholderData}>
            <MetricTiles metrics={data} project={project} />
            <Charts
              metrics={data}
              cursor={cursor}
              onCursorChange={setCursor}
              onSelectTime={
                has_instance_api ? (since, until) => navigate(`/projects/${slug}/logs/requests?${new URLSearchParams({ since, until })}`) : undefined
              }
            />
            <MetricsTable metrics={data} />
          </div>
        )
      )}
    </div>
  )
}

const rangeLabels: Record<MetricsRange, string> = { '24h': 'in the last 24 hours', '7d': 'in the last 7 days', '30d': 'in the last 30 days' }

function NoRequests({ project, metrics }: { project: Project; metrics: Metrics }) {
  const address = useAppUrl(project.slug)
  const isOwner = useInstanceSession().data?.user.is_instance_owner ?? false
  const { data: settings } = useSettings(isOwner)
  const isLive = Boolean(useServingDeployment(project.slug).data)
  if (settings && !settings.metrics) {
    return (
      <div className="card">
        <EmptyState icon={ChartColumn} title="Metrics are off" action={<Link href="/instance/settings">Open settings</Link>}>
          This instance does not collect request metrics. Turn on “Collect request metrics” to see new requests here.
        </EmptyState>
      </div>
    )
  }
  return (
    <div className="card">
      <EmptyState
        icon={ChartColumn}
        title={`No requests ${rangeLabels[metrics.range]}`}
        action={
          isLive && address ? <ButtonLink href={address}>Open the app</ButtonLink> : <Link href={`/projects/${project.slug}`}>Go to overview</Link>
        }
      >
        {isLive
          ? 'Open the app once: the request and its response time appear here within seconds.'
          : 'The project is not live yet. Deploy it to see requests to its URL here.'}
      </EmptyState>
    </div>
  )
}
