import { Eraser, TriangleAlert } from 'lucide-react'
import { useState } from 'react'
import { useSearchParams } from 'wouter'
import type { CleanableKind, DiskUsage } from '../../../server/contract/maintenance.ts'
import type { CallOutput } from '../../../server/client/operation-types.ts'
import { toApiError } from '../../lib/api-error.ts'
import { useDisk } from '../../api/maintenance.ts'
import { Button } from '../../components/button.tsx'
import { ProblemView, SkeletonRows } from '../../components/feedback.tsx'
import { formatBytes } from '../../lib/format.ts'
import { useScrollToSection } from '../../lib/use-scroll-to-section.ts'
import { useTitle } from '../../lib/use-title.ts'
import { CleanUpDialog } from './clean-up-dialog.tsx'
import { isCleanable, diskKinds, largestParts, freeSpaceLevel, safeKinds, reclaimableSpace } from './disk-kinds.ts'
import { OwnerPage } from './owner-page.tsx'
import styles from './disk-page.module.css'

/** Disk usage by kind, and cleanup. */
export default function DiskPage() {
  useTitle('Disk')
  return (
    <OwnerPage deniedMessage="Only the instance owner can see disk usage.">
      <Disk />
    </OwnerPage>
  )
}

function Disk() {
  const { data, error, isPending, refetch } = useDisk()
  const [params, setParams] = useSearchParams()
  const [cleaning, setCleaning] = useState<readonly CleanableKind[] | null>(null)
  useScrollToSection(data !== undefined)
  // The palette opens the dialog with this parameter.
  const cleanUpKinds = cleaning ?? (params.get('do') === 'clean' ? safeKinds : null)
  const close = () => {
    setCleaning(null)
    if (params.has('do')) setParams({}, { replace: true })
  }
  const rows = [...(data?.kinds ?? [])].sort((a, b) => b.bytes - a.bytes)
  const shownRows = rows.filter(hasContent)
  const emptyKinds = [...new Set(rows.filter((row) => !hasContent(row)).map(kindLabel))]
  return (
    <>
      {error && <ProblemView problem={toApiError(error)} onRetry={() => void refetch()} />}
      {isPending && <SkeletonRows rows={8} height={64} />}
      {data && (
        <>
          <DiskSummary disk={data} onClean={() => setCleaning(safeKinds)} />
          <section className="card" aria-labelledby="kinds">
            <header className="card-header">
              <h2 id="kinds">By kind</h2>
            </header>
            <ul>
              {shownRows.map((row) => (
                <KindRow key={`${row.kind} ${row.location}`} row={row} onClean={(kind) => setCleaning([kind])} />
              ))}
            </ul>
            {emptyKinds.length > 0 && <p className={`${styles.diskNothing} text-subtle`}>Empty: {emptyKinds.join(', ')}.</p>}
          </section>
          {cleanUpKinds && <CleanUpDialog rows={data.kinds} chosen={cleanUpKinds} onOpenChange={close} />}
        </>
      )}
    </>
  )
}

/** Whether the kind uses disk space, or its usage is unknown because the container engine is down. */
const hasContent = ({ bytes: taken, reclaimable_bytes }: DiskUsage) => taken > 0 || reclaimable_bytes !== 0
const kindLabel = ({ kind, location }: DiskUsage) => `${diskKinds[kind].name.toLowerCase()}${location === 'engine' ? ' in the container engine' : ''}`

function DiskSummary({ disk, onClean }: { disk: CallOutput<'getDisk'>; onClean: () => void }) {
  const parts = largestParts(disk.kinds)
  const free = reclaimableSpace(disk.kinds, safeKinds)
  const freeSpace = freeSpaceLevel(disk.free_bytes)
  return (
    <section className="card card-body stack" aria-labelledby="room">
      <div className={styles.diskHead}>
        <div>
          <h2 id="room" className={styles.diskSum}>
            {formatBytes(disk.total_bytes)} <span className={styles.diskSumLabel}>used by Homeport</span>
          </h2>
          <p className="text-muted">
            {formatBytes(disk.free_bytes)} free on the disk of <span className="mono">{disk.data_dir}</span>
          </p>
        </div>
        <Button kind={freeSpace === 'enough' ? 'plain' : 'primary'} icon={Eraser} onClick={onClean}>
          Clean up…
        </Button>
      </div>
      {freeSpace !== 'enough' && (
        <p className={styles.diskWarning} role="status">
          <TriangleAlert size={16} aria-hidden />
          <span>
            <strong>{freeSpace === 'low' ? 'The disk is filling up.' : 'The disk is nearly full.'}</strong> When it is full, deployments, uploads and
            dumps are rejected; running apps keep running.{' '}
            {free.bytes > 0 ? `A cleanup frees about ${formatBytes(free.bytes)}.` : 'Free up space on it, or move the data folder to another disk.'}
          </span>
        </p>
      )}
      {parts.length > 0 && (
        <>
          <div
            className={styles.diskBar}
            role="img"
            aria-label={`By kind: ${parts.map((part) => `${part.name} ${formatBytes(part.bytes)}`).join(', ')}`}
          >
            {parts.map((part, index) => (
              <span
                key={part.name}
                className={styles[`disk-part-${index}`]}
                style={{ flexGrow: part.bytes }}
                title={`${part.name} ${formatBytes(part.bytes)}`}
              />
            ))}
          </div>
          <ul className={styles.diskLegend}>
            {parts.map((part, index) => (
              <li key={part.name}>
                <span className={`${styles.diskSwatch} ${styles[`disk-part-${index}`]}`} aria-hidden />
                {part.name} <strong>{formatBytes(part.bytes)}</strong>
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  )
}

function KindRow({ row, onClean }: { row: DiskUsage; onClean: (kind: CleanableKind) => void }) {
  const { kind, location, count, note, reclaimable_bytes } = row
  const { name, about } = diskKinds[kind]
  return (
    <li className={styles.diskRow}>
      <div>
        <p>
          <strong>{name}</strong> <span className="text-subtle">{location === 'engine' ? 'in the container engine' : 'in the data folder'}</span>
        </p>
        <p className={`text-muted ${styles.diskAbout}`}>{note ?? about}</p>
      </div>
      <p className={styles.diskBytes}>
        <strong>{formatBytes(row.bytes)}</strong>
        {count !== null && count > 0 && <span className="text-subtle">{count === 1 ? '1 item' : `${count.toLocaleString()} items`}</span>}
      </p>
      <p className={styles.diskFree}>
        {isCleanable(kind) &&
          (reclaimable_bytes === 0 ? (
            <span className="text-subtle">nothing to free</span>
          ) : (
            <Button onClick={() => onClean(kind)}>
              {reclaimable_bytes === null ? 'Clean up…' : `Free ${formatBytes(reclaimable_bytes)}…`}
              <span className="visually-hidden"> of {kindLabel(row)}</span>
            </Button>
          ))}
      </p>
    </li>
  )
}
