import { Link } from 'wouter'
import { useForm } from '../../lib/use-form.ts'
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
import styles from './page.module.css'

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
  const buy = usePurchaseDomain({ hidesErrorToast: true })
  const credits = useBilling().data?.free_domain_credits ?? 0
  const form = useForm({
    initial: { slug: slug ?? '', period_years: offer.period_years, auto_renew: true, registrant: null as Registrant | null },
    submission: buy,
    onSubmit({ slug: projectSlug, registrant, ...terms }) {
      const expectedPrice_cents = totalPrice_cents(offer, terms.period_years)
      buy.mutate(
        {
          params: { slug: projectSlug },
          body: {
            hostname: offer.hostname,
            ...terms,
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
    },
  })
  const { period_years, registrant } = form.values
  const hasRegistrantFields = registrant !== null || form.error('registrant') !== undefined
  const price = amountDue_cents(offer, period_years, credits)
  if (buy.data) return <PurchaseConfirmation domain={buy.data.domain} onClose={onClose} />
  return (
    <form className="stack" {...form.props}>
      {slug === null && <DomainProjectField value={form.values.slug} onChange={(next) => form.set({ slug: next })} />}
      <SelectField
        label="Registration period"
        value={period_years}
        onChange={({ target }) => form.set({ period_years: Number(target.value) })}
        error={form.error('period_years')}
      >
        {years
          .filter((count) => count >= offer.period_years)
          .map((count) => (
            <option key={count} value={count}>
              {count === 1 ? '1 year' : `${count} years`}
            </option>
          ))}
      </SelectField>
      <SwitchField label="Renew automatically" hint="Renews 30 days before it expires. Credits are used first." {...form.toggle('auto_renew')} />
      <SwitchField
        label="Add registrant details"
        hint={
          isPrivateName(offer.hostname)
            ? 'Not needed for a domain that works only on this machine.'
            : 'Otherwise the registrar uses the details of your registrar account.'
        }
        checked={hasRegistrantFields}
        onChange={(on) => form.set({ registrant: on ? emptyRegistrant : null })}
      />
      {hasRegistrantFields && (
        <RegistrantFields
          value={registrant ?? emptyRegistrant}
          onChange={(next) => form.set({ registrant: next })}
          issue={(field) => buy.error?.issueFor(`registrant.${field}`)}
        />
      )}
      {buy.error && form.error('period_years') === undefined && <PaymentProblem problem={buy.error} />}
      <p className={styles.domainTotal}>
        <span>Total</span>
        <strong>{price === null ? 'Billed by the registrar' : price === 0 ? 'Free' : formatMoney(price, offer.currency)}</strong>
      </p>
      <footer className="dialog-footer">
        <Button onClick={onBack}>Back</Button>
        <Button kind="primary" type="submit" busy={form.is_busy} disabled={form.values.slug === ''}>
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
      <p className={styles.domainSuccess} role="status">
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
              <Link href="/instance/settings" className={styles.domainLink}>
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
