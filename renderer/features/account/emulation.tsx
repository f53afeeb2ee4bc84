import type { Settings } from '../../../server/contract/instance.ts'
import { problemFrom } from '../../api/problem.ts'
import { useSettings } from '../../api/queries.ts'
import { ProblemView, SkeletonRows } from '../../ui/feedback.tsx'
import { SelectField, SwitchField } from '../../ui/field.tsx'
import { useChangeSettings } from '../instance/change-settings.ts'
import { planNames } from './plan-words.ts'

const trials = [
  { days: null, text: 'None' },
  { days: 14, text: '14 days left' },
  { days: 3, text: '3 days left' },
  { days: 1, text: 'Its last day' },
  { days: 0, text: 'Over' },
] as const

/** One's own machine has no paywall; here it is played, so that a client can be tried against every refusal. Each takes effect at once. */
export function Emulation() {
  const { data, error, refetch } = useSettings()
  const save = useChangeSettings({ quiet: true })
  const change = (body: Partial<Settings>) => save.mutate({ body })
  const trial = data?.trial_days ?? null
  return (
    <div className="plan-play" role="group" aria-labelledby="play">
      <h3 id="play">Simulate a plan</h3>
      <p className="faint">Your own machine has no paywall. A smaller plan lets you see every refusal that a client has to live with.</p>
      {error && !data && <ProblemView problem={problemFrom(error)} onRetry={() => void refetch()} />}
      {!data && !error && <SkeletonRows rows={2} height={40} />}
      {data && (
        <div className="plan-fields">
          <SelectField
            label="Plan"
            value={data.plan}
            onChange={({ target }) => change({ plan: planNames.find((plan) => plan === target.value) ?? 'enterprise' })}
          >
            {planNames.map((plan) => (
              <option key={plan} value={plan}>
                {plan}
              </option>
            ))}
          </SelectField>
          <SelectField
            label="Trial of pro"
            value={trial ?? ''}
            onChange={({ target }) => change({ trial_days: target.value === '' ? null : Number(target.value) })}
            hint="Applies to Starter only."
          >
            {trials.map(({ days, text }) => (
              <option key={text} value={days ?? ''}>
                {text}
              </option>
            ))}
            {trial !== null && !trials.some(({ days }) => days === trial) && <option value={trial}>{trial} days left</option>}
          </SelectField>
          <SwitchField label="Has a card" checked={data.payment_method} onChange={(payment_method) => change({ payment_method })} />
          <SwitchField label="Email verified" checked={data.email_verified} onChange={(email_verified) => change({ email_verified })} />
        </div>
      )}
      {save.error && <ProblemView problem={save.error} />}
    </div>
  )
}
