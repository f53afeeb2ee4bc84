import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { useDoctor, useInstanceUsage } from '../../api/instance.ts'
import { useDisk } from '../../api/maintenance.ts'
import { Skeleton } from '../../components/feedback.tsx'
import { StatusIcon, checkBadges } from '../../components/status.tsx'
import { formatBytes } from '../../lib/format.ts'
import { mergeChecks } from './check-labels.ts'
import styles from './page.module.css'

/** Health, CPU, memory, disk and running apps at a glance. */
export function InstanceLoad() {
  const { data: checks, isError: hasNoChecks } = useDoctor()
  const { data: usage, isError: hasNoUsage } = useInstanceUsage(true)
  const { data: disk, isError: hasNoDisk } = useDisk()
  const worst = checks?.some(({ status }) => status === 'failed') ? 'failed' : checks?.some(({ status }) => status === 'warning') ? 'warning' : 'ok'
  const problems = mergeChecks(checks ?? []).filter(({ check }) => check.status !== 'ok').length
  return (
    <dl className={`card ${styles.load}`} aria-label="Summary">
      <Figure
        name="Health"
        isUnknown={hasNoChecks}
        value={
          checks && (
            <span className="row">
              <StatusIcon badge={checkBadges[worst]} /> {problems === 0 ? 'Healthy' : `${problems} ${problems === 1 ? 'problem' : 'problems'}`}
            </span>
          )
        }
      >
        {checks && `${checks.length} checks`}
      </Figure>
      <Figure name="CPU" isUnknown={hasNoUsage} value={usage && `${usage.cpu.percent.toFixed(0)} %`}>
        {usage && `of ${usage.cpu.cores} ${usage.cpu.cores === 1 ? 'core' : 'cores'}`}
      </Figure>
      <Figure name="Memory" isUnknown={hasNoUsage} value={usage && formatBytes(usage.memory.used_bytes)}>
        {usage && `of ${formatBytes(usage.memory.total_bytes)}`}
      </Figure>
      <Figure name="Disk" isUnknown={hasNoDisk} value={disk && formatBytes(disk.total_bytes)}>
        {disk && <Link href="/instance/disk">{formatBytes(disk.free_bytes)} free</Link>}
      </Figure>
      <Figure name="Apps live" isUnknown={hasNoUsage} value={usage && usage.apps.live.toLocaleString()}>
        {usage &&
          [`${usage.apps.asleep.toLocaleString()} asleep`, ...(usage.apps.failed > 0 ? [`${usage.apps.failed.toLocaleString()} failed`] : [])].join(
            ', ',
          )}
      </Figure>
    </dl>
  )
}

function Figure({ name, value, isUnknown, children }: { name: string; value: ReactNode; isUnknown: boolean; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value ?? (isUnknown ? '–' : <Skeleton width={64} height={20} />)}</dd>
      <dd className="text-subtle">{children || '\u00a0'}</dd>
    </div>
  )
}
