import { useState } from 'react'
import type { BillingStatus } from '../../../server/contract/billing.ts'
import { plans } from '../../../server/contract/plans.ts'
import { useBilling } from '../../api/billing.ts'
import { problemFrom } from '../../api/problem.ts'
import { useOffered } from '../../api/offered.ts'
import { useInstance } from '../../api/queries.ts'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { ProblemView, SkeletonRows } from '../../ui/feedback.tsx'
import { day } from '../../ui/format.ts'
import { useNow } from '../../ui/now.ts'
import { StatusWord } from '../../ui/status.tsx'
import { useLanding } from '../frame/landing.ts'
import { CancelDialog } from './cancel-dialog.tsx'
import { Emulation } from './emulation.tsx'
import { PlanDialog } from './plan-dialog.tsx'
import { cardAddress, useCardElsewhere } from './card-address.ts'
import { canCancel, cardWords, daysLeft, planLine } from './plan-words.ts'
import { subscriptionSign } from './subscription-sign.ts'
import './plan.css'

/** What the account may do, who pays for it and how, and on one's own machine the play at all of it. */
export function PlanAndCard() {
  const { data, error, refetch } = useBilling()
  const session = useInstance().data
  const offered = useOffered()
  useLanding(data !== undefined)
  const isPlayed = data?.processor_enabled === false && offered.is_here && session?.user.is_instance_owner === true
  return (
    <section className="card" aria-labelledby="plan">
      <header className="card-head">
        <h2 id="plan">Plan and card</h2>
        {data && !data.processor_enabled && <span className="faint plan-note">Nothing is charged here</span>}
      </header>
      <div className="card-body stack">
        {error && <ProblemView problem={problemFrom(error)} onRetry={() => void refetch()} />}
        {!data && !error && <SkeletonRows rows={3} height={40} />}
        {data && <PlanFacts billing={data} />}
        {data?.processor_enabled && <PlanActs billing={data} />}
        {isPlayed && <Emulation />}
        {data && !data.processor_enabled && !isPlayed && (
          <p className="quiet">No payment processor is set up on this instance. Its owner gives you a plan.</p>
        )}
      </div>
    </section>
  )
}

function PlanFacts({ billing }: { billing: BillingStatus }) {
  const now = useNow(60_000)
  const trial = billing.trial_ends_at === null ? null : daysLeft(billing.trial_ends_at, now)
  const subscription = subscriptionSign(billing)
  // A trial of pro lifts whoever has less.
  const allowed = trial !== null && trial > 0 && billing.plan === 'starter' ? plans.pro : plans[billing.plan]
  return (
    <dl className="plan-facts">
      <div>
        <dt>Plan</dt>
        <dd>
          <strong>{billing.plan}</strong>
          {billing.subscription_status !== null && `, billed ${billing.billing_interval}`}
          <span className="faint">{planLine(allowed)}</span>
        </dd>
      </div>
      {billing.trial_ends_at !== null && trial !== null && (
        <div>
          <dt>Trial</dt>
          <dd>
            {trial > 0 ? `All of pro for ${trial === 1 ? 'one more day' : `${trial} more days`}` : 'Over'}
            <span className="faint">
              {trial > 0 ? 'Until' : 'It ended on'} {day(billing.trial_ends_at)}
            </span>
          </dd>
        </div>
      )}
      {subscription && (
        <div>
          <dt>Subscription</dt>
          <dd>
            <StatusWord sign={subscription} />
            {billing.cancel_at !== null && <span className="faint">On {day(billing.cancel_at)} the account goes to starter</span>}
          </dd>
        </div>
      )}
      <div>
        <dt>Card</dt>
        <dd>{billing.has_payment_method ? cardWords(billing.card) : <span className="faint">None</span>}</dd>
      </div>
      {billing.free_domain_credits > 0 && (
        <div>
          <dt>Credits</dt>
          <dd>{billing.free_domain_credits === 1 ? 'One domain' : `${billing.free_domain_credits} domains`} without charge</dd>
        </div>
      )}
    </dl>
  )
}

function PlanActs({ billing }: { billing: BillingStatus }) {
  const [open, setOpen] = useState<'plan' | 'cancel' | null>(null)
  const elsewhere = useCardElsewhere()
  const close = () => setOpen(null)
  return (
    <>
      <div className="plan-acts">
        <Button kind="primary" onClick={() => setOpen('plan')}>
          {billing.plan === 'starter' ? 'Choose a plan…' : 'Change the plan…'}
        </Button>
        {elsewhere !== null && <ButtonLink href={elsewhere}>Its own dashboard: card</ButtonLink>}
        {elsewhere === null && billing.has_payment_method && billing.plan !== 'starter' && (
          // A document of its own: see card-page.tsx.
          <a className="button button-plain" href={cardAddress(billing.plan, billing.billing_interval)}>
            Replace the card…
          </a>
        )}
        {canCancel(billing) && (
          <Button kind="danger" onClick={() => setOpen('cancel')}>
            End the subscription…
          </Button>
        )}
      </div>
      {open === 'plan' && <PlanDialog billing={billing} onClose={close} />}
      {open === 'cancel' && <CancelDialog billing={billing} onClose={close} />}
    </>
  )
}
