import { Ellipsis, ExternalLink, Info, Search, Send, Trash2, Undo2 } from 'lucide-react'
import { Link } from 'wouter'
import { useInstanceSession } from '../../api/instance.ts'
import type { Domain } from '../../../server/contract/domains.ts'
import { Button, ButtonLink, IconButton } from '../../components/button.tsx'
import { CopyText } from '../../components/copy.tsx'
import { Menu, MenuItem } from '../../components/menu.tsx'
import { useNow } from '../../lib/use-now.ts'
import { Prose } from '../../components/prose.tsx'
import { StatusText } from '../../components/status.tsx'
import { formatDate } from '../../lib/format.ts'
import { domainBadge } from './domain-badge.ts'
import { domainUrl } from './domain-format.ts'
import styles from './page.module.css'

export type DomainAction = 'check' | 'about' | 'transfer' | 'keep' | 'delete'

/** Domains with their verification status and actions. */
export function DomainRows({
  domains,
  showsProject,
  onAction,
}: {
  domains: readonly Domain[]
  /** Whether rows show their project. */
  showsProject: boolean
  onAction: (action: DomainAction, domain: Domain) => void
}) {
  return (
    <ul aria-label="Domains">
      {domains.map((domain) => (
        <DomainRow key={domain.id} domain={domain} showsProject={showsProject} onAction={(action) => onAction(action, domain)} />
      ))}
    </ul>
  )
}

function DomainRow({ domain, showsProject, onAction }: { domain: Domain; showsProject: boolean; onAction: (action: DomainAction) => void }) {
  const now = useNow(60_000)
  const instance = useInstanceSession().data?.instance
  const { certificate } = domain
  const edgeUrl = certificate?.status === 'issued' ? (instance?.edge_https_url ?? instance?.edge_url) : instance?.edge_url
  const badge = domainBadge(domain, now)
  const address = domain.status === 'verified' && badge.tone === 'live' && edgeUrl !== undefined ? domainUrl(domain.hostname, edgeUrl) : null
  const isBought = domain.account_owned_domain_id !== null
  const isOpen = domain.status === 'pending' || domain.status === 'failed'
  return (
    <li className={`card-row ${styles.domainRow}`}>
      <div className={styles.domainName}>
        <CopyText text={domain.hostname} />
        {showsProject && (
          <Link href={`/projects/${domain.project_slug}/domains`} className="text-subtle">
            {domain.project_name}
          </Link>
        )}
        {domain.status === 'failed' && domain.last_check_error && (
          <p className={`text-muted ${styles.domainError}`}>
            <Prose text={domain.last_check_error} />
          </p>
        )}
        {domain.status === 'verified' && certificate?.last_error && (
          <p className={`text-muted ${styles.domainError}`}>
            <Prose text={certificate.last_error} />
          </p>
        )}
      </div>
      <div className={styles.domainState}>
        <StatusText badge={badge} />
        {domain.status === 'verified' && certificate?.status === 'issued' && <span className="text-subtle">HTTPS</span>}
        {domain.expires_at !== null && (
          <span className="text-subtle">
            {domain.status === 'transfer_requested'
              ? `Paid until ${formatDate(domain.expires_at)}`
              : badge.tone === 'fail' && badge.label === 'Expired'
                ? `On ${formatDate(domain.expires_at)}`
                : `${domain.auto_renew ? 'Renews' : 'Ends'} ${formatDate(domain.expires_at)}`}
          </span>
        )}
      </div>
      <div className={`row ${styles.domainActions}`}>
        {isOpen && (
          <Button icon={Search} onClick={() => onAction('check')}>
            {domain.last_check_at === null ? 'Set up…' : 'Check…'}
          </Button>
        )}
        {address && (
          <ButtonLink href={address} icon={ExternalLink}>
            Open
          </ButtonLink>
        )}
        <Menu trigger={<IconButton icon={Ellipsis} label={`Actions for ${domain.hostname}`} />}>
          {!isBought && !isOpen && (
            <MenuItem icon={Search} onSelect={() => onAction('check')}>
              Check DNS record…
            </MenuItem>
          )}
          <MenuItem icon={Info} onSelect={() => onAction('about')}>
            {isBought ? 'Registration…' : 'Details…'}
          </MenuItem>
          {isBought && (
            <MenuItem icon={Send} onSelect={() => onAction('transfer')}>
              {domain.status === 'transfer_requested' ? 'Show transfer code…' : 'Transfer to another registrar…'}
            </MenuItem>
          )}
          {domain.status === 'transfer_requested' && (
            <MenuItem icon={Undo2} onSelect={() => onAction('keep')}>
              Cancel transfer…
            </MenuItem>
          )}
          <MenuItem icon={Trash2} danger onSelect={() => onAction('delete')}>
            Remove domain…
          </MenuItem>
        </Menu>
      </div>
    </li>
  )
}
