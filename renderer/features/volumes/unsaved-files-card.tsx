import { TriangleAlert } from 'lucide-react'
import { useState } from 'react'
import type { UnsavedFiles } from '../../../server/contract/unsaved-files.ts'
import { useAddVolume, useDismissUnsavedFiles, useUnsavedFiles } from '../../api/volumes.ts'
import { Button } from '../../components/button.tsx'
import { HelpLink } from '../../components/help-link.tsx'
import { RelativeTime } from '../../components/time.tsx'
import { formatBytes } from '../../lib/format.ts'
import { sanitizeForDisplay } from '../../lib/sanitize-for-display.ts'
import { KeepFilesDialog } from './keep-files-dialog.tsx'
import styles from './volumes.module.css'

/** Files that the next deployment would lose, each with one click to keep them. Renders nothing without any. */
export function UnsavedFilesCard({ slug, onDeployed }: { slug: string; onDeployed: (id: string | null) => void }) {
  const { data: reports } = useUnsavedFiles(slug)
  const keepAll = useAddVolume({ successMessage: 'Keeping all paths.', onSuccess: ({ deployment_id }) => onDeployed(deployment_id) })
  const [first, ...others] = reports ?? []
  if (!first) return null
  return (
    <section className="card" aria-labelledby="unsaved-files">
      <header className={`card-header ${styles.head}`}>
        <h2 id="unsaved-files" className={styles.warning}>
          <TriangleAlert size={16} aria-hidden />
          Files that are not kept
        </h2>
        {others.length > 0 ? (
          <Button
            kind="primary"
            busy={keepAll.isPending}
            onClick={() => keepAll.mutate({ params: { slug }, body: { ...toBody(first), with_unsaved_files: true } })}
          >
            Keep all
          </Button>
        ) : (
          <HelpLink topic="volumes">How volumes work</HelpLink>
        )}
      </header>
      <p className={`card-body text-muted ${styles.intro}`}>
        The app wrote files outside of a volume. The next deployment starts without them. Keeping a path redeploys the project, and its volume starts
        with these files.
      </p>
      <ul data-rows className={styles.rows}>
        {[first, ...others].map((report) => (
          <UnsavedRow key={report.id} slug={slug} report={report} onDeployed={onDeployed} />
        ))}
      </ul>
    </section>
  )
}

const toBody = ({ path, service }: UnsavedFiles) => ({ path, ...(service !== null && { service }) })

function UnsavedRow({ slug, report, onDeployed }: { slug: string; report: UnsavedFiles; onDeployed: (id: string | null) => void }) {
  const { id, path, service, kind, files, size_bytes, is_file, saved, found_at } = report
  const keep = useAddVolume({ successMessage: `Keeping ${path}.`, onSuccess: ({ deployment_id }) => onDeployed(deployment_id) })
  const dismiss = useDismissUnsavedFiles({ successMessage: `Dismissed ${path}.` })
  const [isChoosing, setChoosing] = useState(false)
  return (
    <li className={`card-row ${styles.unsaved}`}>
      <div>
        <p>
          <code>{sanitizeForDisplay(path)}</code>
          {service !== null && <span className="text-subtle"> · {service}</span>}
        </p>
        <p className={`text-subtle ${styles.small}`}>
          {kindLabels[kind]} · {files === 1 ? '1 file' : `${files.toLocaleString()} files`}
          {size_bytes !== null && ` · ${formatBytes(size_bytes)}`} · found <RelativeTime at={found_at} />
          {saved && (
            <>
              {' '}
              · files of an earlier version saved <RelativeTime at={saved.created_at} />
            </>
          )}
        </p>
      </div>
      <span className={`row ${styles.actions}`}>
        <Button
          aria-label={`${is_file ? 'Keep this file' : 'Keep this folder'}: ${path}`}
          busy={keep.isPending}
          onClick={() => (saved ? setChoosing(true) : keep.mutate({ params: { slug }, body: toBody(report) }))}
        >
          {is_file ? 'Keep this file' : 'Keep this folder'}
        </Button>
        <Button kind="bare" aria-label={`Dismiss ${path}`} busy={dismiss.isPending} onClick={() => dismiss.mutate({ params: { slug, id } })}>
          Dismiss
        </Button>
      </span>
      {isChoosing && saved && (
        <KeepFilesDialog slug={slug} report={report} saved={saved} onClose={() => setChoosing(false)} onDeployed={onDeployed} />
      )}
    </li>
  )
}

const kindLabels: Record<UnsavedFiles['kind'], string> = { database: 'SQLite database', uploads: 'Uploads or data', files: 'Many megabytes of files' }
