import { type FormEvent, useState } from 'react'
import { problemFrom, problemOf, unreachable } from '../../api/problem.ts'
import { keepSession } from '../../api/session.ts'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/field.tsx'

/** Email and password, for who has set one. */
export function PasswordForm({ onSignedIn }: { onSignedIn: () => void }) {
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const [busy, setBusy] = useState(false)
  const [wrong, setWrong] = useState<string | null>(null)

  const signIn = async (event: FormEvent) => {
    event.preventDefault()
    if (busy) return
    setBusy(true)
    setWrong(null)
    try {
      const response = await fetch('/sign-in', {
        method: 'POST',
        redirect: 'error',
        headers: { accept: 'application/json' },
        body: new URLSearchParams({ email: email.trim(), password }),
      }).catch((error: unknown) => {
        throw unreachable(error)
      })
      if (!response.ok) throw await problemOf(response)
      const { session } = (await response.json()) as { session?: string }
      keepSession(session)
      onSignedIn()
    } catch (error) {
      setWrong(problemFrom(error).message)
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
        error={wrong ?? undefined}
      />
      <Button kind="primary" type="submit" busy={busy}>
        Sign in
      </Button>
    </form>
  )
}
