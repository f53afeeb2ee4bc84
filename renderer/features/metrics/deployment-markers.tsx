import { Rocket } from 'lucide-react'
import { Link } from 'wouter'
import type { DeploymentMarker, MetricsHistory } from '../../../server/contract/project-metrics.ts'
import { chartMargin } from '../../lib/chart-scale.ts'
import { formatDateTime } from '../../lib/format.ts'
import { sanitizeForDisplay } from '../../lib/sanitize-for-display.ts'
import styles from './page.module.css'

/** Markers that a chart has room for; closer ones are drawn as one. */
const maxMarkers = 24

interface MarkerGroup {
  index: number
  /** Oldest first. */
  deployments: DeploymentMarker[]
}

/** Deployments by the bucket in which they went live. */
export function groupDeployments({ deployments, buckets, bucket_seconds, from }: MetricsHistory): MarkerGroup[] {
  const distance = Math.ceil(buckets.length / maxMarkers)
  const groups: MarkerGroup[] = []
  for (const deployment of deployments) {
    const index = Math.floor((Date.parse(deployment.ts) - Date.parse(from)) / 1000 / bucket_seconds)
    const last = groups.at(-1)
    if (last && index - last.index < distance) last.deployments.push(deployment)
    else groups.push({ index, deployments: [deployment] })
  }
  return groups
}

export function describeGroup({ deployments }: MarkerGroup): string {
  const newest = deployments.at(-1)
  const title = `${sanitizeForDisplay(newest?.title ?? '')}, ${formatDateTime(newest?.ts ?? '')}`
  return deployments.length === 1 ? `Deployed: ${title}` : `${deployments.length} deployments, the last: ${title}`
}

/** Links to deployments, below the time at which each went live. */
export function DeploymentMarkers({ slug, groups, count }: { slug: string; groups: readonly MarkerGroup[]; count: number }) {
  if (groups.length === 0) return null
  return (
    <ul className={styles.markers} aria-label="Deployments" style={{ marginLeft: chartMargin }}>
      {groups.map((group) => (
        <li key={group.index} style={{ left: `${((group.index + 0.5) / count) * 100}%` }}>
          <Link
            href={`/projects/${slug}/deployments/${group.deployments.at(-1)?.id ?? ''}`}
            title={describeGroup(group)}
            aria-label={describeGroup(group)}
          >
            <Rocket size={13} aria-hidden />
          </Link>
        </li>
      ))}
    </ul>
  )
}
