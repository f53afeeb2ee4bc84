import { type FormEvent, useState } from 'react'
import { Link } from 'wouter'
import { base } from '../../stores/address.ts'
import { type Connection, useConnection } from '../../stores/connection.ts'
import { Button } from '../../ui/button.tsx'
import { Contours } from '../../ui/contours.tsx'
import { ProblemView } from '../../ui/feedback.tsx'
import { useTitle } from '../frame/title.ts'
import { hostOf } from './host.ts'
import { InstanceMark } from './instance-mark.tsx'
import { TokenField } from './remote-fields.tsx'
import { useTokenChange } from './use-token-change.ts'
import '../session/sign-in.css'
import './page.css'

/** The instance in front takes no token of ours: asked for in place, so that one goes on where one was. */
export function TokenNeeded({ connection }: { connection: Connection }) {
  useTitle(`A new token for ${connection.name}`)
  const [token, setToken] = useState('')
  const isRefused = useConnection((state) => state.refused.includes(connection.id))
  const change = useTokenChange(connection)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    change.mutate(token)
  }
  return (
    <main className="sign-in" style={{ '--hue': connection.hue } as React.CSSProperties}>
      <Contours />
      <form className="sign-in-card token-needed" onSubmit={submit}>
        <p className="token-whose">
          <InstanceMark connection={connection} />
          <span className="mono clip">{hostOf(connection.origin)}</span>
        </p>
        <h1 className="name-in-full">A new token for {connection.name}</h1>
        <p className="quiet">
          {isRefused
            ? 'It does not take the token that was held for it: it ended, or was revoked there.'
            : 'No token is held for it: it was kept until you signed out, or Homeport was started anew.'}{' '}
          Make one there, under Account, API tokens.
        </p>
        <TokenField value={token} onChange={setToken} error={change.fieldError} />
        {change.plate && <ProblemView problem={change.plate} />}
        <div className="row token-acts">
          <Button kind="primary" type="submit" busy={change.isPending}>
            Go on
          </Button>
          {isRefused && (
            <Button kind="bare" onClick={() => useConnection.getState().accept(connection.id)}>
              Try the old one again
            </Button>
          )}
        </div>
        <p className="row">
          <Link href={`~${base}/`}>To this machine</Link>
          <span className="faint" aria-hidden>
            ·
          </span>
          <Link href={`~${base}/instances`}>All instances</Link>
        </p>
      </form>
    </main>
  )
}
