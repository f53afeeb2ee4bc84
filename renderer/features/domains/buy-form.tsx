import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { Link } from 'wouter'
import type { Domain, Offer, Registrant } from '../../../server/contract/domains.ts'
import { useAction } from '../../api/actions.ts'
import { useBilling } from '../../api/billing.ts'
import { keys } from '../../api/keys.ts'
import { useInstance } from '../../api/queries.ts'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { SelectField, SwitchField } from '../../ui/field.tsx'
import { day } from '../../ui/format.ts'
import { Mark, checkSigns } from '../../ui/status.tsx'
import { Payment } from './payment.tsx'
import { ProjectField } from './project-field.tsx'
import { RegistrantFields, emptyRegistrant } from './registrant-fields.tsx'
import { domainAddress, dueOf, isPrivateName, money, priceOf } from './words.ts'

const years = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]

/** The last step before a name is bought: for how long, in whose name, at which price. */
export function BuyForm({
  slug,
  offer,
  onBack,
  onPriceChanged,
  onClose,
}: {
  slug: string | null
  offer: Offer
  onBack: () => void
  onPriceChanged: () => void
  onClose: () => void
}) {
  const cache = useQueryClient()
  const [chosen, setChosen] = useState(slug ?? '')
  const [period, setPeriod] = useState(offer.period_years)
  const [renews, setRenews] = useState(true)
  const [registrant, setRegistrant] = useState<Registrant | null>(null)
  const buy = useAction('purchaseDomain', {
    quiet: true,
    onDone() {
      void cache.invalidateQueries({ queryKey: keys.everyDomain })
      // What was free is taken now, for who looks again; what is bought stays in sight meanwhile.
      void cache.invalidateQueries({ queryKey: keys.everyOffer, refetchType: 'none' })
      // A credit may have paid.
      void cache.invalidateQueries({ queryKey: keys.billing })
    },
  })
  const { error } = buy
  const isAsked = registrant !== null || (error?.issues.some(({ path }) => path.startsWith('registrant')) ?? false)
  const credits = useBilling().data?.free_domain_credits ?? 0
  const price = dueOf(offer, period, credits)
  const change = () => error && buy.reset()
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (chosen === '' || buy.isPending) return
    const expected = priceOf(offer, period)
    buy.mutate(
      {
        params: { slug: chosen },
        body: {
          hostname: offer.hostname,
          period_years: period,
          auto_renew: renews,
          ...(expected === null ? {} : { expected_price_cents: expected }),
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
  if (buy.data) return <Bought domain={buy.data.domain} onClose={onClose} />
  return (
    <form className="stack" onSubmit={submit}>
      {slug === null && <ProjectField value={chosen} onChange={setChosen} />}
      <SelectField
        label="For how long"
        value={period}
        onChange={({ target }) => {
          change()
          setPeriod(Number(target.value))
        }}
        error={error?.issue('period_years')}
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
        label="Renew by itself"
        hint="Thirty days before it ends, so that nobody else takes it. A credit pays first."
        checked={renews}
        onChange={setRenews}
      />
      <SwitchField
        label="Name who it is registered for"
        hint={
          isPrivateName(offer.hostname) ? 'Not needed for a name of this machine alone.' : 'Without it, it is registered as the registrar has you.'
        }
        checked={isAsked}
        onChange={(on) => {
          change()
          setRegistrant(on ? emptyRegistrant : null)
        }}
      />
      {isAsked && (
        <RegistrantFields
          value={registrant ?? emptyRegistrant}
          onChange={(next) => {
            change()
            setRegistrant(next)
          }}
          issue={(field) => error?.issue(`registrant.${field}`)}
        />
      )}
      {error && error.issue('period_years') === undefined && <Payment problem={error} />}
      <p className="domain-total">
        <span>Altogether</span>
        <strong>{price === null ? 'As the registrar bills it' : price === 0 ? 'Free' : money(price, offer.currency)}</strong>
      </p>
      <footer className="dialog-foot">
        <Button onClick={onBack}>Back</Button>
        <Button kind="primary" type="submit" busy={buy.isPending} disabled={chosen === ''}>
          {price === 0 ? 'Take it' : 'Buy it'}
        </Button>
      </footer>
    </form>
  )
}

function Bought({ domain, onClose }: { domain: Domain; onClose: () => void }) {
  const session = useInstance().data
  const address = session ? domainAddress(domain.hostname, session.instance.edge_url) : null
  return (
    <div className="stack">
      <p className="domain-done" role="status">
        <Mark sign={checkSigns.ok} size={14} />
        <span>
          <strong>{domain.hostname}</strong> is yours{domain.expires_at !== null && ` until ${day(domain.expires_at)}`}, and {domain.project_name}{' '}
          answers to it.
        </span>
      </p>
      {isPrivateName(domain.hostname) && (
        <p className="quiet">
          The DNS of the world does not know this name; the DNS server of this instance does.{' '}
          {session?.user.is_instance_owner ? (
            <>
              <Link href="/instance" className="domain-link">
                What ails the instance
              </Link>{' '}
              has the line that makes this machine ask it.
            </>
          ) : (
            'The owner of the instance can tell how a machine asks it.'
          )}
        </p>
      )}
      <footer className="dialog-foot">
        {address && <ButtonLink href={address}>Open it</ButtonLink>}
        <Button kind="primary" onClick={onClose}>
          Done
        </Button>
      </footer>
    </div>
  )
}
