import { useState } from 'react'
import { useForm } from '../../lib/use-form.ts'
import { useSettings, useUpdateSettings } from '../../api/instance.ts'
import { planLabels } from '../../../server/contract/labels.ts'
import type { Settings } from '../../../server/contract/instance.ts'
import { toApiError } from '../../lib/api-error.ts'
import { Button } from '../../components/button.tsx'
import { ProblemView, SkeletonRows } from '../../components/feedback.tsx'
import { SelectField, SwitchField, TextField } from '../../components/field.tsx'
import { formatMegabytes, formatSecondsWithUnits, parseMegabytes, parseSeconds } from '../../lib/units.ts'
import styles from './page.module.css'

interface NumberSetting {
  /** The number is shown and typed with its unit. */
  unit?: 'time' | 'size'
  name: { [Name in keyof Settings]: Settings[Name] extends number ? Name : never }[keyof Settings]
  label: string
  hint: string
}

const buildFields: readonly NumberSetting[] = [
  { name: 'keep_deployments', label: 'Deployments to keep', hint: 'Images and bundles kept per project for rollbacks.' },
  { name: 'build_timeout_s', unit: 'time', label: 'Build timeout', hint: 'Builds that take longer fail.' },
  { name: 'build_memory_mb', unit: 'size', label: 'Build memory', hint: 'Keeps a build from exhausting the machine.' },
]
const rateLimitFields: readonly NumberSetting[] = [
  { name: 'rate_limit_authenticated', label: 'Requests per minute, signed in', hint: 'Per account.' },
  { name: 'rate_limit_anonymous', label: 'Requests per minute, anonymous', hint: 'Per IP address.' },
]
const sleepFields: readonly NumberSetting[] = [
  { name: 'sleep_after_s', unit: 'time', label: 'Sleep after', hint: 'Idle time after which an app sleeps, unless it is always warm.' },
  {
    name: 'frozen_for_s',
    unit: 'time',
    label: 'Freeze for',
    hint: 'A frozen app keeps its memory and wakes instantly; after this time it is stopped. 0 stops it right away.',
  },
  {
    name: 'frozen_budget_mb',
    unit: 'size',
    label: 'Memory for frozen apps',
    hint: 'Total for all frozen apps. Above it, the app that has slept longest is stopped.',
  },
]
const cacheFields: readonly NumberSetting[] = [
  { name: 'cache_memory_mb', unit: 'size', label: 'Memory cache', hint: 'Holds the most requested responses.' },
  { name: 'cache_disk_mb', unit: 'size', label: 'Disk cache', hint: 'Holds the other responses and survives restarts. 0 turns it off.' },
]

const plans = ['starter', 'basic', 'pro', 'enterprise'] as const satisfies readonly Settings['plan'][]

export function InstanceSettings() {
  const { data, error, refetch } = useSettings()
  return (
    <section className="card" aria-labelledby="settings">
      <header className="card-header">
        <h2 id="settings">Settings</h2>
      </header>
      <div className="card-body">
        {error && <ProblemView problem={toApiError(error)} onRetry={() => void refetch()} />}
        {data ? <SettingsForm settings={data} /> : !error && <SkeletonRows rows={4} height={56} />}
      </div>
    </section>
  )
}

function SettingsForm({ settings }: { settings: Settings }) {
  const save = useUpdateSettings({ hidesErrorToast: true, successMessage: 'Settings saved.', onSuccess: () => form.discard() })
  const form = useForm({ initial: settings, submission: save, onSubmit: () => save.mutate({ body: form.changes }) })
  const { values, set } = form
  return (
    <form className="stack" {...form.props} aria-label="Instance settings">
      <div className={styles.instanceFields}>
        <SelectField
          label="When Homeport quits"
          value={values.on_exit}
          onChange={({ target }) => set({ on_exit: target.value === 'stop' || target.value === 'keep' ? target.value : 'default' })}
          hint="What happens to running apps."
        >
          <option value="default">Stop processes, keep containers</option>
          <option value="stop">Stop all apps</option>
          <option value="keep">Keep all apps running</option>
        </SelectField>
        <TextField
          label="Concurrent builds"
          type="number"
          min={1}
          max={64}
          value={values.build_concurrency ?? ''}
          placeholder="Plan limit"
          onChange={({ target }) => set({ build_concurrency: target.value === '' ? null : target.valueAsNumber })}
          error={form.error('build_concurrency')}
        />
        <NumberFields fields={buildFields} form={form} />
        <NumberFields fields={rateLimitFields} form={form} />
      </div>
      <h3>Sleep</h3>
      <div className={styles.instanceFields}>
        <NumberFields fields={sleepFields} form={form} />
      </div>
      <h3>Edge cache, metrics, request log and screenshots</h3>
      <div className={styles.instanceFields}>
        <NumberFields fields={cacheFields} form={form} />
        <SwitchField
          label="Collect request metrics"
          hint="Counts and times requests for the metrics of every project. The overhead is negligible."
          {...form.toggle('metrics')}
        />
        <SwitchField
          label="Log requests"
          hint="Keeps the last requests of every project, without headers and bodies, in this instance only."
          {...form.toggle('request_log')}
        />
        <SwitchField
          label="Take screenshots of deployments"
          hint="Taken at low priority with a browser installed on the instance’s machine. They are not counted as visits."
          {...form.toggle('screenshots')}
        />
      </div>
      <DnsSettings form={form} />
      <h3 id="developer">Developer</h3>
      <p className="text-muted">Simulates a plan and the states of an account, to test their limits. Your own machine has no paywall.</p>
      <div className={styles.instanceFields}>
        <SelectField
          label="Simulated plan"
          value={values.plan}
          error={form.error('plan')}
          onChange={({ target }) => set({ plan: plans.find((plan) => plan === target.value) ?? 'enterprise' })}
          hint="A smaller plan has lower limits."
        >
          {plans.map((plan) => (
            <option key={plan} value={plan}>
              {planLabels[plan]}
            </option>
          ))}
        </SelectField>
        <SwitchField label="Email is verified" {...form.toggle('email_verified')} />
        <SwitchField label="Has a card" {...form.toggle('payment_method')} />
      </div>
      {form.problem && <ProblemView problem={form.problem} />}
      <footer className="dialog-footer">
        <Button kind="primary" type="submit" busy={form.is_busy} disabled={!form.is_dirty}>
          Save settings
        </Button>
      </footer>
    </form>
  )
}

type SettingsFormState = ReturnType<typeof useForm<Settings>>

/** DNS settings for custom domains. */
function DnsSettings({ form: { values, set, error } }: { form: SettingsFormState }) {
  const [resolvers, setResolvers] = useState(values.dns_resolvers?.join(', ') ?? '')
  return (
    <>
      <h3>Custom domains</h3>
      <div className={styles.instanceFields}>
        <TextField
          label="IP address for A records"
          value={values.platform_ip ?? ''}
          placeholder="Detected automatically"
          onChange={({ target }) => set({ platform_ip: target.value.trim() === '' ? null : target.value.trim() })}
          error={error('platform_ip')}
        />
        <TextField
          label="DNS resolvers"
          value={resolvers}
          placeholder="System resolvers"
          hint="DNS servers that verify domains, such as 9.9.9.9, 1.1.1.1."
          onChange={({ target }) => {
            setResolvers(target.value)
            const addresses = target.value.split(/[\s,]+/).filter(Boolean)
            set({ dns_resolvers: addresses.length === 0 ? null : addresses })
          }}
          error={error('dns_resolvers')}
        />
        <TextField
          label="Built-in DNS server port"
          type="number"
          min={0}
          max={65_535}
          value={values.dns_server ?? ''}
          placeholder="Off"
          hint="Resolves domains bought here, such as those under .test, on this machine. Health shows the command that makes the system use it."
          onChange={({ target }) => set({ dns_server: target.value === '' ? null : target.valueAsNumber })}
          error={error('dns_server')}
        />
      </div>
    </>
  )
}

function NumberFields({ fields, form }: { fields: readonly NumberSetting[]; form: SettingsFormState }) {
  return fields.map((field) =>
    field.unit ? <UnitField key={field.name} field={field} form={form} /> : <NumberField key={field.name} field={field} form={form} />,
  )
}

function NumberField({ field: { name, label, hint }, form: { values, set, error } }: { field: NumberSetting; form: SettingsFormState }) {
  return (
    <TextField
      label={label}
      hint={hint}
      type="number"
      required
      value={Number.isNaN(values[name]) ? '' : values[name]}
      onChange={({ target }) => set({ [name]: target.valueAsNumber })}
      error={error(name)}
    />
  )
}

/** Text such as `15 min`. What is no number with a unit is an error, and the platform gets nothing. */
function UnitField({ field: { name, label, hint, unit }, form: { values, set, error } }: { field: NumberSetting; form: SettingsFormState }) {
  const format = unit === 'time' ? formatSecondsWithUnits : formatMegabytes
  const parse = unit === 'time' ? parseSeconds : parseMegabytes
  const [text, setText] = useState<string | null>(null)
  const isInvalid = text !== null && parse(text) === null
  return (
    <TextField
      label={label}
      hint={hint}
      required
      value={text ?? format(values[name])}
      onChange={({ target }) => {
        setText(target.value)
        target.setCustomValidity(parse(target.value) === null ? invalidUnit[unit ?? 'time'] : '')
        set({ [name]: parse(target.value) ?? values[name] })
      }}
      onBlur={() => !isInvalid && setText(null)}
      error={isInvalid ? invalidUnit[unit ?? 'time'] : error(name)}
    />
  )
}

const invalidUnit = { time: 'Enter a duration, such as 90 s, 15 min or 2 h.', size: 'Enter a size, such as 512 MB or 2 GB.' }
