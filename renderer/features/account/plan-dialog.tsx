import { useConfirmBilling } from '../../api/billing.ts'
import { planLabels } from '../../../server/contract/labels.ts'
import type { BillingInterval, BillingStatus } from '../../../server/contract/billing.ts'
import { plans } from '../../../server/contract/plans.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { ProblemView } from '../../components/feedback.tsx'
import { SegmentedControl } from '../../components/segmented-control.tsx'
import { openExternalUrl } from '../../lib/external-links.ts'
import { useForm } from '../../lib/use-form.ts'
import { cardUrl, useRemoteCardUrl } from './card-url.ts'
import { type PaidPlan, cardLabel, paidPlans, planSummary } from './plan-labels.ts'
import styles from './plan.module.css'

/** Chooses plan and billing interval. Without a card the card form follows. */
export function PlanDialog({ billing, onClose }: { billing: BillingStatus; onClose: () => void }) {
  const confirm = useConfirmBilling({
    hidesErrorToast: true,
    successMessage: 'Plan changed.',
    onSuccess: onClose,
  })
  const remoteCardUrl = useRemoteCardUrl()
  const form = useForm<{ plan: PaidPlan; interval: BillingInterval }>({
    initial: { plan: billing.plan === 'starter' ? 'basic' : billing.plan, interval: billing.billing_interval },
    submission: confirm,
    onSubmit() {
      if (isSame) return
      if (billing.has_payment_method) confirm.mutate({ body: { plan, interval } })
      else if (remoteCardUrl === null) location.assign(cardUrl(plan, interval))
      else openExternalUrl(remoteCardUrl)
    },
  })
  const { plan, interval } = form.values
  const isSame =
    plan === billing.plan && interval === billing.billing_interval && billing.cancel_at === null && billing.subscription_status === 'active'
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title="Choose a plan"
      description={
        billing.has_payment_method
          ? `Charged to ${cardLabel(billing.card)}. Time already paid for is credited.`
          : 'You add a payment card in the next step.'
      }
    >
      <form className="stack" {...form.props}>
        <fieldset className={styles.planChoices}>
          <legend className="visually-hidden">Plan</legend>
          {paidPlans.map((name) => (
            <label key={name} className={styles.planChoice}>
              <input type="radio" name="plan" value={name} checked={plan === name} onChange={() => form.set({ plan: name })} />
              <span>
                <strong>{planLabels[name]}</strong>
                {name === billing.plan && <span className="text-subtle"> (current)</span>}
                <span className={`text-subtle ${styles.planLine}`}>{planSummary(plans[name])}</span>
              </span>
            </label>
          ))}
        </fieldset>
        <SegmentedControl
          label="Billing interval"
          value={interval}
          choices={[
            { value: 'monthly', text: 'Monthly' },
            { value: 'yearly', text: 'Yearly' },
          ]}
          onChange={(next) => form.set({ interval: next })}
        />
        {confirm.error && <ProblemView problem={confirm.error} />}
        <footer className="dialog-footer">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" busy={form.is_busy} disabled={isSame}>
            {billing.has_payment_method ? `Switch to ${planLabels[plan]}` : 'Continue to card'}
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}
