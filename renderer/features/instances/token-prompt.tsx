import { Link } from 'wouter'
import { basePath, hostLabel } from '../../lib/instance-path.ts'
import { type InstanceConnection, useConnection } from '../../stores/connection.ts'
import { Button } from '../../components/button.tsx'
import { Contours } from '../../components/contours.tsx'
import { ProblemView } from '../../components/feedback.tsx'
import { useTitle } from '../../lib/use-title.ts'
import { InstanceIcon } from '../../components/instance-icon.tsx'
import { TokenField } from './remote-fields.tsx'
import { useTokenForm } from './use-token-form.ts'
import '../../components/sign-in.css'
import styles from './page.module.css'

/** Asks for a token when the instance rejects the saved one. The user stays on the same page. */
export function TokenPrompt({ connection }: { connection: InstanceConnection }) {
  useTitle(`New token for ${connection.name}`)
  const isTokenRejected = useConnection((state) => state.rejected_ids.includes(connection.id))
  const form = useTokenForm(connection)
  return (
    <main className="sign-in" style={{ '--hue': connection.hue } as React.CSSProperties}>
      <Contours />
      <form className={`sign-in-card ${styles.tokenPrompt}`} {...form.props}>
        <p className={styles.tokenInstance}>
          <InstanceIcon connection={connection} />
          <span className="mono truncate">{hostLabel(connection.origin)}</span>
        </p>
        <h1 className={styles.nameInFull}>New token for {connection.name}</h1>
        <p className="text-muted">
          {isTokenRejected
            ? 'The instance rejected the saved token: it expired or was revoked.'
            : 'No token is saved for this instance: you signed out or Homeport restarted.'}{' '}
          Create a token there under Account, API tokens.
        </p>
        <TokenField {...form.text('token')} />
        {form.problem && <ProblemView problem={form.problem} />}
        <div className={`row ${styles.tokenActions}`}>
          <Button kind="primary" type="submit" busy={form.is_busy}>
            Continue
          </Button>
          {isTokenRejected && (
            <Button kind="bare" onClick={() => useConnection.getState().clearRejection(connection.id)}>
              Try the saved token again
            </Button>
          )}
        </div>
        <p className="row">
          <Link href={`~${basePath}/`}>Back to this machine</Link>
          <span className="text-subtle" aria-hidden>
            ·
          </span>
          <Link href={`~${basePath}/instances`}>All instances</Link>
        </p>
      </form>
    </main>
  )
}
