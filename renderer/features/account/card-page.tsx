import { ArrowLeft } from 'lucide-react'
import { type FormEvent, useEffect, useRef, useState } from 'react'
import { useSearchParams } from 'wouter'
import { useAction } from '../../api/actions.ts'
import { useBilling } from '../../api/billing.ts'
import { problemFrom } from '../../api/problem.ts'
import { Button } from '../../ui/button.tsx'
import { ProblemView, SkeletonRows } from '../../ui/feedback.tsx'
import { Logo } from '../../ui/logo.tsx'
import { Mark, checkSigns } from '../../ui/status.tsx'
import { useTitle } from '../frame/title.ts'
import { cardAddress } from './card-address.ts'
import { type PaidPlan, paidPlans } from './plan-words.ts'
import { type StripeForm, openStripeForm } from './stripe-form.ts'
import './plan.css'

const accountAddress = `${import.meta.env.BASE_URL}account?at=plan`

/**
 * The card form of the payment processor. A document of its own, without the rest of the dashboard: its address is the only one
 * whose policy lets foreign scripts in. So whoever leaves it loads the dashboard anew (plain links, no route).
 */
export default function CardPage() {
  useTitle('Card')
  const { data: billing, error, refetch } = useBilling()
  const [params] = useSearchParams()
  const plan = paidPlans.find((name) => name === params.get('plan')) ?? 'basic'
  const interval = params.get('interval') === 'yearly' ? 'yearly' : 'monthly'
  return (
    <main className="card-page">
      <a href={accountAddress} className="row card-back">
        <ArrowLeft size={15} aria-hidden /> Back to your account
      </a>
      <section className="card card-body stack" aria-labelledby="card">
        <header className="row">
          <Logo size={24} />
          <h1 id="card">Your card</h1>
        </header>
        {error && !billing && <ProblemView problem={problemFrom(error)} onRetry={() => void refetch()} />}
        {!billing && !error && <SkeletonRows rows={3} height={44} />}
        {billing &&
          (window.homeport ? (
            <p className="quiet">The form of the payment processor opens in a browser alone. Open the dashboard there, and come here again.</p>
          ) : billing.publishable_key === null ? (
            <p className="quiet">No payment processor is set up on this instance, so that there is no card to give.</p>
          ) : (
            <CardForm publishableKey={billing.publishable_key} plan={plan} interval={interval} />
          ))}
      </section>
    </main>
  )
}

function CardForm({ publishableKey, plan, interval }: { publishableKey: string; plan: PaidPlan; interval: 'monthly' | 'yearly' }) {
  const place = useRef<HTMLDivElement>(null)
  const [form, setForm] = useState<StripeForm | null>(null)
  const [fault, setFault] = useState<string | null>(null)
  const [isSaving, setSaving] = useState(false)
  const [params] = useSearchParams()
  // A bank that asked for more sends back here; the card is saved then, and what the processor put into the address goes from it.
  const [isBack] = useState(() => params.get('redirect_status') === 'succeeded')
  const { mutate: begin, error: notBegun } = useAction('createSetupIntent', { quiet: true })
  const { mutate: adopt, data: adopted, error: notAdopted, isPending: isAdopting } = useAction('confirmBilling', { quiet: true })

  useEffect(() => {
    const element = place.current
    if (isBack) {
      history.replaceState(null, '', cardAddress(plan, interval))
      adopt({ body: { plan, interval } })
      return
    }
    if (!element) return
    let isOver = false
    let opened: StripeForm | undefined
    begin(
      {},
      {
        onSuccess({ client_secret }) {
          openStripeForm(element, publishableKey, client_secret).then(
            (ready) => {
              opened = ready
              if (isOver) ready.close()
              else setForm(ready)
            },
            (error: unknown) => !isOver && setFault(error instanceof Error ? error.message : 'The form did not open. Load the page again.'),
          )
        },
      },
    )
    return () => {
      isOver = true
      opened?.close()
    }
  }, [adopt, begin, interval, isBack, plan, publishableKey])

  const submit = async (event: FormEvent) => {
    event.preventDefault()
    if (!form || isSaving || isAdopting) return
    setFault(null)
    setSaving(true)
    const problem = notAdopted ? null : await form.save(location.href)
    setSaving(false)
    // A card that is saved stays so: only what came after it is tried again.
    if (problem === null) adopt({ body: { plan, interval } })
    else setFault(problem)
  }
  if (adopted) {
    return (
      <>
        <p className="row" role="status">
          <Mark sign={checkSigns.ok} />
          The card is saved, and you have {adopted.plan}, billed {adopted.interval}.
        </p>
        <a className="button button-primary" href={accountAddress}>
          Done
        </a>
      </>
    )
  }
  return (
    <form className="stack" onSubmit={(event) => void submit(event)}>
      <p className="quiet">
        For the plan <strong>{plan}</strong>, billed {interval}. The fields below are Stripe’s own: what you type there goes to Stripe and never
        through this instance.
      </p>
      <div ref={place} className="stripe-place" aria-label="Card" role="group" />
      {!form && !fault && !notBegun && !isBack && <SkeletonRows rows={2} height={44} />}
      {notBegun && <ProblemView problem={notBegun} />}
      {notAdopted && <ProblemView problem={notAdopted} />}
      {fault && (
        <p className="field-error" role="alert">
          {fault}
        </p>
      )}
      <footer className="dialog-foot">
        <Button kind="primary" type="submit" busy={isSaving || isAdopting} disabled={!form}>
          {notAdopted ? 'Try again' : 'Save the card'}
        </Button>
      </footer>
    </form>
  )
}
