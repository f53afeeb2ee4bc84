import { Globe, Plus, ShoppingBag } from 'lucide-react'
import { useState } from 'react'
import { useSearchParams } from 'wouter'
import { useDomains } from '../../api/domains.ts'
import type { Domain } from '../../../server/contract/domains.ts'
import { toApiError } from '../../lib/api-error.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { EmptyState, ProblemView, SkeletonRows } from '../../components/feedback.tsx'
import { AddDomainDialog } from './add-domain-dialog.tsx'
import { BuyDomainDialog } from './buy-domain-dialog.tsx'
import { DnsRecordCheck } from './dns-record-check.tsx'
import { DomainDetailsDialog, DeleteDomainDialog, KeepDomainDialog, TransferDomainDialog } from './domain-dialogs.tsx'
import { DomainRows, type DomainAction } from './domain-rows.tsx'
import styles from './page.module.css'

/** The domains of a project, or of all projects if null, with all actions. */
export function DomainsView({ slug }: { slug: string | null }) {
  const { data, error, refetch } = useDomains(slug)
  const [params, setParams] = useSearchParams()
  const [open, setOpen] = useState<{ action: DomainAction; domain: Domain } | null>(null)
  // Kept in the URL, so that the palette can open the dialog.
  const requestedAction = params.get('do')
  const requestAction = (name: 'add' | 'buy') => setParams({ do: name }, { replace: true })
  const close = () => {
    setOpen(null)
    if (requestedAction !== null) setParams({}, { replace: true })
  }
  if (error && !data) return <ProblemView problem={toApiError(error)} onRetry={() => void refetch()} />
  if (!data) return <SkeletonRows rows={5} height={64} />
  const { domains, platform_ip: platformIp, purchase_enabled: canBuy } = data
  const actions = (
    <>
      {canBuy && (
        <Button icon={ShoppingBag} onClick={() => requestAction('buy')}>
          Buy domain…
        </Button>
      )}
      <Button kind="primary" icon={Plus} onClick={() => requestAction('add')}>
        Add domain
      </Button>
    </>
  )
  return (
    <div className="stack">
      {domains.length === 0 ? (
        <section className="card" aria-label="Domains">
          <EmptyState icon={Globe} title="No domains yet" action={<div className={`row ${styles.domainEmpty}`}>{actions}</div>}>
            A project has its own URL on this instance. Add a domain that you own to serve the project there, too
            {canBuy ? ', or buy one here.' : '.'}
          </EmptyState>
        </section>
      ) : (
        <>
          <div className={styles.domainBar}>
            <p className="text-muted">
              {domains.length} {domains.length === 1 ? 'domain' : 'domains'}. Point each domain to <code>{platformIp}</code>.
            </p>
            <div className={styles.domainBarActions}>{actions}</div>
          </div>
          {error && <ProblemView problem={toApiError(error)} onRetry={() => void refetch()} />}
          <section className="card" aria-label="Domains">
            <DomainRows domains={domains} showsProject={slug === null} onAction={(action, domain) => setOpen({ action, domain })} />
          </section>
        </>
      )}
      {requestedAction === 'add' && <AddDomainDialog slug={slug} platformIp={platformIp} onClose={close} />}
      {requestedAction === 'buy' && canBuy && <BuyDomainDialog slug={slug} onClose={close} />}
      {open?.action === 'check' && (
        <Dialog
          open
          onOpenChange={close}
          title={open.domain.hostname}
          description={`Points to ${open.domain.project_name} once its DNS record is correct.`}
        >
          <DnsRecordCheck domain={open.domain} platformIp={platformIp} onClose={close} />
        </Dialog>
      )}
      {open?.action === 'about' && <DomainDetailsDialog domain={open.domain} onClose={close} />}
      {open?.action === 'transfer' && <TransferDomainDialog domain={open.domain} onClose={close} />}
      {open?.action === 'keep' && <KeepDomainDialog domain={open.domain} onClose={close} />}
      {open?.action === 'delete' && <DeleteDomainDialog domain={open.domain} onClose={close} />}
    </div>
  )
}
