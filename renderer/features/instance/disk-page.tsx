import { Eraser, TriangleAlert } from 'lucide-react'
import { useState } from 'react'
import { useSearchParams } from 'wouter'
import type { CleanKind, DiskUse } from '../../../server/contract/upkeep.ts'
import type { Answer } from '../../api/client.ts'
import { problemFrom } from '../../api/problem.ts'
import { useDisk } from '../../api/upkeep.ts'
import { Button } from '../../ui/button.tsx'
import { ProblemView, SkeletonRows } from '../../ui/feedback.tsx'
import { bytes } from '../../ui/format.ts'
import { useLanding } from '../frame/landing.ts'
import { useTitle } from '../frame/title.ts'
import { CleanDialog } from './clean-dialog.tsx'
import { isCleanable, kinds, partsOf, roomLeft, safeKinds, wouldFree } from './disk-kinds.ts'
import { OwnerPage } from './owner-page.tsx'
import './disk-page.css'

/** What of the disk Homeport takes, for what, and what of it can go. */
export default function DiskPage() {
  useTitle('Disk')
  return (
    <OwnerPage refusal="What takes which room on this machine is its owner’s business.">
      <Disk />
    </OwnerPage>
  )
}

function Disk() {
  const { data, error, isPending, refetch } = useDisk()
  const [params, setParams] = useSearchParams()
  const [cleaning, setCleaning] = useState<readonly CleanKind[] | null>(null)
  useLanding(data !== undefined)
  // The palette leads here with the question already put.
  const shown = cleaning ?? (params.get('do') === 'clean' ? safeKinds : null)
  const close = () => {
    setCleaning(null)
    if (params.has('do')) setParams({}, { replace: true })
  }
  const rows = [...(data?.kinds ?? [])].sort((a, b) => b.bytes - a.bytes)
  const told = rows.filter(isWorthARow)
  const untold = [...new Set(rows.filter((row) => !isWorthARow(row)).map(nameOf))]
  return (
    <>
      {error && <ProblemView problem={problemFrom(error)} onRetry={() => void refetch()} />}
      {isPending && <SkeletonRows rows={8} height={64} />}
      {data && (
        <>
          <Room disk={data} onClean={() => setCleaning(safeKinds)} />
          <section className="card" aria-labelledby="kinds">
            <header className="card-head">
              <h2 id="kinds">By kind</h2>
            </header>
            <ul>
              {told.map((row) => (
                <KindRow key={`${row.kind} ${row.place}`} row={row} onClean={(kind) => setCleaning([kind])} />
              ))}
            </ul>
            {untold.length > 0 && <p className="disk-nothing faint">Nothing yet: {untold.join(', ')}.</p>}
          </section>
          {shown && <CleanDialog rows={data.kinds} chosen={shown} onOpenChange={close} />}
        </>
      )}
    </>
  )
}

/** Something lies there, or perhaps does: it is not known while the engine is away. */
const isWorthARow = ({ bytes: taken, reclaimable_bytes }: DiskUse) => taken > 0 || reclaimable_bytes !== 0
const nameOf = ({ kind, place }: DiskUse) => `${kinds[kind].name.toLowerCase()}${place === 'engine' ? ' inside the engine' : ''}`

function Room({ disk, onClean }: { disk: Answer<'getDisk'>; onClean: () => void }) {
  const parts = partsOf(disk.kinds)
  const free = wouldFree(disk.kinds, safeKinds)
  const left = roomLeft(disk.free_bytes)
  return (
    <section className="card card-body stack" aria-labelledby="room">
      <div className="disk-head">
        <div>
          <h2 id="room" className="disk-sum">
            {bytes(disk.total_bytes)} <span className="disk-sum-words">taken by Homeport</span>
          </h2>
          <p className="quiet">
            {bytes(disk.free_bytes)} free on the disk of <span className="mono">{disk.data_dir}</span>
          </p>
        </div>
        <Button kind={left === 'enough' ? 'plain' : 'primary'} icon={Eraser} onClick={onClean}>
          Clean up…
        </Button>
      </div>
      {left !== 'enough' && (
        <p className="disk-warning" role="status">
          <TriangleAlert size={16} aria-hidden />
          <span>
            <strong>{left === 'low' ? 'The disk is filling up.' : 'The disk is nearly full.'}</strong> When nothing is left, deployments, uploads and
            dumps are refused; what runs goes on.{' '}
            {free.bytes > 0 ? `A clean-up frees about ${bytes(free.bytes)}.` : 'Make room on it, or move the data folder to another disk.'}
          </span>
        </p>
      )}
      {parts.length > 0 && (
        <>
          <div className="disk-bar" role="img" aria-label={`By kind: ${parts.map((part) => `${part.name} ${bytes(part.bytes)}`).join(', ')}`}>
            {parts.map((part, index) => (
              <span key={part.name} className={`disk-part-${index}`} style={{ flexGrow: part.bytes }} title={`${part.name} ${bytes(part.bytes)}`} />
            ))}
          </div>
          <ul className="disk-key">
            {parts.map((part, index) => (
              <li key={part.name}>
                <span className={`disk-swatch disk-part-${index}`} aria-hidden />
                {part.name} <strong>{bytes(part.bytes)}</strong>
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  )
}

function KindRow({ row, onClean }: { row: DiskUse; onClean: (kind: CleanKind) => void }) {
  const { kind, place, count, note, reclaimable_bytes } = row
  const { name, about } = kinds[kind]
  return (
    <li className="disk-row">
      <div>
        <p>
          <strong>{name}</strong> <span className="faint">{place === 'engine' ? 'inside the engine' : 'in the data folder'}</span>
        </p>
        <p className="quiet disk-about">{note ?? about}</p>
      </div>
      <p className="disk-bytes">
        <strong>{bytes(row.bytes)}</strong>
        {count !== null && count > 0 && <span className="faint">{count === 1 ? '1 piece' : `${count.toLocaleString()} pieces`}</span>}
      </p>
      <p className="disk-free">
        {isCleanable(kind) &&
          (reclaimable_bytes === 0 ? (
            <span className="faint">nothing to free</span>
          ) : (
            <Button onClick={() => onClean(kind)}>
              {reclaimable_bytes === null ? 'Clean up…' : `Free ${bytes(reclaimable_bytes)}…`}
              <span className="unseen"> of {nameOf(row)}</span>
            </Button>
          ))}
      </p>
    </li>
  )
}
