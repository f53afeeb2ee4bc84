import { useState } from 'react'
import { useForm } from '../../lib/use-form.ts'
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
  const form = useForm({
    initial: { password: '', repeated: '', setup_code: '' },
    submission: save,
    onSubmit: ({ password, setup_code }) => save.mutate({ body: { password, ...(needsCode ? { setup_code: setup_code.trim() } : {}) } }),
    check: ({ password, repeated }) => ({ repeated: repeated !== '' && repeated !== password ? 'The passwords do not match.' : undefined }),
  })
  const { password, repeated, setup_code } = form.values
  const isReady = password.length >= minPasswordLength && repeated === password && (!needsCode || setup_code.trim() !== '')
  return (
    <Dialog
      open
      onOpenChange={onOpenChange}
      title={isFirst ? 'Set your password' : 'Change your password'}
      description={`Signs in ${session?.user.email ?? 'the owner'} from other devices.${isFirst ? '' : ' Your other sessions are signed out.'}`}
    >
      <form className="stack" {...form.props}>
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
          {...form.text('password')}
          hint={`At least ${minPasswordLength} characters. A few words are easier to remember than symbols.`}
        />
        <TextField label="Confirm password" type={isShown ? 'text' : 'password'} autoComplete="new-password" required {...form.text('repeated')} />
        {needsCode && (
          <TextField
            label="Setup code"
            mono
            required
            {...form.text('setup_code')}
            hint="Run “npx homeport password --code” on the instance’s machine to get a one-time code."
          />
        )}
        {form.problem && <ProblemView problem={form.problem} />}
        <footer className="dialog-footer">
          <Button kind="bare" className="dialog-aside" onClick={() => setShown(!isShown)} aria-pressed={isShown}>
            {isShown ? 'Hide password' : 'Show password'}
          </Button>
          <Button onClick={() => onOpenChange(false)}>Cancel</Button>
          <Button kind="primary" type="submit" busy={form.is_busy} disabled={!isReady}>
            {opensNetwork ? 'Save and allow access' : 'Save password'}
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}
