import { Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useDeleteBackup, useBackups, useDisk, useAllDumps } from '../../api/maintenance.ts'
import type { Backup } from '../../../server/contract/maintenance.ts'
import { toApiError } from '../../lib/api-error.ts'
import { Button, IconButton } from '../../components/button.tsx'
import { CopyButton } from '../../components/copy.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { useBackupDownload } from '../../api/downloads.ts'
import { DownloadButton } from '../../components/download-button.tsx'
import { ProblemView, SkeletonRows } from '../../components/feedback.tsx'
import { formatBytes, formatDateTime } from '../../lib/format.ts'
import { RelativeTime } from '../../components/time.tsx'
import { useInitialLoading } from '../../lib/use-initial-loading.ts'
import { useScrollToSection } from '../../lib/use-scroll-to-section.ts'
import { useTitle } from '../../lib/use-title.ts'
import { AllDumps } from './all-dumps.tsx'
import { CreateBackup } from './create-backup.tsx'
import { OwnerPage } from './owner-page.tsx'
import { RecoveryNotice } from './recovery-notice.tsx'
import { RestoreInstructions } from './restore-instructions.tsx'
import styles from './backups-page.module.css'

/** Backups of the instance, restore instructions, and what a backup does not include. */
export default function BackupsPage() {
  useTitle('Backups')
  return (
    <OwnerPage deniedMessage="Only the instance owner can see backups.">
      <Backups />
    </OwnerPage>
  )
}

const isFullBackup = ({ kind }: Backup) => kind === 'full'
const backupKindLabels: Record<Exclude<Backup['kind'], 'full'>, string> = { hourly: 'Hourly copy', before_migration: 'Before an update' }

function Backups() {
  const backupsQuery = useBackups()
  const { data, error, refetch } = backupsQuery
  const [deleting, setDeleting] = useState<Backup | null>(null)
  const dumps = useAllDumps()
  const isLoading = useInitialLoading([backupsQuery, useDisk(), dumps])
  useScrollToSection(data !== undefined && dumps.data !== undefined)
  const backups = data?.backups.filter(isFullBackup)
  const copies = data?.backups.filter((one) => !isFullBackup(one))
  // All sections render together, so that none of them shifts another.
  if (isLoading) return <SkeletonRows rows={8} height={72} />
  return (
    <>
      <RecoveryNotice />
      <CreateBackup />
      {error && <ProblemView problem={toApiError(error)} onRetry={() => void refetch()} />}
      <section className="card" aria-labelledby="full">
        <header className="card-header">
          <h2 id="full">Backups</h2>
          <span className={`text-subtle ${styles.backupAbout}`}>The whole instance in one file</span>
        </header>
        {backups?.length === 0 && <p className="card-body text-muted">No backups yet. Create one and keep it on another machine.</p>}
        <ul aria-live="polite" aria-relevant="additions" aria-label="Backups">
          {backups?.map((one) => (
            <BackupRow key={one.name} backup={one} title={formatDateTime(one.created_at)} onDelete={() => setDeleting(one)} />
          ))}
        </ul>
      </section>
      <RestoreInstructions newest={backups?.[0]} />
      <section className="card" aria-labelledby="copies">
        <header className="card-header">
          <h2 id="copies">Automatic copies</h2>
          <span className={`text-subtle ${styles.backupAbout}`}>Platform database only: projects, deployments, settings, encrypted secrets</span>
        </header>
        {copies?.length === 0 && <p className="card-body text-muted">No copies yet. One is created every hour; the last seven are kept.</p>}
        <ul aria-label="Automatic copies">
          {copies?.map((one) => (
            <BackupRow
              key={one.name}
              backup={one}
              title={one.kind === 'full' ? one.name : backupKindLabels[one.kind]}
              onDelete={() => setDeleting(one)}
            />
          ))}
        </ul>
      </section>
      <AllDumps />
      {deleting && <DeleteBackupDialog backup={deleting} onOpenChange={() => setDeleting(null)} />}
    </>
  )
}

function BackupRow({ backup, title, onDelete }: { backup: Backup; title: string; onDelete: () => void }) {
  const download = useBackupDownload()
  const { name, path, created_at } = backup
  return (
    <li className={`card-row ${styles.backupRow}`}>
      <div>
        <p>
          <strong>{title}</strong>{' '}
          <span className="text-muted">
            <RelativeTime at={created_at} />
          </span>
        </p>
        <p className={`${styles.backupPath} text-subtle`}>
          <span className="mono truncate" title={path}>
            {path}
          </span>
          <CopyButton text={path} label="Copy path" />
        </p>
      </div>
      <span className={styles.backupBytes}>{formatBytes(backup.bytes)}</span>
      <span className={`row ${styles.backupActions}`}>
        <DownloadButton load={download(name)} name={name} label={`Download ${name}`} />
        <IconButton icon={Trash2} label={`Delete ${name}…`} onClick={onDelete} />
      </span>
    </li>
  )
}

function DeleteBackupDialog({ backup, onOpenChange }: { backup: Backup; onOpenChange: () => void }) {
  const remove = useDeleteBackup({
    hidesErrorToast: true,
    successMessage: 'Backup deleted.',
    onSuccess: onOpenChange,
  })
  return (
    <Dialog
      open
      onOpenChange={onOpenChange}
      title={isFullBackup(backup) ? 'Delete this backup?' : 'Delete this copy?'}
      description={`${backup.name} of ${formatDateTime(backup.created_at)}, ${formatBytes(backup.bytes)}, is permanently deleted. Copies that you downloaded are not affected.`}
    >
      {remove.error && <ProblemView problem={remove.error} />}
      <footer className="dialog-footer">
        <Button onClick={onOpenChange}>Cancel</Button>
        <Button kind="danger" busy={remove.isPending} onClick={() => remove.mutate({ params: { name: backup.name } })}>
          Delete
        </Button>
      </footer>
    </Dialog>
  )
}
