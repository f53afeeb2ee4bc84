import { type FormEvent, useState } from 'react'
import { useInstanceSession } from '../../api/instance.ts'
import { useSetOwnerPassword } from '../../api/users.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { ProblemView } from '../../components/feedback.tsx'
import { TextField } from '../../components/field.tsx'

const minPasswordLength = 10

/** Sets the password that signs the owner in from other devices. */
export function PasswordDialog({
  isFirst,
  opensNetwork,
  onOpenChange,
  onSet,
}: {
  isFirst: boolean
  /** Network access is turned on after saving. */
  opensNetwork: boolean
  onOpenChange: (open: boolean) => void
  onSet: () => void
}) {
  const session = useInstanceSession().data
  const [password, setPassword] = useState('')
  const [repeated, setRepeated] = useState('')
  const [code, setCode] = useState('')
  const [isShown, setShown] = useState(false)
  const save = useSetOwnerPassword({
    hidesErrorToast: true,
    successMessage: isFirst ? 'Password set.' : 'Password changed. Your other sessions were signed out.',
    onSuccess() {
      onOpenChange(false)
      onSet()
    },
  })
  // From another machine a code is required, which a command on the instance's machine prints.
  const needsCode = session?.instance.is_local === false || save.error?.code === 'forbidden'
  const differs = repeated !== '' && repeated !== password
  const isReady = password.length >= minPasswordLength && repeated === password && (!needsCode || code.trim() !== '')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (isReady) save.mutate({ body: { password, ...(needsCode ? { setup_code: code.trim() } : {}) } })
  }
  return (
    <Dialog
      open
      onOpenChange={onOpenChange}
      title={isFirst ? 'Set your password' : 'Change your password'}
      description={`Signs in ${session?.user.email ?? 'the owner'} from other devices.${isFirst ? '' : ' Your other sessions are signed out.'}`}
    >
      <form className="stack" onSubmit={submit}>
        {/* Lets password managers save the password under this user name. */}
        <input
          className="visually-hidden"
          type="email"
          autoComplete="username"
          value={session?.user.email ?? ''}
          readOnly
          tabIndex={-1}
          aria-hidden
        />
        <TextField
          label="Password"
          type={isShown ? 'text' : 'password'}
          autoComplete="new-password"
          required
          minLength={minPasswordLength}
          value={password}
          onChange={({ target }) => setPassword(target.value)}
          hint={`At least ${minPasswordLength} characters. A few words are easier to remember than symbols.`}
          error={save.error?.issueFor('password')}
        />
        <TextField
          label="Confirm password"
          type={isShown ? 'text' : 'password'}
          autoComplete="new-password"
          required
          value={repeated}
          onChange={({ target }) => setRepeated(target.value)}
          error={differs ? 'The passwords do not match.' : undefined}
        />
        {needsCode && (
          <TextField
            label="Setup code"
            mono
            required
            value={code}
            onChange={({ target }) => setCode(target.value)}
            hint="Run “npx homeport password --code” on the instance’s machine to get a one-time code."
          />
        )}
        {save.error && save.error.issues.length === 0 && <ProblemView problem={save.error} />}
        <footer className="dialog-footer">
          <Button kind="bare" className="dialog-aside" onClick={() => setShown(!isShown)} aria-pressed={isShown}>
            {isShown ? 'Hide password' : 'Show password'}
          </Button>
          <Button onClick={() => onOpenChange(false)}>Cancel</Button>
          <Button kind="primary" type="submit" busy={save.isPending} disabled={!isReady}>
            {opensNetwork ? 'Save and allow access' : 'Save password'}
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}
