import { useState } from 'react'
import { useInstanceSession } from '../../api/instance.ts'
import { planLabels } from '../../../server/contract/labels.ts'
import type { BillingStatus } from '../../../server/contract/billing.ts'
import { plans } from '../../../server/contract/plans.ts'
import { useBilling } from '../../api/billing.ts'
import { toApiError } from '../../lib/api-error.ts'
import { useCapabilities } from '../../api/capabilities.ts'
import { Button, ButtonLink } from '../../components/button.tsx'
import { ProblemView, SkeletonRows } from '../../components/feedback.tsx'
import { formatDate } from '../../lib/format.ts'
import { useNow } from '../../lib/use-now.ts'
import { StatusText } from '../../components/status.tsx'
import { useScrollToSection } from '../../lib/use-scroll-to-section.ts'
import { CancelSubscriptionDialog } from './cancel-dialog.tsx'
import { PlanSimulator } from './plan-simulator.tsx'
import { PlanDialog } from './plan-dialog.tsx'
import { cardUrl, useRemoteCardUrl } from './card-url.ts'
import { canCancel, cardLabel, daysLeft, planSummary } from './plan-labels.ts'
import { subscriptionBadge } from './subscription-badge.ts'
import styles from './plan.module.css'

/** Plan limits, payment, and on the local machine the plan simulation. */
export function PlanAndCard() {
  const { data, error, refetch } = useBilling()
  const session = useInstanceSession().data
  const capabilities = useCapabilities()
  useScrollToSection(data !== undefined)
  const isSimulated = data?.processor_enabled === false && capabilities.is_local && session?.user.is_instance_owner === true
  return (
    <section className="card" aria-labelledby="plan">
      <header className="card-header">
        <h2 id="plan">Plan and card</h2>
        {data && !data.processor_enabled && <span className={`text-subtle ${styles.planNote}`}>No charges on this instance</span>}
      </header>
      <div className="card-body stack">
        {error && <ProblemView problem={toApiError(error)} onRetry={() => void refetch()} />}
        {!data && !error && <SkeletonRows rows={3} height={40} />}
        {data && <PlanFacts billing={data} />}
        {data?.processor_enabled && <PlanActions billing={data} />}
        {isSimulated && <PlanSimulator />}
        {data && !data.processor_enabled && !isSimulated && (
          <p className="text-muted">This instance has no payment processor. Its owner assigns your plan.</p>
        )}
      </div>
    </section>
  )
}

function PlanFacts({ billing }: { billing: BillingStatus }) {
  const now = useNow(60_000)
  const trial = billing.trial_ends_at === null ? null : daysLeft(billing.trial_ends_at, now)
  const subscription = subscriptionBadge(billing)
  // The Pro trial applies to accounts with a smaller plan.
  const effectivePlan = trial !== null && trial > 0 && billing.plan === 'starter' ? plans.pro : plans[billing.plan]
  return (
    <dl className={styles.planFacts}>
      <div>
        <dt>Plan</dt>
        <dd>
          <strong>{planLabels[billing.plan]}</strong>
          {billing.subscription_status !== null && `, billed ${billing.billing_interval}`}
          <span className="text-subtle">{planSummary(effectivePlan)}</span>
        </dd>
      </div>
      {billing.trial_ends_at !== null && trial !== null && (
        <div>
          <dt>Trial</dt>
          <dd>
            {trial > 0 ? `Pro for ${trial === 1 ? 'one more day' : `${trial} more days`}` : 'Ended'}
            <span className="text-subtle">
              {trial > 0 ? 'Ends on' : 'Ended on'} {formatDate(billing.trial_ends_at)}
            </span>
          </dd>
        </div>
      )}
      {subscription && (
        <div>
          <dt>Subscription</dt>
          <dd>
            <StatusText badge={subscription} />
            {billing.cancel_at !== null && <span className="text-subtle">Moves to Starter on {formatDate(billing.cancel_at)}</span>}
          </dd>
        </div>
      )}
      <div>
        <dt>Card</dt>
        <dd>{billing.has_payment_method ? cardLabel(billing.card) : <span className="text-subtle">None</span>}</dd>
      </div>
      {billing.free_domain_credits > 0 && (
        <div>
          <dt>Credits</dt>
          <dd>{billing.free_domain_credits === 1 ? 'One domain' : `${billing.free_domain_credits} domains`} free of charge</dd>
        </div>
      )}
    </dl>
  )
}

function PlanActions({ billing }: { billing: BillingStatus }) {
  const [open, setOpen] = useState<'plan' | 'cancel' | null>(null)
  const remoteCardUrl = useRemoteCardUrl()
  const close = () => setOpen(null)
  return (
    <>
      <div className={styles.planActions}>
        <Button kind="primary" onClick={() => setOpen('plan')}>
          {billing.plan === 'starter' ? 'Choose plan…' : 'Change plan…'}
        </Button>
        {remoteCardUrl !== null && <ButtonLink href={remoteCardUrl}>Add card on its own dashboard</ButtonLink>}
        {remoteCardUrl === null && billing.has_payment_method && billing.plan !== 'starter' && (
          // A separate document: see card-page.tsx.
          <a className="button button-plain" href={cardUrl(billing.plan, billing.billing_interval)}>
            Replace card…
          </a>
        )}
        {canCancel(billing) && (
          <Button kind="danger" onClick={() => setOpen('cancel')}>
            Cancel subscription…
          </Button>
        )}
      </div>
      {open === 'plan' && <PlanDialog billing={billing} onClose={close} />}
      {open === 'cancel' && <CancelSubscriptionDialog billing={billing} onClose={close} />}
    </>
  )
}
