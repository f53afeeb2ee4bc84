import { useForm } from '../../lib/use-form.ts'
import { useSignIn } from '../../api/sign-in.ts'
import { Button } from '../../components/button.tsx'
import { TextField } from '../../components/field.tsx'

/** Sign-in with email and password. */
export function PasswordForm({ onSignedIn }: { onSignedIn: () => void }) {
  const signIn = useSignIn()
  const form = useForm({
    initial: { email: '', password: '' },
    submission: signIn,
    onSubmit: ({ email, password }) => signIn.mutate({ email, password }, { onSuccess: onSignedIn, onError: () => form.set({ password: '' }) }),
    fieldOf: () => 'password',
  })
  return (
    <form className="sign-in-form" {...form.props} aria-label="Sign in with a password">
      <TextField label="Email" type="email" name="email" autoComplete="username" required {...form.text('email')} />
      <TextField label="Password" type="password" name="password" autoComplete="current-password" required {...form.text('password')} />
      <Button kind="primary" type="submit" busy={form.is_busy}>
        Sign in
      </Button>
    </form>
  )
}
