import { Search } from 'lucide-react'
import { useState } from 'react'
import { useDomainOffers } from '../../api/domains.ts'
import type { DomainOffer } from '../../../server/contract/domains.ts'
import { toApiError } from '../../lib/api-error.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { ProblemView, SkeletonRows } from '../../components/feedback.tsx'
import { TextField } from '../../components/field.tsx'
import { useForm } from '../../lib/use-form.ts'
import { BuyDomainForm } from './buy-domain-form.tsx'
import { parseHostname, formatMoney } from './domain-format.ts'
import styles from './page.module.css'

/** Searches for domains, shows offers and buys one. */
export function BuyDomainDialog({ slug, onClose }: { slug: string | null; onClose: () => void }) {
  const [query, setQuery] = useState<string | null>(null)
  const [chosenHostname, setChosenHostname] = useState<string | null>(null)
  const { data, error, isFetching, refetch } = useDomainOffers(query)
  const offer = data?.results.find(({ hostname }) => hostname === chosenHostname) ?? null
  const form = useForm({ initial: { text: '' }, onSubmit: ({ text }) => setQuery(parseHostname(text) || query) })
  if (offer) {
    return (
      <Dialog
        open
        onOpenChange={onClose}
        title={`Buy ${offer.hostname}`}
        description="It is registered for you and points to the project immediately."
      >
        <BuyDomainForm slug={slug} offer={offer} onBack={() => setChosenHostname(null)} onPriceChanged={() => void refetch()} onClose={onClose} />
      </Dialog>
    )
  }
  return (
    <Dialog open onOpenChange={onClose} title="Buy a domain" description="Enter a domain or a word. Other endings are searched too.">
      <form className={styles.domainSearch} {...form.props} role="search">
        <TextField label="Domain or word" mono autoCapitalize="off" placeholder="harbour.test" maxLength={253} {...form.text('text')} />
        <Button kind="primary" type="submit" icon={Search} busy={isFetching}>
          Search
        </Button>
      </form>
      {error && !isFetching && <ProblemView problem={toApiError(error)} onRetry={() => void refetch()} />}
      {isFetching && !data && <SkeletonRows rows={4} height={52} />}
      {data && data.results.length === 0 && <p className="text-muted">No domains are for sale for “{data.query}”. Try another word.</p>}
      {data && data.results.length > 0 && (
        <ul className={styles.domainOffers} aria-label="Offers">
          {data.results.map((one) => (
            <OfferRow key={one.hostname} offer={one} canBuy={data.purchase_enabled} onChoose={() => setChosenHostname(one.hostname)} />
          ))}
        </ul>
      )}
    </Dialog>
  )
}

function OfferRow({ offer, canBuy, onChoose }: { offer: DomainOffer; canBuy: boolean; onChoose: () => void }) {
  const { hostname, available, premium } = offer
  return (
    <li className={styles.domainOffer}>
      <span className={available ? 'mono' : 'mono text-subtle'}>{hostname}</span>
      <span className={styles.domainPrice}>
        {available ? <strong>{offerPrice(offer)}</strong> : <span className="text-subtle">Taken</span>}
        {available && <span className="text-subtle">{[premium && 'Premium', renewal(offer)].filter(Boolean).join(', ')}</span>}
      </span>
      {available && canBuy && (
        <Button onClick={onChoose} aria-label={`Choose ${hostname}`}>
          Choose
        </Button>
      )}
    </li>
  )
}

function offerPrice({ price_cents, currency, free_with_credit, period_years }: DomainOffer): string {
  if (free_with_credit) return 'Free with a credit'
  if (price_cents === null) return 'Price unknown'
  if (price_cents === 0) return 'Free'
  return `${formatMoney(price_cents, currency)} for ${period_years === 1 ? 'a year' : `${period_years} years`}`
}

function renewal({ renewal_price_cents, price_cents, currency }: DomainOffer): string | false {
  if (renewal_price_cents === null || (renewal_price_cents === 0 && price_cents === 0)) return false
  return `then ${formatMoney(renewal_price_cents, currency)} a year`
}
