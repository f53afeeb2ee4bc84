import { type UseQueryResult } from '@tanstack/react-query'
import { Ellipsis, FileUp, HardDriveDownload, Pencil, RotateCcw, Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { DumpTarget } from '../../api/databases.ts'
import { useInstanceSession } from '../../api/instance.ts'
import type { DatabaseDump } from '../../../server/contract/databases.ts'
import type { Project } from '../../../server/contract/projects.ts'
import { toApiError } from '../../lib/api-error.ts'
import { Button, IconButton } from '../../components/button.tsx'
import { useDumpDownload } from '../../api/downloads.ts'
import { DownloadButton } from '../../components/download-button.tsx'
import { ProblemView, SkeletonRows } from '../../components/feedback.tsx'
import { formatBytes } from '../../lib/format.ts'
import { Menu, MenuItem } from '../../components/menu.tsx'
import { RelativeTime } from '../../components/time.tsx'
import { DeleteDumpDialog } from './delete-dump-dialog.tsx'
import { ImportDatabaseDialog } from './import-dialog.tsx'
import { CreateDumpDialog, RenameDumpDialog } from './name-dump-dialog.tsx'
import { RestoreDialog } from './restore-dialog.tsx'
import { dumpFilename, dumpReasonLabels, dumpTitle } from '../../lib/database-format.ts'
import styles from './page.module.css'

type OpenDialog = { name: 'create' | 'import' } | { name: 'restore' | 'rename' | 'delete'; dump: DatabaseDump }

/** Dumps of the PostgreSQL database or of a managed service, which can be restored. They outlive the database. */
export function Dumps({
  project,
  service,
  canRestore,
  query,
  requestedAction = null,
  onClosed,
}: {
  project: Project
  service?: DumpTarget
  /** Whether there is a database. */
  canRestore: boolean
  query: UseQueryResult<DatabaseDump[]>
  requestedAction?: string | null
  onClosed?: () => void
}) {
  const { slug } = project
  const { data, error, isPending, refetch } = query
  const isOwner = useInstanceSession().data?.user.is_instance_owner ?? false
  const [open, setOpen] = useState<OpenDialog | null>(null)
  const openDialog = open ?? (requestedAction === 'import' && canRestore ? { name: 'import' as const } : null)
  const close = () => {
    setOpen(null)
    onClosed?.()
  }
  // Without any database or dump, the section is hidden.
  if (!canRestore && (data?.length === 0 || (service && !data))) return null
  const title = service ? `Dumps of ${service.label}` : 'Dumps'
  return (
    <section className="card" aria-labelledby="dumps">
      <header className={`card-header ${styles.dbHead}`}>
        <h2 id="dumps">{title}</h2>
        {canRestore && (
          <div className="row">
            <Button icon={FileUp} onClick={() => setOpen({ name: 'import' })}>
              Import SQL…
            </Button>
            <Button icon={HardDriveDownload} onClick={() => setOpen({ name: 'create' })}>
              Create dump…
            </Button>
          </div>
        )}
      </header>
      {error && (
        <div className="card-body">
          <ProblemView problem={toApiError(error)} onRetry={() => void refetch()} />
        </div>
      )}
      {isPending && <SkeletonRows rows={2} height={60} />}
      {data?.length === 0 && (
        <p className="card-body text-muted">
          No dumps yet. A dump is the whole database as one SQL file, which you can restore here or use elsewhere. One is created automatically before{' '}
          {service ? 'an import or a restore.' : 'an import, a restore or a drop.'}
        </p>
      )}
      <ul aria-live="polite" aria-relevant="additions" aria-label={title}>
        {data?.map((one) => (
          <DumpRow
            key={one.id}
            dump={one}
            isOwner={isOwner}
            onRestore={canRestore ? () => setOpen({ name: 'restore', dump: one }) : null}
            onRename={() => setOpen({ name: 'rename', dump: one })}
            onDelete={() => setOpen({ name: 'delete', dump: one })}
          />
        ))}
      </ul>
      {data && data.length > 0 && !canRestore && (
        <p className={`card-body text-muted ${styles.dbFoot}`}>
          {service ? `To restore a dump, add ${service.label} first.` : 'To restore a dump, create a database first.'}
        </p>
      )}
      {openDialog?.name === 'create' && <CreateDumpDialog slug={slug} service={service} onOpenChange={close} />}
      {openDialog?.name === 'rename' && <RenameDumpDialog slug={slug} dump={openDialog.dump} onOpenChange={close} />}
      {openDialog?.name === 'import' && <ImportDatabaseDialog project={project} service={service} onOpenChange={close} />}
      {openDialog?.name === 'restore' && <RestoreDialog project={project} service={service} dump={openDialog.dump} onOpenChange={close} />}
      {openDialog?.name === 'delete' && <DeleteDumpDialog dump={openDialog.dump} onOpenChange={close} />}
    </section>
  )
}

function DumpRow({
  dump,
  isOwner,
  onRestore,
  onRename,
  onDelete,
}: {
  dump: DatabaseDump
  isOwner: boolean
  onRestore: (() => void) | null
  onRename: () => void
  onDelete: () => void
}) {
  const download = useDumpDownload()
  const when = <RelativeTime at={dump.created_at} />
  return (
    <li className={`card-row ${styles.dumpRow}`}>
      <div>
        <p>
          <strong>{dumpTitle(dump)}</strong>{' '}
          <span className="text-muted">
            {dump.name !== null && dump.reason !== 'manual' && `${dumpReasonLabels[dump.reason].toLowerCase()}, `}
            {when}
          </span>
        </p>
        <p className={`${styles.dumpPath} text-subtle`}>
          <span className="mono truncate" title={dump.file}>
            {dump.file}
          </span>
        </p>
      </div>
      <span className={styles.dumpBytes}>{formatBytes(dump.bytes)}</span>
      <span className={`row ${styles.dumpActions}`}>
        <DownloadButton load={download(dump)} name={dumpFilename(dump)} />
        <Menu trigger={<IconButton icon={Ellipsis} label={`Actions for the dump of ${dump.created_at}`} />}>
          <MenuItem icon={RotateCcw} disabled={!onRestore} onSelect={() => onRestore?.()}>
            Restore this dump…
          </MenuItem>
          <MenuItem icon={Pencil} onSelect={onRename}>
            Rename…
          </MenuItem>
          {isOwner && (
            <MenuItem icon={Trash2} danger onSelect={onDelete}>
              Delete…
            </MenuItem>
          )}
        </Menu>
      </span>
    </li>
  )
}
