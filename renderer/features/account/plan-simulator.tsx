import { useSettings, useUpdateSettings } from '../../api/instance.ts'
import { planLabels } from '../../../server/contract/labels.ts'
import type { Settings } from '../../../server/contract/instance.ts'
import { toApiError } from '../../lib/api-error.ts'
import { ProblemView, SkeletonRows } from '../../components/feedback.tsx'
import { SelectField, SwitchField } from '../../components/field.tsx'
import { planNames } from './plan-labels.ts'
import styles from './plan.module.css'

const trialOptions = [
  { days: null, text: 'None' },
  { days: 14, text: '14 days left' },
  { days: 3, text: '3 days left' },
  { days: 1, text: 'Last day' },
  { days: 0, text: 'Ended' },
] as const

/** Simulates plans on the local machine, which has no paywall, to test clients against every limit. Each change takes effect immediately. */
export function PlanSimulator() {
  const { data, error, refetch } = useSettings()
  const save = useUpdateSettings({ hidesErrorToast: true })
  const change = (body: Partial<Settings>) => save.mutate({ body })
  const trial = data?.trial_days ?? null
  return (
    <div className={styles.planSimulator} role="group" aria-labelledby="simulate-plan">
      <h3 id="simulate-plan">Simulate a plan</h3>
      <p className="text-subtle">Your own machine has no paywall. Simulate a smaller plan to see every limit and error that a client must handle.</p>
      {error && !data && <ProblemView problem={toApiError(error)} onRetry={() => void refetch()} />}
      {!data && !error && <SkeletonRows rows={2} height={40} />}
      {data && (
        <div className={styles.planFields}>
          <SelectField
            label="Plan"
            value={data.plan}
            onChange={({ target }) => change({ plan: planNames.find((plan) => plan === target.value) ?? 'enterprise' })}
          >
            {planNames.map((plan) => (
              <option key={plan} value={plan}>
                {planLabels[plan]}
              </option>
            ))}
          </SelectField>
          <SelectField
            label="Pro trial"
            value={trial ?? ''}
            onChange={({ target }) => change({ trial_days: target.value === '' ? null : Number(target.value) })}
            hint="Applies to Starter only."
          >
            {trialOptions.map(({ days, text }) => (
              <option key={text} value={days ?? ''}>
                {text}
              </option>
            ))}
            {trial !== null && !trialOptions.some(({ days }) => days === trial) && <option value={trial}>{trial} days left</option>}
          </SelectField>
          <SwitchField label="Has a card" checked={data.payment_method} onChange={(payment_method) => change({ payment_method })} />
          <SwitchField label="Email is verified" checked={data.email_verified} onChange={(email_verified) => change({ email_verified })} />
        </div>
      )}
      {save.error && <ProblemView problem={save.error} />}
    </div>
  )
}
