import { CircleDot, Square } from 'lucide-react'
import { useState } from 'react'
import { limits } from '../../../server/contract/limits.ts'
import type { RequestCaptureSettings } from '../../../server/contract/request-captures.ts'
import { useRequestCapture, useStartRequestCapture, useStopRequestCapture } from '../../api/request-captures.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { ProblemView } from '../../components/feedback.tsx'
import { LinesField, SelectField, TextField } from '../../components/field.tsx'
import { HelpLink } from '../../components/help-link.tsx'
import { formatDateTime } from '../../lib/format.ts'
import { sanitizeForDisplay } from '../../lib/sanitize-for-display.ts'
import { useForm } from '../../lib/use-form.ts'
import { methodChoices, statusChoices } from './filters.ts'
import styles from './captures.module.css'

/** Turns capture on and off. Nothing on an instance that cannot capture. */
export function CaptureControl({ slug }: { slug: string }) {
  const { data: capture } = useRequestCapture(slug)
  const [isOpen, setOpen] = useState(false)
  const stop = useStopRequestCapture({ successMessage: 'Capture is off.' })
  if (!capture) return null
  return (
    <div className={styles.control}>
      {capture.until === null ? (
        <>
          <span className="text-muted">Headers and bodies are not captured.</span>
          <Button icon={CircleDot} onClick={() => setOpen(true)}>
            Capture requests…
          </Button>
        </>
      ) : (
        <>
          <span role="status">
            <CircleDot size={15} aria-hidden className={styles.on} /> Capturing headers and bodies{describeFilters(capture)} until{' '}
            {formatDateTime(capture.until)}
          </span>
          <Button icon={Square} busy={stop.isPending} onClick={() => stop.mutate({ params: { slug } })}>
            Stop capture
          </Button>
        </>
      )}
      {isOpen && <CaptureDialog slug={slug} capture={capture} onClose={() => setOpen(false)} />}
    </div>
  )
}

function describeFilters({ method, path, status }: RequestCaptureSettings): string {
  const parts = [method?.toUpperCase(), path, status].filter((part): part is string => typeof part === 'string')
  return parts.length === 0 ? '' : ` of ${sanitizeForDisplay(parts.join(' '))}`
}

const durations = [
  ['1', '1 hour'],
  ['4', '4 hours'],
  ['24', '24 hours'],
] as const

function CaptureDialog({ slug, capture, onClose }: { slug: string; capture: RequestCaptureSettings; onClose: () => void }) {
  const start = useStartRequestCapture({ hidesErrorToast: true, onSuccess: onClose })
  const clear = useStopRequestCapture({ successMessage: 'Deleted the captured headers and bodies.', onSuccess: onClose })
  const form = useForm({
    initial: { hours: '1', path: '', method: '', status: '', masked_fields: capture.masked_fields.join('\n') },
    submission: start,
    onSubmit: ({ hours, path, method, status, masked_fields }) =>
      start.mutate({
        params: { slug },
        body: {
          until: new Date(Date.now() + Number(hours) * 3600_000).toISOString(),
          path: path.trim() || null,
          method: method || null,
          status: status || null,
          masked_fields: masked_fields
            .split(/[\n,]/)
            .map((name) => name.trim())
            .filter(Boolean),
        },
      }),
  })
  const { body_bytes, project_bytes } = limits.request_capture
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title="Capture requests"
      description={`Keeps headers and the first ${body_bytes / 1024} kB of bodies, encrypted on this instance; the newest ${project_bytes / 2 ** 20} MB.`}
    >
      <form className="stack" {...form.props}>
        <SelectField label="Capture for" {...form.text('hours')}>
          {durations.map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </SelectField>
        <TextField label="Path" mono placeholder="All paths, or a start such as /webhooks" maxLength={200} {...form.text('path')} />
        <div className={styles.pair}>
          <SelectField label="Method" {...form.text('method')}>
            <option value="">Any method</option>
            {methodChoices.map((method) => (
              <option key={method}>{method}</option>
            ))}
          </SelectField>
          <SelectField label="Status" {...form.text('status')}>
            <option value="">Any status</option>
            {Object.entries(statusChoices).map(([value, text]) => (
              <option key={value} value={value}>
                {text}
              </option>
            ))}
          </SelectField>
        </div>
        <LinesField
          label="Also mask"
          placeholder="email"
          hint="Names of headers and of fields in JSON and forms, one per line. Authorization, Cookie, Set-Cookie, and names such as password, secret, token and api_key are always masked."
          {...form.text('masked_fields')}
        />
        {form.problem && <ProblemView problem={form.problem} />}
        <HelpLink topic="requests">What is captured</HelpLink>
        <footer className="dialog-footer">
          <Button busy={clear.isPending} onClick={() => clear.mutate({ params: { slug }, query: { captured: 'delete' } })}>
            Delete captured data
          </Button>
          <Button kind="primary" type="submit" busy={form.is_busy}>
            Start capture
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}
