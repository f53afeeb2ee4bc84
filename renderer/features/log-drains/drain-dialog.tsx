import { limits } from '../../../server/contract/limits.ts'
import { logDrainEnvironmentLabels, logDrainKindLabels, logDrainSourceLabels } from '../../../server/contract/labels.ts'
import { logDrainEnvironments, logDrainKinds, logDrainSources } from '../../../server/contract/log-drain-kinds.ts'
import type { LogDrain } from '../../../server/contract/log-drains.ts'
import { useInstanceSession } from '../../api/instance.ts'
import { useCreateLogDrain, useUpdateLogDrain } from '../../api/log-drains.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { ProblemView } from '../../components/feedback.tsx'
import { LinesField, SelectField, SwitchField, TextField } from '../../components/field.tsx'
import { SecretDialog } from '../../components/secret-dialog.tsx'
import { useForm } from '../../lib/use-form.ts'
import { parseHeaders } from './parse-headers.ts'
import styles from './log-drains.module.css'

interface Props {
  slug: string
  /** Null: a new one. */
  drain: LogDrain | null
  onClose: () => void
}

const addressFields = {
  http: { label: 'URL', placeholder: 'https://logs.example.com/ingest', hint: 'Gets POST requests, signed with a secret that is shown once.' },
  syslog: { label: 'Address', placeholder: 'tls://logs.example.com:6514', hint: 'tls://, tcp:// or udp://, with host and port.' },
  file: { label: 'File name', placeholder: 'access', hint: 'In the folder log-drains of the data folder. 5 files of 10 MB are kept.' },
} as const

const formatLabels = { ndjson: 'A line of JSON for each log line (NDJSON)', json: 'One JSON array for each request' } as const

/** Adds a drain, or changes one. */
export function DrainDialog({ slug, drain, onClose }: Props) {
  const isOwner = useInstanceSession().data?.user.is_instance_owner === true
  const create = useCreateLogDrain({ hidesErrorToast: true })
  const update = useUpdateLogDrain({ hidesErrorToast: true, successMessage: 'Log drain saved.', onSuccess: onClose })
  const form = useForm({
    initial: {
      kind: drain?.kind ?? 'http',
      address: '',
      name: drain?.name ?? '',
      headers: '',
      format: drain?.format ?? 'ndjson',
      environments: drain?.environments ?? 'all',
      app: drain?.sources.includes('app') ?? true,
      build: drain?.sources.includes('build') ?? true,
      request: drain?.sources.includes('request') ?? false,
      is_enabled: drain?.is_enabled ?? true,
    },
    submission: drain ? update : create,
    check: ({ headers }) => (parseHeaders(headers) ? {} : { headers: 'Write one header on each line, such as Authorization: Bearer 123.' }),
    onSubmit({ kind, address, name, headers, format, environments, is_enabled, ...chosen }) {
      const parsed = parseHeaders(headers) ?? []
      const body = {
        environments,
        sources: logDrainSources.filter((source) => chosen[source]),
        ...(name.trim() === '' ? {} : { name: name.trim() }),
        ...(kind === 'http' ? { format } : {}),
        ...(parsed.length > 0 ? { headers: parsed } : {}),
      }
      if (!drain) return create.mutate({ params: { slug }, body: { ...body, kind, address: address.trim() } })
      const newAddress = address.trim() === '' ? {} : { address: address.trim() }
      update.mutate({ params: { slug, id: drain.id }, body: { ...body, ...newAddress, is_enabled } })
    },
    fieldOf: ({ code }) => code === 'forbidden' && 'address',
  })
  const { values } = form
  if (create.data) return <CreatedDrain created={create.data} onClose={onClose} />

  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={drain ? `Edit “${drain.name}”` : 'Add log drain'}
      description="Choose where log lines go and which ones. It starts with the next line."
    >
      <form className="stack" {...form.props}>
        {!drain && (
          <SelectField
            label="Type"
            value={values.kind}
            onChange={({ target: { value } }) => form.set({ kind: logDrainKinds.find((one) => one === value) ?? 'http', headers: '' })}
          >
            {logDrainKinds
              .filter((kind) => kind !== 'file' || isOwner)
              .map((kind) => (
                <option key={kind} value={kind}>
                  {logDrainKindLabels[kind]}
                </option>
              ))}
          </SelectField>
        )}
        <TextField
          required={!drain}
          maxLength={limits.notification_address}
          {...addressFields[values.kind]}
          {...(drain ? { placeholder: drain.address, hint: 'Leave empty to keep it.' } : {})}
          {...form.text('address')}
        />
        {values.kind === 'http' && (
          <>
            <LinesField
              label="Headers"
              rows={2}
              placeholder="Authorization: Bearer 123"
              hint={drain ? headersHint(drain, values.address) : 'Optional, one on each line. They are stored encrypted and not shown again.'}
              {...form.text('headers')}
            />
            <SelectField label="Format" {...form.text('format', (text) => text as LogDrain['format'])}>
              {Object.entries(formatLabels).map(([format, label]) => (
                <option key={format} value={format}>
                  {label}
                </option>
              ))}
            </SelectField>
          </>
        )}
        <TextField label="Name" maxLength={limits.name.max} placeholder="Optional" {...form.text('name')} />
        <fieldset className={styles.sources}>
          <legend>Logs</legend>
          {logDrainSources.map((source) => (
            <label key={source} className={styles.source}>
              <input type="checkbox" checked={values[source]} onChange={({ target: { checked } }) => form.set({ [source]: checked })} />
              <span>{logDrainSourceLabels[source]}</span>
            </label>
          ))}
        </fieldset>
        <SelectField label="Environments" {...form.text('environments', (text) => text as LogDrain['environments'])}>
          {logDrainEnvironments.map((environment) => (
            <option key={environment} value={environment}>
              {logDrainEnvironmentLabels[environment]}
            </option>
          ))}
        </SelectField>
        {drain && <SwitchField label="Send logs" {...form.toggle('is_enabled')} />}
        {form.problem && <ProblemView problem={form.problem} />}
        <footer className="dialog-footer">
          <Button onClick={onClose}>Cancel</Button>
          <Button
            kind="primary"
            type="submit"
            busy={form.is_busy}
            disabled={(!drain && values.address.trim() === '') || !logDrainSources.some((source) => values[source])}
          >
            {drain ? 'Save log drain' : 'Add log drain'}
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}

function headersHint({ header_names }: LogDrain, address: string): string {
  if (header_names.length === 0) return 'Optional, one on each line.'
  const names = header_names.join(', ')
  return address.trim() === '' ? `Leave empty to keep ${names}.` : `A new URL removes ${names}. Enter them again.`
}

function CreatedDrain({
  created: { log_drain, signing_secret },
  onClose,
}: {
  created: { log_drain: LogDrain; signing_secret: string | null }
  onClose: () => void
}) {
  if (signing_secret !== null)
    return (
      <SecretDialog
        title={`Signing secret of “${log_drain.name}”`}
        description="Copy it now: it is not shown again. Your server verifies with it that a request is from this instance."
        secret={signing_secret}
        kind="secret"
        onClose={onClose}
      />
    )
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title="Log drain added"
      description={`${log_drain.name} gets lines from now on. Send a test line to see that it works.`}
    >
      <footer className="dialog-footer">
        <Button kind="primary" onClick={onClose}>
          Done
        </Button>
      </footer>
    </Dialog>
  )
}
