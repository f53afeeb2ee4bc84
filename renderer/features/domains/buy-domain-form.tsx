import { type FormEvent, useState } from 'react'
import { Link } from 'wouter'
import { usePurchaseDomain } from '../../api/domains.ts'
import { useInstanceSession } from '../../api/instance.ts'
import type { Domain, DomainOffer, Registrant } from '../../../server/contract/domains.ts'
import { useBilling } from '../../api/billing.ts'
import { Button, ButtonLink } from '../../components/button.tsx'
import { SelectField, SwitchField } from '../../components/field.tsx'
import { formatDate } from '../../lib/format.ts'
import { StatusIcon, checkBadges } from '../../components/status.tsx'
import { PaymentProblem } from './payment-problem.tsx'
import { DomainProjectField } from './project-field.tsx'
import { RegistrantFields, emptyRegistrant } from './registrant-fields.tsx'
import { domainUrl, amountDue_cents, isPrivateName, formatMoney, totalPrice_cents } from './domain-format.ts'

const years = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]

/** Last step of a purchase: period, registrant and price. */
export function BuyDomainForm({
  slug,
  offer,
  onBack,
  onPriceChanged,
  onClose,
}: {
  slug: string | null
  offer: DomainOffer
  onBack: () => void
  onPriceChanged: () => void
  onClose: () => void
}) {
  const [projectSlug, setProjectSlug] = useState(slug ?? '')
  const [period, setPeriod] = useState(offer.period_years)
  const [autoRenew, setAutoRenew] = useState(true)
  const [registrant, setRegistrant] = useState<Registrant | null>(null)
  const buy = usePurchaseDomain({ hidesErrorToast: true })
  const { error } = buy
  const hasRegistrantFields = registrant !== null || (error?.issues.some(({ path }) => path.startsWith('registrant')) ?? false)
  const credits = useBilling().data?.free_domain_credits ?? 0
  const price = amountDue_cents(offer, period, credits)
  const clearError = () => error && buy.reset()
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (projectSlug === '' || buy.isPending) return
    const expectedPrice_cents = totalPrice_cents(offer, period)
    buy.mutate(
      {
        params: { slug: projectSlug },
        body: {
          hostname: offer.hostname,
          period_years: period,
          auto_renew: autoRenew,
          ...(expectedPrice_cents === null ? {} : { expected_price_cents: expectedPrice_cents }),
          ...(registrant === null ? {} : { registrant }),
        },
      },
      {
        onError(problem) {
          if (problem.code === 'price_changed' || problem.code === 'domain_unavailable') onPriceChanged()
        },
      },
    )
  }
  if (buy.data) return <PurchaseConfirmation domain={buy.data.domain} onClose={onClose} />
  return (
    <form className="stack" onSubmit={submit}>
      {slug === null && <DomainProjectField value={projectSlug} onChange={setProjectSlug} />}
      <SelectField
        label="Registration period"
        value={period}
        onChange={({ target }) => {
          clearError()
          setPeriod(Number(target.value))
        }}
        error={error?.issueFor('period_years')}
      >
        {years
          .filter((count) => count >= offer.period_years)
          .map((count) => (
            <option key={count} value={count}>
              {count === 1 ? '1 year' : `${count} years`}
            </option>
          ))}
      </SelectField>
      <SwitchField
        label="Renew automatically"
        hint="Renews 30 days before it expires. Credits are used first."
        checked={autoRenew}
        onChange={setAutoRenew}
      />
      <SwitchField
        label="Add registrant details"
        hint={
          isPrivateName(offer.hostname)
            ? 'Not needed for a domain that works only on this machine.'
            : 'Otherwise the registrar uses the details of your registrar account.'
        }
        checked={hasRegistrantFields}
        onChange={(on) => {
          clearError()
          setRegistrant(on ? emptyRegistrant : null)
        }}
      />
      {hasRegistrantFields && (
        <RegistrantFields
          value={registrant ?? emptyRegistrant}
          onChange={(next) => {
            clearError()
            setRegistrant(next)
          }}
          issue={(field) => error?.issueFor(`registrant.${field}`)}
        />
      )}
      {error && error.issueFor('period_years') === undefined && <PaymentProblem problem={error} />}
      <p className="domain-total">
        <span>Total</span>
        <strong>{price === null ? 'Billed by the registrar' : price === 0 ? 'Free' : formatMoney(price, offer.currency)}</strong>
      </p>
      <footer className="dialog-footer">
        <Button onClick={onBack}>Back</Button>
        <Button kind="primary" type="submit" busy={buy.isPending} disabled={projectSlug === ''}>
          {price === 0 ? 'Get domain' : 'Buy domain'}
        </Button>
      </footer>
    </form>
  )
}

function PurchaseConfirmation({ domain, onClose }: { domain: Domain; onClose: () => void }) {
  const session = useInstanceSession().data
  const address = session ? domainUrl(domain.hostname, session.instance.edge_url) : null
  return (
    <div className="stack">
      <p className="domain-success" role="status">
        <StatusIcon badge={checkBadges.ok} size={14} />
        <span>
          <strong>{domain.hostname}</strong> is yours{domain.expires_at !== null && ` until ${formatDate(domain.expires_at)}`}, and it points to{' '}
          {domain.project_name}.
        </span>
      </p>
      {isPrivateName(domain.hostname) && (
        <p className="text-muted">
          This domain is not in public DNS; only this instance’s DNS server resolves it.{' '}
          {session?.user.is_instance_owner ? (
            <>
              <Link href="/instance" className="domain-link">
                Instance health
              </Link>{' '}
              shows the command that makes this machine use it.
            </>
          ) : (
            'Ask the instance owner how to use it from your machine.'
          )}
        </p>
      )}
      <footer className="dialog-footer">
        {address && <ButtonLink href={address}>Open domain</ButtonLink>}
        <Button kind="primary" onClick={onClose}>
          Done
        </Button>
      </footer>
    </div>
  )
}
