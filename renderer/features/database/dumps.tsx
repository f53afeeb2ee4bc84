import { type UseQueryResult, useQueryClient } from '@tanstack/react-query'
import { Ellipsis, FileUp, HardDriveDownload, RotateCcw, Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { Database, DatabaseDump } from '../../../server/contract/databases.ts'
import type { Project } from '../../../server/contract/projects.ts'
import { useAction } from '../../api/actions.ts'
import { keys } from '../../api/keys.ts'
import { problemFrom } from '../../api/problem.ts'
import { useClient, useInstance } from '../../api/queries.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { DownloadButton } from '../../ui/download-button.tsx'
import { ProblemView, SkeletonRows } from '../../ui/feedback.tsx'
import { bytes } from '../../ui/format.ts'
import { Menu, MenuItem } from '../../ui/menu.tsx'
import { Ago } from '../../ui/time.tsx'
import { DeleteDumpDialog } from './delete-dump-dialog.tsx'
import { ImportDialog } from './import-dialog.tsx'
import { RestoreDialog } from './restore-dialog.tsx'
import { dumpName, reasons } from './words.ts'

type Open = { name: 'import' } | { name: 'restore' | 'delete'; dump: DatabaseDump }

/** Copies of the database in files, of which one can be put back. They outlive it. */
export function Dumps({
  project,
  database,
  query,
  wish,
  onAnswered,
}: {
  project: Project
  database: Database | null
  query: UseQueryResult<DatabaseDump[]>
  wish: string | null
  onAnswered: () => void
}) {
  const { slug } = project
  const { data, error, isPending, refetch } = query
  const cache = useQueryClient()
  const isOwner = useInstance().data?.user.is_instance_owner ?? false
  const [open, setOpen] = useState<Open | null>(null)
  const shown = open ?? (wish === 'import' && database ? { name: 'import' as const } : null)
  const again = () => {
    void cache.invalidateQueries({ queryKey: keys.dumps(slug) })
    void cache.invalidateQueries({ queryKey: keys.everyDump })
    void cache.invalidateQueries({ queryKey: keys.disk })
  }
  const close = () => {
    setOpen(null)
    onAnswered()
  }
  const dump = useAction('dumpDatabase', { done: 'The dump is written.', onDone: again })
  // An instance that never had one has nothing to say here.
  if (!database && data?.length === 0) return null
  return (
    <section className="card" aria-labelledby="dumps">
      <header className="card-head db-head">
        <h2 id="dumps">Dumps</h2>
        {database && (
          <div className="row">
            <Button icon={FileUp} onClick={() => setOpen({ name: 'import' })}>
              Import a file…
            </Button>
            <Button icon={HardDriveDownload} busy={dump.isPending} onClick={() => dump.mutate({ params: { slug } })}>
              Make a dump
            </Button>
          </div>
        )}
      </header>
      {error && (
        <div className="card-body">
          <ProblemView problem={problemFrom(error)} onRetry={() => void refetch()} />
        </div>
      )}
      {isPending && <SkeletonRows rows={2} height={60} />}
      {data?.length === 0 && (
        <p className="card-body quiet">
          None yet. A dump is the whole database as SQL in one file: to put back here, or to take elsewhere. One is written by itself before anything
          here replaces or drops the data.
        </p>
      )}
      <ul aria-live="polite" aria-relevant="additions" aria-label="Dumps">
        {data?.map((one) => (
          <DumpRow
            key={one.id}
            dump={one}
            isOwner={isOwner}
            onRestore={database ? () => setOpen({ name: 'restore', dump: one }) : null}
            onDelete={() => setOpen({ name: 'delete', dump: one })}
          />
        ))}
      </ul>
      {data && data.length > 0 && !database && <p className="card-body quiet db-foot">To put one back, make a database first.</p>}
      {shown?.name === 'import' && <ImportDialog project={project} onOpenChange={close} onImported={again} />}
      {shown?.name === 'restore' && <RestoreDialog project={project} dump={shown.dump} onOpenChange={close} onRestored={again} />}
      {shown?.name === 'delete' && <DeleteDumpDialog dump={shown.dump} onOpenChange={close} onDeleted={again} />}
    </section>
  )
}

function DumpRow({
  dump,
  isOwner,
  onRestore,
  onDelete,
}: {
  dump: DatabaseDump
  isOwner: boolean
  onRestore: (() => void) | null
  onDelete: () => void
}) {
  const client = useClient()
  const when = <Ago at={dump.created_at} />
  return (
    <li className="card-row dump-row">
      <div>
        <p>
          <strong>{reasons[dump.reason]}</strong> <span className="quiet">{when}</span>
        </p>
        <p className="dump-path faint">
          <span className="mono clip" title={dump.file}>
            {dump.file}
          </span>
        </p>
      </div>
      <span className="dump-bytes">{bytes(dump.bytes)}</span>
      <span className="row dump-acts">
        <DownloadButton url={client.urlOf('downloadDatabaseDump', { params: { slug: dump.project_slug, id: dump.id } })} name={dumpName(dump)} />
        {(onRestore || isOwner) && (
          <Menu trigger={<IconButton icon={Ellipsis} label={`What to do with the dump of ${dump.created_at}`} />}>
            <MenuItem icon={RotateCcw} disabled={!onRestore} onSelect={() => onRestore?.()}>
              Put the database back to this…
            </MenuItem>
            {isOwner && (
              <MenuItem icon={Trash2} danger onSelect={onDelete}>
                Delete…
              </MenuItem>
            )}
          </Menu>
        )}
      </span>
    </li>
  )
}
