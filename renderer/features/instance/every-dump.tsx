import { useQueryClient } from '@tanstack/react-query'
import { Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { DatabaseDump } from '../../../server/contract/databases.ts'
import { keys } from '../../api/keys.ts'
import { problemFrom } from '../../api/problem.ts'
import { useClient } from '../../api/queries.ts'
import { useEveryDump } from '../../api/upkeep.ts'
import { IconButton } from '../../ui/button.tsx'
import { DownloadButton } from '../../ui/download-button.tsx'
import { ProblemView } from '../../ui/feedback.tsx'
import { bytes } from '../../ui/format.ts'
import { Ago } from '../../ui/time.tsx'
import { DeleteDumpDialog } from '../database/delete-dump-dialog.tsx'
import { dumpName, reasons } from '../database/words.ts'

/** Dumps of all databases, those of projects that are gone included: nowhere else is one to be found. */
export function EveryDump() {
  const { data, error, refetch } = useEveryDump()
  const client = useClient()
  const cache = useQueryClient()
  const [deleting, setDeleting] = useState<DatabaseDump | null>(null)
  return (
    <section className="card" aria-labelledby="every-dump">
      <header className="card-head">
        <h2 id="every-dump">Dumps of databases</h2>
        <span className="faint backup-about">They stay when a database or its project goes</span>
      </header>
      {error && (
        <div className="card-body">
          <ProblemView problem={problemFrom(error)} onRetry={() => void refetch()} />
        </div>
      )}
      {data?.length === 0 && <p className="card-body quiet">None yet. They are made on the Database page of a project, and before a drop.</p>}
      <ul aria-label="Dumps of databases">
        {data?.map((dump) => (
          <li key={dump.id} className="card-row backup-row">
            <div>
              <p className="backup-title">
                <strong>{dump.project_slug}</strong>{' '}
                <span className="quiet">
                  {reasons[dump.reason].toLowerCase()}, <Ago at={dump.created_at} />
                </span>
              </p>
              <p className="backup-path faint">
                <span className="mono clip" title={dump.file}>
                  {dump.file}
                </span>
              </p>
            </div>
            <span className="backup-bytes">{bytes(dump.bytes)}</span>
            <span className="row backup-acts">
              <DownloadButton
                url={client.urlOf('downloadDatabaseDump', { params: { slug: dump.project_slug, id: dump.id } })}
                name={dumpName(dump)}
                label={`Download the dump of ${dump.project_slug}`}
              />
              <IconButton icon={Trash2} label={`Delete the dump of ${dump.project_slug}…`} onClick={() => setDeleting(dump)} />
            </span>
          </li>
        ))}
      </ul>
      {deleting && (
        <DeleteDumpDialog
          dump={deleting}
          onOpenChange={() => setDeleting(null)}
          onDeleted={() => {
            for (const queryKey of [keys.everyDump, keys.dumps(deleting.project_slug), keys.disk]) void cache.invalidateQueries({ queryKey })
          }}
        />
      )}
    </section>
  )
}
