import { type FormEvent, useState } from 'react'
import { useSettings, useUpdateSettings } from '../../api/instance.ts'
import type { Settings } from '../../../server/contract/instance.ts'
import { toProblem } from '../../lib/api-problem.ts'
import { Button } from '../../components/button.tsx'
import { ProblemView, SkeletonRows } from '../../components/feedback.tsx'
import { SelectField, SwitchField, TextField } from '../../components/field.tsx'

interface NumberSetting {
  name: { [Name in keyof Settings]: Settings[Name] extends number ? Name : never }[keyof Settings]
  label: string
  hint: string
}

const buildFields: readonly NumberSetting[] = [
  { name: 'keep_deployments', label: 'Deployments to keep', hint: 'Images and bundles kept per project for rollbacks.' },
  { name: 'build_timeout_s', label: 'Build timeout (seconds)', hint: 'Builds that take longer fail.' },
  { name: 'build_memory_mb', label: 'Build memory (MB)', hint: 'Keeps a build from exhausting the machine.' },
]
const rateLimitFields: readonly NumberSetting[] = [
  { name: 'rate_limit_authenticated', label: 'Requests per minute, signed in', hint: 'Per account.' },
  { name: 'rate_limit_anonymous', label: 'Requests per minute, anonymous', hint: 'Per IP address.' },
]
const sleepFields: readonly NumberSetting[] = [
  { name: 'sleep_after_s', label: 'Sleep after (seconds)', hint: 'Idle time after which an app sleeps, unless it is always warm.' },
  {
    name: 'frozen_for_s',
    label: 'Freeze for (seconds)',
    hint: 'A frozen app keeps its memory and wakes instantly; after this time it is stopped. 0 stops it right away.',
  },
  {
    name: 'frozen_budget_mb',
    label: 'Memory for frozen apps (MB)',
    hint: 'Total for all frozen apps. Above it, the app that has slept longest is stopped.',
  },
]
const cacheFields: readonly NumberSetting[] = [
  { name: 'cache_memory_mb', label: 'Memory cache (MB)', hint: 'Holds the most requested responses.' },
  { name: 'cache_disk_mb', label: 'Disk cache (MB)', hint: 'Holds the other responses and survives restarts. 0 turns it off.' },
]

interface FormProps {
  draft: Settings
  change: (patch: Partial<Settings>) => void
  issue: (name: string) => string | undefined
}

const plans = ['starter', 'basic', 'pro', 'enterprise'] as const satisfies readonly Settings['plan'][]

export function InstanceSettings() {
  const { data, error, refetch } = useSettings()
  return (
    <section className="card" aria-labelledby="settings">
      <header className="card-header">
        <h2 id="settings">Settings</h2>
      </header>
      <div className="card-body">
        {error && <ProblemView problem={toProblem(error)} onRetry={() => void refetch()} />}
        {data ? <SettingsForm settings={data} /> : !error && <SkeletonRows rows={4} height={56} />}
      </div>
    </section>
  )
}

function SettingsForm({ settings }: { settings: Settings }) {
  const [changes, setChanges] = useState<Partial<Settings>>({})
  const save = useUpdateSettings({ hidesErrorToast: true, successMessage: 'Settings saved.', onSuccess: () => setChanges({}) })
  const draft = { ...settings, ...changes }
  const change = (patch: Partial<Settings>) => {
    save.reset()
    setChanges((before) => ({ ...before, ...patch }))
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    save.mutate({ body: changes })
  }
  const form = { draft, change, issue: (name: string) => save.error?.issueFor(name) }
  return (
    <form className="stack" onSubmit={submit} aria-label="Instance settings">
      <div className="instance-fields">
        <SelectField
          label="When Homeport quits"
          value={draft.on_exit}
          onChange={({ target }) => change({ on_exit: target.value === 'stop' || target.value === 'keep' ? target.value : 'default' })}
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
          value={draft.build_concurrency ?? ''}
          placeholder="Plan limit"
          onChange={({ target }) => change({ build_concurrency: target.value === '' ? null : target.valueAsNumber })}
          error={save.error?.issueFor('build_concurrency')}
        />
        <NumberFields fields={buildFields} {...form} />
        <NumberFields fields={rateLimitFields} {...form} />
      </div>
      <h3>Sleep</h3>
      <div className="instance-fields">
        <NumberFields fields={sleepFields} {...form} />
      </div>
      <h3>Edge cache, metrics and screenshots</h3>
      <div className="instance-fields">
        <NumberFields fields={cacheFields} {...form} />
        <SwitchField
          label="Collect request metrics"
          hint="Counts and times requests for the metrics of every project. The overhead is negligible."
          checked={draft.metrics}
          onChange={(metrics) => change({ metrics })}
        />
        <SwitchField
          label="Take screenshots of deployments"
          hint="Taken at low priority with a browser installed on the instance’s machine. They are not counted as visits."
          checked={draft.screenshots}
          onChange={(screenshots) => change({ screenshots })}
        />
      </div>
      <DnsSettings {...form} />
      <h3>Simulate account states</h3>
      <div className="instance-fields">
        <SelectField
          label="Plan"
          value={draft.plan}
          onChange={({ target }) => change({ plan: plans.find((plan) => plan === target.value) ?? 'enterprise' })}
          hint="Your own machine has no paywall; a smaller plan lets you test its limits."
        >
          {plans.map((plan) => (
            <option key={plan} value={plan}>
              {plan}
            </option>
          ))}
        </SelectField>
        <SwitchField label="Email is verified" checked={draft.email_verified} onChange={(email_verified) => change({ email_verified })} />
        <SwitchField label="Has a card" checked={draft.payment_method} onChange={(payment_method) => change({ payment_method })} />
      </div>
      {save.error && !save.error.issues.some(({ path }) => isShownAtField(path)) && <ProblemView problem={save.error} />}
      <footer className="dialog-footer">
        <Button kind="primary" type="submit" busy={save.isPending} disabled={Object.keys(changes).length === 0}>
          Save settings
        </Button>
      </footer>
    </form>
  )
}

/** Whether the field itself shows its error. */
function isShownAtField(path: string): boolean {
  return !['plan', 'payment_method', 'email_verified'].includes(path)
}

/** DNS settings for custom domains. */
function DnsSettings({ draft, change, issue }: FormProps) {
  const [resolvers, setResolvers] = useState(draft.dns_resolvers?.join(', ') ?? '')
  return (
    <>
      <h3>Custom domains</h3>
      <div className="instance-fields">
        <TextField
          label="IP address for A records"
          value={draft.platform_ip ?? ''}
          placeholder="Detected automatically"
          onChange={({ target }) => change({ platform_ip: target.value.trim() === '' ? null : target.value.trim() })}
          error={issue('platform_ip')}
        />
        <TextField
          label="DNS resolvers"
          value={resolvers}
          placeholder="System resolvers"
          hint="DNS servers that verify domains, such as 9.9.9.9, 1.1.1.1."
          onChange={({ target }) => {
            setResolvers(target.value)
            const addresses = target.value.split(/[\s,]+/).filter(Boolean)
            change({ dns_resolvers: addresses.length === 0 ? null : addresses })
          }}
          error={draft.dns_resolvers?.map((_, index) => issue(`dns_resolvers.${index}`)).find(Boolean) ?? issue('dns_resolvers')}
        />
        <TextField
          label="Built-in DNS server port"
          type="number"
          min={0}
          max={65_535}
          value={draft.dns_server ?? ''}
          placeholder="Off"
          hint="Resolves domains bought here, such as those under .test, on this machine. Health shows the command that makes the system use it."
          onChange={({ target }) => change({ dns_server: target.value === '' ? null : target.valueAsNumber })}
          error={issue('dns_server')}
        />
      </div>
    </>
  )
}

function NumberFields({ fields, draft, change, issue }: FormProps & { fields: readonly NumberSetting[] }) {
  return fields.map(({ name, label, hint }) => (
    <TextField
      key={name}
      label={label}
      hint={hint}
      type="number"
      required
      value={Number.isNaN(draft[name]) ? '' : draft[name]}
      onChange={({ target }) => change({ [name]: target.valueAsNumber })}
      error={issue(name)}
    />
  ))
}
