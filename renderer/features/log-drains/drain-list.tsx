import { Pencil, Plus, Send, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { logDrainEnvironmentLabels, logDrainKindLabels, logDrainSourceLabels, logDrainStatusLabels } from '../../../server/contract/labels.ts'
import { limits } from '../../../server/contract/limits.ts'
import type { LogDrain } from '../../../server/contract/log-drains.ts'
import { useDeleteLogDrain, useTestLogDrain } from '../../api/log-drains.ts'
import { Button, IconButton } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { EmptyState } from '../../components/feedback.tsx'
import { HelpLink } from '../../components/help-link.tsx'
import { RelativeTime } from '../../components/time.tsx'
import { useUi } from '../../stores/ui.ts'
import { DrainDialog } from './drain-dialog.tsx'
import styles from './log-drains.module.css'

type OpenDialog = { name: 'add' } | { name: 'edit' | 'delete'; drain: LogDrain }

/** The drains with their state. */
export function DrainList({ slug, drains }: { slug: string; drains: LogDrain[] }) {
  const [open, setOpen] = useState<OpenDialog | null>(null)
  const close = () => setOpen(null)
  const isFull = drains.length >= limits.log_drains.per_project
  const add = (
    <Button kind={drains.length === 0 ? 'primary' : 'plain'} icon={Plus} disabled={isFull} onClick={() => setOpen({ name: 'add' })}>
      Add log drain
    </Button>
  )
  return (
    <section className="card" aria-labelledby="log-drains">
      <header className="card-header">
        <h2 id="log-drains">Log drains</h2>
        {drains.length > 0 && add}
      </header>
      {drains.length === 0 ? (
        <EmptyState icon={Send} title="No log drains yet" action={add}>
          Homeport sends each log line to an HTTP endpoint, a syslog server or a file, without slowing down the app.{' '}
          <HelpLink topic="log-drains">How it works</HelpLink>
        </EmptyState>
      ) : (
        <ul aria-label="Log drains">
          {drains.map((drain) => (
            <DrainRow
              key={drain.id}
              slug={slug}
              drain={drain}
              onEdit={() => setOpen({ name: 'edit', drain })}
              onDelete={() => setOpen({ name: 'delete', drain })}
            />
          ))}
        </ul>
      )}
      {open?.name === 'add' && <DrainDialog slug={slug} drain={null} onClose={close} />}
      {open?.name === 'edit' && <DrainDialog slug={slug} drain={open.drain} onClose={close} />}
      {open?.name === 'delete' && <DeleteDrainDialog slug={slug} drain={open.drain} onClose={close} />}
    </section>
  )
}

const statusTones = { off: 'tone-idle', waiting: 'tone-idle', delivering: 'tone-live', failing: 'tone-fail' } as const

function DrainRow({ slug, drain, onEdit, onDelete }: { slug: string; drain: LogDrain; onEdit: () => void; onDelete: () => void }) {
  const { id, name, kind, address, sources, environments, state } = drain
  const showToast = useUi((store) => store.showToast)
  const test = useTestLogDrain({
    onSuccess: ({ error, duration_ms }) =>
      showToast(
        error === null
          ? { kind: 'done', text: `Test line delivered in ${duration_ms} ms.`, request_id: null }
          : { kind: 'failed', text: error, request_id: null },
      ),
  })
  return (
    <li className={`card-row ${styles.row}`}>
      <div className={styles.facts}>
        <p className={styles.title}>
          <strong className={styles.name}>{name}</strong>
          <span className="badge tone-idle">{logDrainKindLabels[kind]}</span>
          <span className={`badge ${statusTones[state.status]}`}>{logDrainStatusLabels[state.status]}</span>
        </p>
        <p className={`text-muted ${styles.name}`}>{address}</p>
        <p className="text-muted">
          {sources.map((source) => logDrainSourceLabels[source]).join(', ')} · {logDrainEnvironmentLabels[environments]}
        </p>
        <DrainFigures state={state} />
      </div>
      <span className={styles.actions}>
        <Button icon={Send} busy={test.isPending} onClick={() => test.mutate({ params: { slug, id } })} aria-label={`Send test to ${name}`}>
          Send test
        </Button>
        <IconButton icon={Pencil} label={`Edit ${name}`} onClick={onEdit} />
        <IconButton icon={Trash2} label={`Delete ${name}`} onClick={onDelete} />
      </span>
    </li>
  )
}

const formatLines = (count: number): string => `${count.toLocaleString('en')} ${count === 1 ? 'line' : 'lines'}`

function DrainFigures({ state }: { state: LogDrain['state'] }) {
  const { status, delivered, dropped, last_success_at, last_dropped_at, last_error } = state
  return (
    <>
      {last_success_at !== null && (
        <p className="text-muted">
          {formatLines(delivered)} delivered, last <RelativeTime at={last_success_at} />
        </p>
      )}
      {last_dropped_at !== null && (
        <p className={styles.dropped}>
          {formatLines(dropped)} dropped, last <RelativeTime at={last_dropped_at} />
        </p>
      )}
      {status === 'failing' && last_error !== null && (
        <p className={styles.failed}>
          {last_error.message} <RelativeTime at={last_error.at} />
        </p>
      )}
    </>
  )
}

function DeleteDrainDialog({ slug, drain: { id, name, kind }, onClose }: { slug: string; drain: LogDrain; onClose: () => void }) {
  const remove = useDeleteLogDrain({ successMessage: 'Log drain deleted.', onSuccess: onClose })
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={`Delete “${name}”?`}
      description={kind === 'file' ? 'Its files are deleted too.' : 'It gets no more lines. Lines that are not delivered yet are not sent.'}
    >
      <footer className="dialog-footer">
        <Button onClick={onClose}>Cancel</Button>
        <Button kind="danger" busy={remove.isPending} onClick={() => remove.mutate({ params: { slug, id } })}>
          Delete log drain
        </Button>
      </footer>
    </Dialog>
  )
}
