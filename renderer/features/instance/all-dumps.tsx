import { Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { DatabaseDump } from '../../../server/contract/databases.ts'
import { toApiError } from '../../lib/api-error.ts'
import { useAllDumps } from '../../api/maintenance.ts'
import { IconButton } from '../../components/button.tsx'
import { useDumpDownload } from '../../api/downloads.ts'
import { DownloadButton } from '../../components/download-button.tsx'
import { ProblemView } from '../../components/feedback.tsx'
import { formatBytes } from '../../lib/format.ts'
import { RelativeTime } from '../../components/time.tsx'
import { DeleteDumpDialog } from '../database/index.ts'
import { dumpFilename, dumpReasonLabels, dumpTitle } from '../../lib/database-format.ts'
import { getServiceLabel } from '../../lib/service-label.ts'
import styles from './backups-page.module.css'

/** Dumps of all databases, including those of deleted projects, which appear nowhere else. */
export function AllDumps() {
  const { data, error, refetch } = useAllDumps()
  const download = useDumpDownload()
  const [deleting, setDeleting] = useState<DatabaseDump | null>(null)
  return (
    <section className="card" aria-labelledby="every-dump">
      <header className="card-header">
        <h2 id="every-dump">Database dumps</h2>
        <span className={`text-subtle ${styles.backupAbout}`}>Kept when a database or its project is deleted</span>
      </header>
      {error && (
        <div className="card-body">
          <ProblemView problem={toApiError(error)} onRetry={() => void refetch()} />
        </div>
      )}
      {data?.length === 0 && (
        <p className="card-body text-muted">No dumps yet. Create them on the Database page of a project. One is also created before a drop.</p>
      )}
      <ul aria-label="Database dumps">
        {data?.map((dump) => (
          <li key={dump.id} className={`card-row ${styles.backupRow}`}>
            <div>
              <p>
                <strong>{dump.project_slug}</strong>{' '}
                <span className="text-muted">
                  {dump.service !== null && `${getServiceLabel(dump.service)}, `}
                  {dump.name === null ? dumpReasonLabels[dump.reason].toLowerCase() : dumpTitle(dump)}, <RelativeTime at={dump.created_at} />
                </span>
              </p>
              <p className={`${styles.backupPath} text-subtle`}>
                <span className="mono truncate" title={dump.file}>
                  {dump.file}
                </span>
              </p>
            </div>
            <span className={styles.backupBytes}>{formatBytes(dump.bytes)}</span>
            <span className={`row ${styles.backupActions}`}>
              <DownloadButton load={download(dump)} name={dumpFilename(dump)} label={`Download dump of ${dump.project_slug}`} />
              <IconButton icon={Trash2} label={`Delete dump of ${dump.project_slug}…`} onClick={() => setDeleting(dump)} />
            </span>
          </li>
        ))}
      </ul>
      {deleting && <DeleteDumpDialog dump={deleting} onOpenChange={() => setDeleting(null)} />}
    </section>
  )
}
