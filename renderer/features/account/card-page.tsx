import { ArrowLeft } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { useSearchParams } from 'wouter'
import { planLabels } from '../../../server/contract/labels.ts'
import { useConfirmBilling, useCreateSetupIntent, useBilling } from '../../api/billing.ts'
import { toApiError } from '../../lib/api-error.ts'
import { Button } from '../../components/button.tsx'
import { ProblemView, SkeletonRows } from '../../components/feedback.tsx'
import { Logo } from '../../components/logo.tsx'
import { StatusIcon, checkBadges } from '../../components/status.tsx'
import { useForm } from '../../lib/use-form.ts'
import { useTitle } from '../../lib/use-title.ts'
import { cardUrl } from './card-url.ts'
import { type PaidPlan, paidPlans } from './plan-labels.ts'
import { type StripeForm, openStripeForm } from './stripe-form.ts'
import styles from './plan.module.css'

const accountUrl = `${import.meta.env.BASE_URL}account?at=plan`

/**
 * The card form of the payment processor. A separate document, because only its URL has a content security policy that allows third-party scripts.
 * Links that leave it are plain links, which reload the dashboard.
 */
export default function CardPage() {
  useTitle('Card')
  const { data: billing, error, refetch } = useBilling()
  const [params] = useSearchParams()
  const plan = paidPlans.find((name) => name === params.get('plan')) ?? 'basic'
  const interval = params.get('interval') === 'yearly' ? 'yearly' : 'monthly'
  return (
    <main className={styles.cardPage}>
      <a href={accountUrl} className={`row ${styles.cardBack}`}>
        <ArrowLeft size={15} aria-hidden /> Back to account
      </a>
      <section className="card card-body stack" aria-labelledby="card">
        <header className="row">
          <Logo size={24} />
          <h1 id="card">Payment card</h1>
        </header>
        {error && !billing && <ProblemView problem={toApiError(error)} onRetry={() => void refetch()} />}
        {!billing && !error && <SkeletonRows rows={3} height={44} />}
        {billing &&
          (window.homeport ? (
            <p className="text-muted">The payment form works only in a browser. Open the dashboard in a browser and return to this page.</p>
          ) : billing.publishable_key === null ? (
            <p className="text-muted">This instance has no payment processor, so you cannot add a card.</p>
          ) : (
            <CardForm publishableKey={billing.publishable_key} plan={plan} interval={interval} />
          ))}
      </section>
    </main>
  )
}

function CardForm({ publishableKey, plan, interval }: { publishableKey: string; plan: PaidPlan; interval: 'monthly' | 'yearly' }) {
  const container = useRef<HTMLDivElement>(null)
  const [stripeForm, setStripeForm] = useState<StripeForm | null>(null)
  const [formError, setFormError] = useState<string | null>(null)
  const [isSaving, setSaving] = useState(false)
  const [params] = useSearchParams()
  // The bank redirects here after an additional confirmation. The card is saved by then, and the processor's parameters are removed from the URL.
  const [hasReturned] = useState(() => params.get('redirect_status') === 'succeeded')
  const { mutate: createSetupIntent, error: setupError } = useCreateSetupIntent({ hidesErrorToast: true })
  const confirmation = useConfirmBilling({ hidesErrorToast: true })
  const { mutate: confirmBilling, data: confirmed, error: confirmError } = confirmation

  useEffect(() => {
    const element = container.current
    if (hasReturned) {
      history.replaceState(null, '', cardUrl(plan, interval))
      confirmBilling({ body: { plan, interval } })
      return
    }
    if (!element) return
    let isUnmounted = false
    let openedForm: StripeForm | undefined
    createSetupIntent(
      {},
      {
        onSuccess({ client_secret }) {
          openStripeForm(element, publishableKey, client_secret).then(
            (opened) => {
              openedForm = opened
              if (isUnmounted) opened.close()
              else setStripeForm(opened)
            },
            (error: unknown) =>
              !isUnmounted && setFormError(error instanceof Error ? error.message : 'The payment form did not open. Reload the page.'),
          )
        },
      },
    )
    return () => {
      isUnmounted = true
      openedForm?.close()
    }
  }, [confirmBilling, createSetupIntent, interval, hasReturned, plan, publishableKey])

  const save = async () => {
    if (!stripeForm) return
    setFormError(null)
    setSaving(true)
    const problem = confirmError ? null : await stripeForm.save(location.href)
    setSaving(false)
    // A saved card stays saved, so only the steps after it are retried.
    if (problem === null) confirmBilling({ body: { plan, interval } })
    else setFormError(problem)
  }
  const form = useForm({
    initial: {},
    submission: { ...confirmation, isPending: isSaving || confirmation.isPending },
    onSubmit: () => void save(),
  })
  if (confirmed) {
    return (
      <>
        <p className="row" role="status">
          <StatusIcon badge={checkBadges.ok} />
          Card saved. You are on {planLabels[confirmed.plan]}, billed {confirmed.interval}.
        </p>
        <a className="button button-primary" href={accountUrl}>
          Done
        </a>
      </>
    )
  }
  return (
    <form className="stack" {...form.props}>
      <p className="text-muted">
        For the plan <strong>{planLabels[plan]}</strong>, billed {interval}. The fields below are provided by Stripe: your card details go directly to
        Stripe and never pass through this instance.
      </p>
      <div ref={container} aria-label="Card" role="group" />
      {!stripeForm && !formError && !setupError && !hasReturned && <SkeletonRows rows={2} height={44} />}
      {setupError && <ProblemView problem={setupError} />}
      {confirmError && <ProblemView problem={confirmError} />}
      {formError && (
        <p className="field-error" role="alert">
          {formError}
        </p>
      )}
      <footer className="dialog-footer">
        <Button kind="primary" type="submit" busy={form.is_busy} disabled={!stripeForm}>
          {confirmError ? 'Try again' : 'Save card'}
        </Button>
      </footer>
    </form>
  )
}
