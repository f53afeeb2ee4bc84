import { useState } from 'react'
import { problemFrom } from '../../api/problem.ts'
import { home, useConnection } from '../../stores/connection.ts'
import { useSession } from '../../stores/session.ts'
import { Button } from '../../ui/button.tsx'
import { Contours } from '../../ui/contours.tsx'
import { CopyButton } from '../../ui/copy.tsx'
import { Logo } from '../../ui/logo.tsx'
import { useTitle } from '../frame/title.ts'
import { isLoopback } from '../project/address.ts'
import { PasswordForm } from './password-form.tsx'
import './sign-in.css'

const command = 'npx homeport open'

/** Nobody is signed in here. A password does it for who has set one; else a fresh link from the command line. */
export function SignIn() {
  useTitle('Sign in')
  const [answer, setAnswer] = useState<string | null>(null)
  const [busy, setBusy] = useState(false)

  const enter = () => {
    // Perhaps it is somebody else now.
    useConnection.getState().forget()
    useSession.getState().setSignedOut(false)
  }
  const look = async () => {
    setBusy(true)
    try {
      await home.client.call('getSession', {})
      enter()
    } catch (error) {
      const problem = problemFrom(error)
      setAnswer(
        problem.status === 401 ? 'Not yet: this browser has no session. Open the link that the command printed, in this browser.' : problem.message,
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
        <PasswordForm onSignedIn={enter} />
        <p className="faint">
          Forgotten? <a href="/forgot">Choose another password</a>
        </p>
        {isInTheClear() && <p className="faint">This connection is not encrypted: sign in over networks that you trust.</p>}
        <h2>Or by a link</h2>
        <p className="quiet">No password set, or on the machine itself? A link signs you in. Ask for one where this instance runs:</p>
        <p className="command">
          <code>{command}</code>
          <CopyButton text={command} label="Copy the command" />
        </p>
        <p className="faint">It opens the dashboard, or prints a link that works once. On somebody else’s instance, ask its owner for a link.</p>
        <Button busy={busy} onClick={() => void look()}>
          I have opened the link
        </Button>
        <p role="status" className="sign-in-answer">
          {answer}
        </p>
      </div>
    </main>
  )
}

function isInTheClear(): boolean {
  return location.protocol === 'http:' && !isLoopback(location.hostname)
}
