import { useQueryClient } from '@tanstack/react-query'
import { KeyRound, Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useSearchParams } from 'wouter'
import type { ApiToken } from '../../../server/contract/tokens.ts'
import { askAnew } from '../../api/cache.ts'
import { keys } from '../../api/keys.ts'
import { problemFrom } from '../../api/problem.ts'
import { useTokens } from '../../api/tokens.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { Empty, ProblemView, SkeletonRows } from '../../ui/feedback.tsx'
import { day, exactTime } from '../../ui/format.ts'
import { useNow } from '../../ui/now.ts'
import { Ago } from '../../ui/time.tsx'
import { useLanding } from '../frame/landing.ts'
import { CreateTokenDialog, RevokeTokenDialog } from './token-dialogs.tsx'

type Open = { name: 'create' } | { name: 'revoke'; token: ApiToken }

/** What programs sign in with in my name. */
export function Tokens() {
  const { data, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = useTokens()
  const cache = useQueryClient()
  const [params, setParams] = useSearchParams()
  const [open, setOpen] = useState<Open | null>(null)
  useLanding(data !== undefined)
  const tokens = data?.pages.flatMap((page) => page.api_tokens)
  // The palette, or a link, leads here with the wish already put.
  const wishes = params.get('do') === 'token'
  const shown = open ?? (wishes ? { name: 'create' as const } : null)
  const close = () => {
    setOpen(null)
    if (wishes) setParams({}, { replace: true })
  }
  const changed = () => askAnew(cache, keys.tokens)
  const create = (
    <Button kind={tokens?.length === 0 ? 'primary' : 'plain'} icon={Plus} onClick={() => setOpen({ name: 'create' })}>
      Create token
    </Button>
  )
  return (
    <section className="card" aria-labelledby="tokens">
      <header className="card-head">
        <h2 id="tokens">API tokens</h2>
        {tokens !== undefined && tokens.length > 0 && create}
      </header>
      {error && (
        <div className="card-body">
          <ProblemView problem={problemFrom(error)} onRetry={() => void refetch()} />
        </div>
      )}
      {!tokens && !error && <SkeletonRows rows={3} height={64} />}
      {tokens?.length === 0 && (
        <Empty icon={KeyRound} title="No tokens yet" action={create}>
          A program, such as a build elsewhere or the command line of another machine, signs in with a token. It has your full access.
        </Empty>
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
      {shown?.name === 'create' && <CreateTokenDialog onClose={close} onMade={changed} />}
      {shown?.name === 'revoke' && <RevokeTokenDialog token={shown.token} onClose={close} onRevoked={changed} />}
    </section>
  )
}

function TokenRow({ token, onRevoke }: { token: ApiToken; onRevoke: () => void }) {
  const { name, prefix, last4, last_used_at, expires_at } = token
  return (
    <li className="card-row token-row">
      <div className="token-what">
        <p className="clip" title={name}>
          <strong>{name}</strong>
        </p>
        <p className="faint mono">
          {prefix}…{last4}
        </p>
      </div>
      <p className="quiet token-used">{last_used_at === null ? 'Never used' : <>Used {<Ago at={last_used_at} />}</>}</p>
      <End expires_at={expires_at} />
      <IconButton icon={Trash2} label={`Revoke ${name}…`} onClick={onRevoke} />
    </li>
  )
}

function End({ expires_at }: { expires_at: string | null }) {
  const now = useNow(60_000)
  if (expires_at === null) return <p className="faint token-end">No expiration</p>
  const isOver = Date.parse(expires_at) <= now
  return (
    <p className={`token-end ${isOver ? 'token-over' : 'quiet'}`} title={exactTime(expires_at)}>
      {isOver ? 'Expired' : 'Expires'} {day(expires_at)}
    </p>
  )
}
