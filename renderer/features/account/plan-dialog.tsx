import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import type { BillingInterval, BillingStatus } from '../../../server/contract/billing.ts'
import { plans } from '../../../server/contract/plans.ts'
import { useAction } from '../../api/actions.ts'
import { keys } from '../../api/keys.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { ProblemView } from '../../ui/feedback.tsx'
import { Segments } from '../../ui/segments.tsx'
import { openAddress } from '../frame/outside.ts'
import { cardAddress, useCardElsewhere } from './card-address.ts'
import { type PaidPlan, cardWords, paidPlans, planLine } from './plan-words.ts'

/** Which plan, and paid how often. Without a card the next thing is the form for one. */
export function PlanDialog({ billing, onClose }: { billing: BillingStatus; onClose: () => void }) {
  const cache = useQueryClient()
  const [plan, setPlan] = useState<PaidPlan>(billing.plan === 'starter' ? 'basic' : billing.plan)
  const [interval, setPeriod] = useState<BillingInterval>(billing.billing_interval)
  const confirm = useAction('confirmBilling', {
    quiet: true,
    done: 'The plan is changed.',
    onDone() {
      for (const queryKey of [keys.billing, keys.session]) void cache.invalidateQueries({ queryKey })
      onClose()
    },
  })
  const elsewhere = useCardElsewhere()
  const isSame =
    plan === billing.plan && interval === billing.billing_interval && billing.cancel_at === null && billing.subscription_status === 'active'
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (confirm.isPending || isSame) return
    if (billing.has_payment_method) confirm.mutate({ body: { plan, interval } })
    else if (elsewhere === null) location.assign(cardAddress(plan, interval))
    else openAddress(elsewhere)
  }
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title="Choose a plan"
      about={billing.has_payment_method ? `${cardWords(billing.card)} pays; what is paid already counts.` : 'Next comes the card that pays for it.'}
    >
      <form className="stack" onSubmit={submit}>
        <fieldset className="plan-choices">
          <legend className="unseen">Plan</legend>
          {paidPlans.map((name) => (
            <label key={name} className="plan-choice">
              <input type="radio" name="plan" value={name} checked={plan === name} onChange={() => setPlan(name)} />
              <span>
                <strong>{name}</strong>
                {name === billing.plan && <span className="faint"> — now</span>}
                <span className="faint plan-line">{planLine(plans[name])}</span>
              </span>
            </label>
          ))}
        </fieldset>
        <Segments
          label="How often it is paid"
          value={interval}
          choices={[
            { value: 'monthly', text: 'By the month' },
            { value: 'yearly', text: 'By the year' },
          ]}
          onChange={setPeriod}
        />
        {confirm.error && <ProblemView problem={confirm.error} />}
        <footer className="dialog-foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" busy={confirm.isPending} disabled={isSame}>
            {billing.has_payment_method ? `Take ${plan}` : 'On to the card'}
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}
