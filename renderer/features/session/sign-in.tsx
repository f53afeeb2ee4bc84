import { useState } from 'react'
import { requireSession } from '../../api/sign-in.ts'
import { toApiError } from '../../lib/api-error.ts'
import { useConnection } from '../../stores/connection.ts'
import { useSession } from '../../stores/session.ts'
import { Button } from '../../components/button.tsx'
import { Contours } from '../../components/contours.tsx'
import { CopyButton } from '../../components/copy.tsx'
import { Logo } from '../../components/logo.tsx'
import { useTitle } from '../../lib/use-title.ts'
import { isLoopbackHost } from '../../api/app-url.ts'
import { PasswordForm } from './password-form.tsx'
import '../../components/sign-in.css'

const command = 'npx homeport open'

/** The sign-in page: with a password, or with a link from the command line. */
export function SignIn() {
  useTitle('Sign in')
  const [message, setMessage] = useState<string | null>(null)
  const [busy, setBusy] = useState(false)

  const enterDashboard = () => {
    // Another user may have signed in.
    useConnection.getState().reset()
    useSession.getState().setSignedOut(false)
  }
  const checkSession = async () => {
    setBusy(true)
    try {
      await requireSession()
      enterDashboard()
    } catch (error) {
      const problem = toApiError(error)
      setMessage(
        problem.status === 401 ? 'This browser is not signed in yet. Open the link that the command printed in this browser.' : problem.message,
      )
    }
    setBusy(false)
  }

  return (
    <main className="sign-in">
      <Contours />
      <div className="sign-in-card">
        <Logo size={44} />
        <h1>Sign in to Homeport</h1>
        <PasswordForm onSignedIn={enterDashboard} />
        <p className="text-subtle">
          Forgot your password? <a href="/forgot">Reset it</a>
        </p>
        {isUnencrypted() && <p className="text-subtle">This connection is not encrypted: sign in only over networks that you trust.</p>}
        <h2>Sign in with a link</h2>
        <p className="text-muted">
          No password yet, or on the machine itself? Run this command on the machine of this instance to get a sign-in link:
        </p>
        <p className="command">
          <code>{command}</code>
          <CopyButton text={command} label="Copy command" />
        </p>
        <p className="text-subtle">
          It opens the dashboard or prints a link that works once. If the instance is not yours, ask its owner for a link.
        </p>
        <Button busy={busy} onClick={() => void checkSession()}>
          I have opened the link
        </Button>
        <p role="status" className="sign-in-answer">
          {message}
        </p>
      </div>
    </main>
  )
}

function isUnencrypted(): boolean {
  return location.protocol === 'http:' && !isLoopbackHost(location.hostname)
}
