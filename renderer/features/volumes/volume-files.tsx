import { ChevronLeft, File, Folder, FolderOpen, Link2 } from 'lucide-react'
import { Link } from 'wouter'
import type { VolumeEntry } from '../../../server/contract/volumes.ts'
import { useVolumeDownload } from '../../api/downloads.ts'
import { useVolumeFiles } from '../../api/volumes.ts'
import { DownloadButton } from '../../components/download-button.tsx'
import { EmptyState, ProblemView, SkeletonRows } from '../../components/feedback.tsx'
import { RelativeTime } from '../../components/time.tsx'
import { toApiError } from '../../lib/api-error.ts'
import { formatBytes } from '../../lib/format.ts'
import { sanitizeForDisplay } from '../../lib/sanitize-for-display.ts'
import { volumeFilesPath } from './volume-format.ts'
import styles from './volumes.module.css'

interface Props {
  slug: string
  branch: string | null
  name: string
  /** The folder; empty for the root of the volume. */
  path: string
}

/** The current files in a folder of a volume. */
export function VolumeFiles({ slug, branch, name, path }: Props) {
  const { data, error, refetch } = useVolumeFiles(slug, branch, name, path)
  const segments = path === '' ? [] : path.split('/')
  const back = new URLSearchParams(branch === null ? {} : { branch }).toString()
  return (
    <div className="stack">
      <Link href={`/projects/${slug}/volumes${back === '' ? '' : `?${back}`}`} className={styles.back}>
        <ChevronLeft size={16} aria-hidden />
        All volumes
      </Link>
      <section className="card" aria-labelledby="volume-files">
        <header className="card-header">
          <h2 id="volume-files" className={styles.crumbs}>
            {segments.length === 0 ? name : <Link href={volumeFilesPath(slug, branch, name)}>{name}</Link>}
            {segments.map((segment, index) => {
              const folder = segments.slice(0, index + 1).join('/')
              const text = sanitizeForDisplay(segment)
              return (
                <span key={folder}>
                  <span className="text-subtle"> / </span>
                  {index === segments.length - 1 ? text : <Link href={volumeFilesPath(slug, branch, name, folder)}>{text}</Link>}
                </span>
              )
            })}
          </h2>
        </header>
        {error && !data && <ProblemView problem={toApiError(error)} onRetry={() => void refetch()} />}
        {!error && data === undefined && <SkeletonRows rows={4} height={48} />}
        {data?.entries.length === 0 && (
          <EmptyState icon={FolderOpen} title="No files">
            This folder is empty.
          </EmptyState>
        )}
        {data && data.entries.length > 0 && (
          <ul data-rows aria-label="Files">
            {data.entries.map((entry) => (
              <EntryRow key={entry.name} slug={slug} branch={branch} name={name} path={path} entry={entry} />
            ))}
          </ul>
        )}
        {data && !data.is_complete && (
          <p className={`card-body text-muted ${styles.foot}`}>There are more files. Download the volume to see all of them.</p>
        )}
      </section>
    </div>
  )
}

const icons = { file: File, folder: Folder, link: Link2, other: File } as const

function EntryRow({ slug, branch, name, path, entry }: Props & { entry: VolumeEntry }) {
  const download = useVolumeDownload(slug, branch, name)
  const full = path === '' ? entry.name : `${path}/${entry.name}`
  const text = sanitizeForDisplay(entry.name)
  const Icon = icons[entry.kind]
  return (
    <li className={`card-row ${styles.entry}`}>
      <span className={styles.entryName}>
        <Icon size={16} aria-hidden />
        {entry.kind === 'folder' ? (
          <Link href={volumeFilesPath(slug, branch, name, full)} className="truncate">
            {text}
          </Link>
        ) : (
          <span className="truncate">
            {text}
            {entry.kind === 'link' && <span className="text-subtle"> · link</span>}
          </span>
        )}
      </span>
      <span className={`text-subtle ${styles.changed}`}>{entry.modified_at !== null && <RelativeTime at={entry.modified_at} />}</span>
      <span className={styles.bytes}>{entry.size_bytes !== null && formatBytes(entry.size_bytes)}</span>
      <span className={`row ${styles.actions}`}>
        {entry.kind === 'file' && <DownloadButton load={download.file(full)} name={entry.name} label={`Download ${text}`} />}
      </span>
    </li>
  )
}
