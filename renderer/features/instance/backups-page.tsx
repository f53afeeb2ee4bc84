import { useQueryClient } from '@tanstack/react-query'
import { Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { Backup } from '../../../server/contract/upkeep.ts'
import { useAction } from '../../api/actions.ts'
import { keys } from '../../api/keys.ts'
import { problemFrom } from '../../api/problem.ts'
import { useClient } from '../../api/queries.ts'
import { useBackups, useDisk, useEveryDump } from '../../api/upkeep.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { DownloadButton } from '../../ui/download-button.tsx'
import { ProblemView, SkeletonRows } from '../../ui/feedback.tsx'
import { bytes, exactTime } from '../../ui/format.ts'
import { Ago } from '../../ui/time.tsx'
import { useTogether } from '../../ui/together.ts'
import { useLanding } from '../frame/landing.ts'
import { useTitle } from '../frame/title.ts'
import { EveryDump } from './every-dump.tsx'
import { MakeBackup } from './make-backup.tsx'
import { OwnerPage } from './owner-page.tsx'
import { Recovered } from './recovered.tsx'
import { RestoreHow } from './restore-how.tsx'
import './backups-page.css'

/** Copies of the whole instance, how to bring one back, and what is in none of them. */
export default function BackupsPage() {
  useTitle('Backups')
  return (
    <OwnerPage refusal="The backups of this instance are its owner’s business.">
      <Backups />
    </OwnerPage>
  )
}

const full = ({ kind }: Backup) => kind === 'full'
const words: Record<Exclude<Backup['kind'], 'full'>, string> = { hourly: 'Hourly copy', before_migration: 'Before an update' }

function Backups() {
  const all = useBackups()
  const { data, error, refetch } = all
  const [deleting, setDeleting] = useState<Backup | null>(null)
  const dumps = useEveryDump()
  const isComing = useTogether([all, useDisk(), dumps])
  useLanding(data !== undefined && dumps.data !== undefined)
  const backups = data?.backups.filter(full)
  const copies = data?.backups.filter((one) => !full(one))
  // The parts are drawn together: none of them pushes another one down.
  if (isComing) return <SkeletonRows rows={8} height={72} />
  return (
    <>
      <Recovered />
      <MakeBackup />
      {error && <ProblemView problem={problemFrom(error)} onRetry={() => void refetch()} />}
      <section className="card" aria-labelledby="full">
        <header className="card-head">
          <h2 id="full">Backups</h2>
          <span className="faint backup-about">Everything in one file</span>
        </header>
        {backups?.length === 0 && <p className="card-body quiet">None yet. Make one, and keep it on another machine.</p>}
        <ul aria-live="polite" aria-relevant="additions" aria-label="Backups">
          {backups?.map((one) => (
            <BackupRow key={one.name} backup={one} title={exactTime(one.created_at)} onDelete={() => setDeleting(one)} />
          ))}
        </ul>
      </section>
      <RestoreHow newest={backups?.[0]} />
      <section className="card" aria-labelledby="copies">
        <header className="card-head">
          <h2 id="copies">Safe copies</h2>
          <span className="faint backup-about">Of the ledger alone: projects, deployments, settings, sealed secrets</span>
        </header>
        {copies?.length === 0 && <p className="card-body quiet">None yet. One is made every hour; the last seven are kept.</p>}
        <ul aria-label="Safe copies">
          {copies?.map((one) => (
            <BackupRow key={one.name} backup={one} title={one.kind === 'full' ? one.name : words[one.kind]} onDelete={() => setDeleting(one)} />
          ))}
        </ul>
      </section>
      <EveryDump />
      {deleting && <DeleteBackup backup={deleting} onOpenChange={() => setDeleting(null)} />}
    </>
  )
}

function BackupRow({ backup, title, onDelete }: { backup: Backup; title: string; onDelete: () => void }) {
  const client = useClient()
  const { name, path, created_at } = backup
  return (
    <li className="card-row backup-row">
      <div>
        <p className="backup-title">
          <strong>{title}</strong>{' '}
          <span className="quiet">
            <Ago at={created_at} />
          </span>
        </p>
        <p className="backup-path faint">
          <span className="mono clip" title={path}>
            {path}
          </span>
          <CopyButton text={path} label="Copy where it lies" />
        </p>
      </div>
      <span className="backup-bytes">{bytes(backup.bytes)}</span>
      <span className="row backup-acts">
        <DownloadButton url={client.urlOf('downloadBackup', { params: { name } })} name={name} label={`Download ${name}`} />
        <IconButton icon={Trash2} label={`Delete ${name}…`} onClick={onDelete} />
      </span>
    </li>
  )
}

function DeleteBackup({ backup, onOpenChange }: { backup: Backup; onOpenChange: () => void }) {
  const cache = useQueryClient()
  const remove = useAction('deleteBackup', {
    quiet: true,
    done: 'Deleted.',
    onDone() {
      for (const queryKey of [keys.backups, keys.disk]) void cache.invalidateQueries({ queryKey })
      onOpenChange()
    },
  })
  return (
    <Dialog
      open
      onOpenChange={onOpenChange}
      title={full(backup) ? 'Delete this backup?' : 'Delete this copy?'}
      about={`${backup.name} of ${exactTime(backup.created_at)}, ${bytes(backup.bytes)}, goes for good. What was downloaded of it stays.`}
    >
      {remove.error && <ProblemView problem={remove.error} />}
      <footer className="dialog-foot">
        <Button onClick={onOpenChange}>Cancel</Button>
        <Button kind="danger" busy={remove.isPending} onClick={() => remove.mutate({ params: { name: backup.name } })}>
          Delete
        </Button>
      </footer>
    </Dialog>
  )
}
