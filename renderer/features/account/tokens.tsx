import { KeyRound, Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useSearchParams } from 'wouter'
import { tokenScopeLabels } from '../../../server/contract/labels.ts'
import { toApiError } from '../../lib/api-error.ts'
import { type ListedToken, useTokens } from '../../api/tokens.ts'
import { Button, IconButton } from '../../components/button.tsx'
import { EmptyState, ProblemView, SkeletonRows } from '../../components/feedback.tsx'
import { formatDate, formatDateTime } from '../../lib/format.ts'
import { useNow } from '../../lib/use-now.ts'
import { RelativeTime } from '../../components/time.tsx'
import { useScrollToSection } from '../../lib/use-scroll-to-section.ts'
import { CreateTokenDialog, RevokeTokenDialog } from './token-dialogs.tsx'
import styles from './page.module.css'

type OpenDialog = { name: 'create' } | { name: 'revoke'; token: ListedToken }

/** API tokens, with which programs sign in as the user. */
export function Tokens() {
  const { data, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = useTokens()
  const [params, setParams] = useSearchParams()
  const [open, setOpen] = useState<OpenDialog | null>(null)
  useScrollToSection(data !== undefined)
  const tokens = data?.pages.flatMap((page) => page.api_tokens)
  // The palette and links open the dialog with this parameter.
  const shouldCreate = params.get('do') === 'token'
  const openDialog = open ?? (shouldCreate ? { name: 'create' as const } : null)
  const close = () => {
    setOpen(null)
    if (shouldCreate) setParams({}, { replace: true })
  }
  const create = (
    <Button kind={tokens?.length === 0 ? 'primary' : 'plain'} icon={Plus} onClick={() => setOpen({ name: 'create' })}>
      Create token
    </Button>
  )
  return (
    <section className="card" aria-labelledby="tokens">
      <header className="card-header">
        <h2 id="tokens">API tokens</h2>
        {tokens !== undefined && tokens.length > 0 && create}
      </header>
      {error && (
        <div className="card-body">
          <ProblemView problem={toApiError(error)} onRetry={() => void refetch()} />
        </div>
      )}
      {!tokens && !error && <SkeletonRows rows={3} height={64} />}
      {tokens?.length === 0 && (
        <EmptyState icon={KeyRound} title="No tokens yet" action={create}>
          Programs, such as CI or the command line on another machine, sign in with a token. A token can be limited to a scope, a project and a time.
        </EmptyState>
      )}
      {tokens !== undefined && tokens.length > 0 && (
        <ul aria-label="API tokens">
          {tokens.map((token) => (
            <TokenRow key={token.id} token={token} onRevoke={() => setOpen({ name: 'revoke', token })} />
          ))}
        </ul>
      )}
      {hasNextPage && (
        <div className="card-body">
          <Button busy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            Show more
          </Button>
        </div>
      )}
      {openDialog?.name === 'create' && <CreateTokenDialog onClose={close} />}
      {openDialog?.name === 'revoke' && <RevokeTokenDialog token={openDialog.token} onClose={close} />}
    </section>
  )
}

function TokenRow({ token, onRevoke }: { token: ListedToken; onRevoke: () => void }) {
  const { name, prefix, last4, last_used_at, expires_at, scope, project } = token
  return (
    <li className={`card-row ${styles.tokenRow}`}>
      <div className={styles.tokenIdentity}>
        <p className="truncate" title={name}>
          <strong>{name}</strong>
        </p>
        <p className="text-subtle mono">
          {prefix}…{last4}
        </p>
      </div>
      <p className={`text-muted truncate ${styles.tokenLimits}`} title={project?.name}>
        {scope ? tokenScopeLabels[scope] : 'Full access'}
        {project ? ` · ${project.name}` : ''}
      </p>
      <p className={`text-muted ${styles.tokenUsed}`}>{last_used_at === null ? 'Never used' : <>Used {<RelativeTime at={last_used_at} />}</>}</p>
      <TokenExpiry expires_at={expires_at} />
      <IconButton icon={Trash2} label={`Revoke ${name}…`} onClick={onRevoke} />
    </li>
  )
}

function TokenExpiry({ expires_at }: { expires_at: string | null }) {
  const now = useNow(60_000)
  if (expires_at === null) return <p className={`text-subtle ${styles.tokenExpiry}`}>No expiration</p>
  const isExpired = Date.parse(expires_at) <= now
  return (
    <p className={`${styles.tokenExpiry} ${isExpired ? styles.tokenExpired : 'text-muted'}`} title={formatDateTime(expires_at)}>
      {isExpired ? 'Expired' : 'Expires'} {formatDate(expires_at)}
    </p>
  )
}
