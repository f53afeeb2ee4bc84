import { Ellipsis, ExternalLink, Info, Search, Send, Trash2, Undo2 } from 'lucide-react'
import { Link } from 'wouter'
import type { Domain } from '../../../server/contract/domains.ts'
import { useInstance } from '../../api/queries.ts'
import { Button, ButtonLink, IconButton } from '../../ui/button.tsx'
import { CopyText } from '../../ui/copy.tsx'
import { Menu, MenuItem } from '../../ui/menu.tsx'
import { useNow } from '../../ui/now.ts'
import { Prose } from '../../ui/prose.tsx'
import { StatusWord } from '../../ui/status.tsx'
import { day } from '../../ui/format.ts'
import { domainSign } from './domain-sign.ts'
import { domainAddress } from './words.ts'

export type DomainWish = 'check' | 'about' | 'transfer' | 'keep' | 'delete'

/** Every name with whether it leads here, and what to do where it does not. */
export function DomainRows({
  domains,
  hasProjects,
  onWish,
}: {
  domains: readonly Domain[]
  /** Whether the rows are of many projects, and say of which. */
  hasProjects: boolean
  onWish: (wish: DomainWish, domain: Domain) => void
}) {
  return (
    <ul aria-label="Domains">
      {domains.map((domain) => (
        <DomainRow key={domain.id} domain={domain} hasProject={hasProjects} onWish={(wish) => onWish(wish, domain)} />
      ))}
    </ul>
  )
}

function DomainRow({ domain, hasProject, onWish }: { domain: Domain; hasProject: boolean; onWish: (wish: DomainWish) => void }) {
  const now = useNow(60_000)
  const edgeUrl = useInstance().data?.instance.edge_url
  const sign = domainSign(domain, now)
  const address = domain.status === 'verified' && sign.tone === 'live' && edgeUrl !== undefined ? domainAddress(domain.hostname, edgeUrl) : null
  const isBought = domain.account_owned_domain_id !== null
  const isOpen = domain.status === 'pending' || domain.status === 'failed'
  return (
    <li className="card-row domain-row">
      <div className="domain-name">
        <CopyText text={domain.hostname} />
        {hasProject && (
          <Link href={`/projects/${domain.project_slug}/domains`} className="faint">
            {domain.project_name}
          </Link>
        )}
        {domain.status === 'failed' && domain.last_check_error && (
          <p className="quiet domain-why">
            <Prose text={domain.last_check_error} />
          </p>
        )}
      </div>
      <div className="domain-state">
        <StatusWord sign={sign} />
        {domain.expires_at !== null && (
          <span className="faint">
            {domain.status === 'transfer_requested'
              ? `Paid until ${day(domain.expires_at)}`
              : sign.tone === 'fail' && sign.word === 'Expired'
                ? `On ${day(domain.expires_at)}`
                : `${domain.auto_renew ? 'Renews' : 'Ends'} ${day(domain.expires_at)}`}
          </span>
        )}
      </div>
      <div className="row domain-acts">
        {isOpen && (
          <Button icon={Search} onClick={() => onWish('check')}>
            {domain.last_check_at === null ? 'Set it up…' : 'Check…'}
          </Button>
        )}
        {address && (
          <ButtonLink href={address} icon={ExternalLink}>
            Open
          </ButtonLink>
        )}
        <Menu trigger={<IconButton icon={Ellipsis} label={`What to do with ${domain.hostname}`} />}>
          {!isBought && !isOpen && (
            <MenuItem icon={Search} onSelect={() => onWish('check')}>
              Check its record…
            </MenuItem>
          )}
          <MenuItem icon={Info} onSelect={() => onWish('about')}>
            {isBought ? 'Registration…' : 'About it…'}
          </MenuItem>
          {isBought && (
            <MenuItem icon={Send} onSelect={() => onWish('transfer')}>
              {domain.status === 'transfer_requested' ? 'Show the transfer code again…' : 'Take it to another registrar…'}
            </MenuItem>
          )}
          {domain.status === 'transfer_requested' && (
            <MenuItem icon={Undo2} onSelect={() => onWish('keep')}>
              Keep it here…
            </MenuItem>
          )}
          <MenuItem icon={Trash2} danger onSelect={() => onWish('delete')}>
            Take it away…
          </MenuItem>
        </Menu>
      </div>
    </li>
  )
}
