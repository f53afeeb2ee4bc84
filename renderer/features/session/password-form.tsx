import { type FormEvent, useState } from 'react'
import { toProblem } from '../../lib/api-problem.ts'
import { signInWithPassword } from '../../api/sign-in.ts'
import { Button } from '../../components/button.tsx'
import { TextField } from '../../components/field.tsx'

/** Sign-in with email and password. */
export function PasswordForm({ onSignedIn }: { onSignedIn: () => void }) {
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const [busy, setBusy] = useState(false)
  const [errorMessage, setErrorMessage] = useState<string | null>(null)

  const signIn = async (event: FormEvent) => {
    event.preventDefault()
    if (busy) return
    setBusy(true)
    setErrorMessage(null)
    try {
      await signInWithPassword(email.trim(), password)
      onSignedIn()
    } catch (error) {
      setErrorMessage(toProblem(error).message)
      setPassword('')
    }
    setBusy(false)
  }

  return (
    <form className="sign-in-form" onSubmit={signIn} aria-label="Sign in with a password">
      <TextField
        label="Email"
        type="email"
        name="email"
        autoComplete="username"
        required
        value={email}
        onChange={({ target }) => setEmail(target.value)}
      />
      <TextField
        label="Password"
        type="password"
        name="password"
        autoComplete="current-password"
        required
        value={password}
        onChange={({ target }) => setPassword(target.value)}
        error={errorMessage ?? undefined}
      />
      <Button kind="primary" type="submit" busy={busy}>
        Sign in
      </Button>
    </form>
  )
}
