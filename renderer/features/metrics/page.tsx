import { ChartColumn } from 'lucide-react'
import { useState } from 'react'
import { Link, useLocation, useSearchParams } from 'wouter'
import { useCapabilities } from '../../api/capabilities.ts'
import { useServingDeployment } from '../../api/deployments.ts'
import { useInstanceSession, useSettings } from '../../api/instance.ts'
import { isMetricsRange, useMetricsHistory } from '../../api/metrics.ts'
import { useProject } from '../../api/projects.ts'
import { historyBuckets, type HistoryRange } from '../../../server/contract/metrics-ranges.ts'
import type { MetricsHistory } from '../../../server/contract/project-metrics.ts'
import type { Project } from '../../../server/contract/projects.ts'
import { toApiError } from '../../lib/api-error.ts'
import { formatDateTime, formatTime } from '../../lib/format.ts'
import { ButtonLink } from '../../components/button.tsx'
import { HelpLink } from '../../components/help-link.tsx'
import { EmptyState, ProblemView, SkeletonRows } from '../../components/feedback.tsx'
import { SegmentedControl } from '../../components/segmented-control.tsx'
import { useTitle } from '../../lib/use-title.ts'
import { useAppUrl } from '../../api/app-url.ts'
import { Charts, UsageOnly } from './charts.tsx'
import { MetricTiles } from './metric-tiles.tsx'
import { MetricsTable } from './metrics-table.tsx'
import { Routes } from './routes.tsx'
import styles from './page.module.css'

const ranges = [
  { value: 'live', text: 'Live' },
  { value: '1h', text: '1 hour' },
  { value: '6h', text: '6 hours' },
  { value: '24h', text: '24 hours' },
  { value: '7d', text: '7 days' },
  { value: '30d', text: '30 days' },
] as const satisfies readonly { value: HistoryRange; text: string }[]

/** Requests, response times, CPU and memory of a project, from the last minutes to a month. */
export default function MetricsPage({ slug }: { slug: string }) {
  const { data: project } = useProject(slug)
  useTitle(`Metrics · ${project?.name ?? slug}`)
  const { has_instance_api } = useCapabilities()
  const [, navigate] = useLocation()
  const [params, setParams] = useSearchParams()
  const chosen = ranges.find(({ value }) => value === params.get('range'))?.value
  const { data, error, isPlaceholderData, dataUpdatedAt, refetch } = useMetricsHistory(slug, chosen)
  const range = chosen ?? data?.range ?? 'live'
  // The hovered time, shared by all charts of the page.
  const [cursor, setCursor] = useState<number | null>(null)

  return (
    <div className="stack">
      <div className={styles.metricsHead}>
        <SegmentedControl
          label="Range"
          value={range}
          choices={has_instance_api ? ranges : ranges.filter(({ value }) => isMetricsRange(value))}
          onChange={(value) => {
            setCursor(null)
            setParams({ range: value }, { replace: true })
          }}
        />
        {data && (
          <p className="text-subtle">
            {isShorter(data) && `Data since ${formatDateTime(data.first_at ?? data.from)}. `}
            {/* Data of the previous range, while the next one loads, has no time. */}
            {dataUpdatedAt > 0 && `Updated ${formatTime(new Date(dataUpdatedAt))}`}
          </p>
        )}
      </div>
      {error && <ProblemView problem={toApiError(error)} onRetry={() => void refetch()} />}
      {!data && !error && (
        <div className="card">
          <SkeletonRows rows={6} height={84} />
        </div>
      )}
      {data && data.range === range && data.totals.requests === 0 && project ? (
        <>
          <NoRequests project={project} metrics={data} />
          <UsageOnly metrics={data} cursor={cursor} onCursorChange={setCursor} />
        </>
      ) : (
        data && (
          <div className={`stack ${isPlaceholderData ? styles.metricsOlder : ''}`} aria-busy={isPlaceholderData}>
            <MetricTiles metrics={data} project={project} />
            <Charts
              slug={slug}
              metrics={data}
              cursor={cursor}
              onCursorChange={setCursor}
              onSelectTime={
                has_instance_api ? (since, until) => navigate(`/projects/${slug}/logs/requests?${new URLSearchParams({ since, until })}`) : undefined
              }
            />
            {has_instance_api && <Routes slug={slug} range={data.range} />}
            <MetricsTable metrics={data} />
            {has_instance_api && <HelpLink topic="prometheus">Read these metrics with Prometheus</HelpLink>}
          </div>
        )
      )}
    </div>
  )
}

/** Whether the data of the project is younger than the range. */
function isShorter({ range, buckets, bucket_seconds, first_at }: MetricsHistory): boolean {
  const { count, seconds } = historyBuckets[range]
  return first_at !== null && buckets.length * bucket_seconds < count * seconds
}

const rangeLabels: Record<HistoryRange, string> = {
  live: 'in the last 15 minutes',
  '1h': 'in the last hour',
  '6h': 'in the last 6 hours',
  '24h': 'in the last 24 hours',
  '7d': 'in the last 7 days',
  '30d': 'in the last 30 days',
}

function NoRequests({ project, metrics }: { project: Project; metrics: MetricsHistory }) {
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
