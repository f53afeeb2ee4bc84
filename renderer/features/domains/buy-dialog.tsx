import { Search } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import type { Offer } from '../../../server/contract/domains.ts'
import { useOffers } from '../../api/domains.ts'
import { problemFrom } from '../../api/problem.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { ProblemView, SkeletonRows } from '../../ui/feedback.tsx'
import { TextField } from '../../ui/field.tsx'
import { BuyForm } from './buy-form.tsx'
import { hostnameFrom, money } from './words.ts'

/** Look for a name, choose one of what is offered, and buy it. */
export function BuyDialog({ slug, onClose }: { slug: string | null; onClose: () => void }) {
  const [text, setText] = useState('')
  const [query, setQuery] = useState<string | null>(null)
  const [chosen, setChosen] = useState<string | null>(null)
  const { data, error, isFetching, refetch } = useOffers(query)
  const offer = data?.results.find(({ hostname }) => hostname === chosen) ?? null
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const wanted = hostnameFrom(text)
    if (wanted !== '') setQuery(wanted)
  }
  if (offer) {
    return (
      <Dialog open onOpenChange={onClose} title={`Buy ${offer.hostname}`} about="It is registered for you, and leads to the project at once.">
        <BuyForm slug={slug} offer={offer} onBack={() => setChosen(null)} onPriceChanged={() => void refetch()} onClose={onClose} />
      </Dialog>
    )
  }
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title="Buy a domain"
      about="Give a name, or just a word: the same word is looked for under other endings, too."
    >
      <form className="domain-search" onSubmit={submit} role="search">
        <TextField
          label="Name to look for"
          mono
          autoCapitalize="off"
          value={text}
          onChange={({ target }) => setText(target.value)}
          placeholder="harbour.test"
          maxLength={253}
        />
        <Button kind="primary" type="submit" icon={Search} busy={isFetching}>
          Search
        </Button>
      </form>
      {error && !isFetching && <ProblemView problem={problemFrom(error)} onRetry={() => void refetch()} />}
      {isFetching && !data && <SkeletonRows rows={4} height={52} />}
      {data && data.results.length === 0 && <p className="quiet">Nothing is sold under “{data.query}”. Try another word.</p>}
      {data && data.results.length > 0 && (
        <ul className="domain-offers" aria-label="Offers">
          {data.results.map((one) => (
            <OfferRow key={one.hostname} offer={one} canBuy={data.purchase_enabled} onChoose={() => setChosen(one.hostname)} />
          ))}
        </ul>
      )}
    </Dialog>
  )
}

function OfferRow({ offer, canBuy, onChoose }: { offer: Offer; canBuy: boolean; onChoose: () => void }) {
  const { hostname, available, premium } = offer
  return (
    <li className="domain-offer">
      <span className={available ? 'mono' : 'mono faint'}>{hostname}</span>
      <span className="domain-price">
        {available ? <strong>{offerPrice(offer)}</strong> : <span className="faint">Taken</span>}
        {available && <span className="faint">{[premium && 'Premium', renewal(offer)].filter(Boolean).join(', ')}</span>}
      </span>
      {available && canBuy && (
        <Button onClick={onChoose} aria-label={`Choose ${hostname}`}>
          Choose
        </Button>
      )}
    </li>
  )
}

function offerPrice({ price_cents, currency, free_with_credit, period_years }: Offer): string {
  if (free_with_credit) return 'Free with a credit'
  if (price_cents === null) return 'Price not known'
  if (price_cents === 0) return 'Free'
  return `${money(price_cents, currency)} for ${period_years === 1 ? 'a year' : `${period_years} years`}`
}

function renewal({ renewal_price_cents, price_cents, currency }: Offer): string | false {
  if (renewal_price_cents === null || (renewal_price_cents === 0 && price_cents === 0)) return false
  return `then ${money(renewal_price_cents, currency)} a year`
}
