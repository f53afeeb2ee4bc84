import { Globe, Plus, ShoppingBag } from 'lucide-react'
import { useState } from 'react'
import { useSearchParams } from 'wouter'
import type { Domain } from '../../../server/contract/domains.ts'
import { useDomains } from '../../api/domains.ts'
import { problemFrom } from '../../api/problem.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Empty, ProblemView, SkeletonRows } from '../../ui/feedback.tsx'
import { AddDialog } from './add-dialog.tsx'
import { BuyDialog } from './buy-dialog.tsx'
import { CheckRecord } from './check-record.tsx'
import { AboutDialog, DeleteDialog, KeepDialog, TransferDialog } from './domain-dialogs.tsx'
import { DomainRows, type DomainWish } from './domain-rows.tsx'
import './page.css'

/** The domains of a project, or with null of all of them, and everything that can be done with one. */
export function DomainsView({ slug }: { slug: string | null }) {
  const { data, error, refetch } = useDomains(slug)
  const [params, setParams] = useSearchParams()
  const [open, setOpen] = useState<{ wish: DomainWish; domain: Domain } | null>(null)
  // In the address, so that the palette leads here with the wish already put.
  const wish = params.get('do')
  const wishFor = (name: 'add' | 'buy') => setParams({ do: name }, { replace: true })
  const close = () => {
    setOpen(null)
    if (wish !== null) setParams({}, { replace: true })
  }
  if (error && !data) return <ProblemView problem={problemFrom(error)} onRetry={() => void refetch()} />
  if (!data) return <SkeletonRows rows={5} height={64} />
  const { domains, platform_ip: platformIp, purchase_enabled: canBuy } = data
  const acts = (
    <>
      {canBuy && (
        <Button icon={ShoppingBag} onClick={() => wishFor('buy')}>
          Buy a domain…
        </Button>
      )}
      <Button kind="primary" icon={Plus} onClick={() => wishFor('add')}>
        Add a domain
      </Button>
    </>
  )
  return (
    <div className="stack">
      {domains.length === 0 ? (
        <section className="card" aria-label="Domains">
          <Empty icon={Globe} title="No domains yet" action={<div className="row domain-empty">{acts}</div>}>
            A project answers to its own name on this instance. Add a name that you have, and it answers to that, too
            {canBuy ? '; or buy one here, and it works at once.' : '.'}
          </Empty>
        </section>
      ) : (
        <>
          <div className="domain-bar">
            <p className="quiet">
              {domains.length} {domains.length === 1 ? 'domain' : 'domains'}. Names lead here by an A record to <code>{platformIp}</code>.
            </p>
            <div className="domain-bar-acts">{acts}</div>
          </div>
          {error && <ProblemView problem={problemFrom(error)} onRetry={() => void refetch()} />}
          <section className="card" aria-label="Domains">
            <DomainRows domains={domains} hasProjects={slug === null} onWish={(what, domain) => setOpen({ wish: what, domain })} />
          </section>
        </>
      )}
      {wish === 'add' && <AddDialog slug={slug} platformIp={platformIp} onClose={close} />}
      {wish === 'buy' && canBuy && <BuyDialog slug={slug} onClose={close} />}
      {open?.wish === 'check' && (
        <Dialog
          open
          onOpenChange={close}
          title={open.domain.hostname}
          about={`Leads to ${open.domain.project_name} once its record names this place.`}
        >
          <CheckRecord domain={open.domain} platformIp={platformIp} onClose={close} />
        </Dialog>
      )}
      {open?.wish === 'about' && <AboutDialog domain={open.domain} onClose={close} />}
      {open?.wish === 'transfer' && <TransferDialog domain={open.domain} onClose={close} />}
      {open?.wish === 'keep' && <KeepDialog domain={open.domain} onClose={close} />}
      {open?.wish === 'delete' && <DeleteDialog domain={open.domain} onClose={close} />}
    </div>
  )
}
