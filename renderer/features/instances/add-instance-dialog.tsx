import { useState } from 'react'
import { useForm } from '../../lib/use-form.ts'
import { useAddRemote } from '../../api/remotes.ts'
import { useConnection } from '../../stores/connection.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { ProblemView } from '../../components/feedback.tsx'
import { TextField } from '../../components/field.tsx'
import { hostLabel } from '../../lib/instance-path.ts'
import { leastUsedHue } from './hues.ts'
import { HueField, TokenField } from './remote-fields.tsx'
import { isTokenRefused } from './use-token-form.ts'

// Error codes shown at the URL field.
const addressErrorCodes = ['remote_exists', 'remote_unreachable']

/** Adds an instance by URL and token, after verifying both. */
export function AddInstanceDialog({ onClose }: { onClose: () => void }) {
  const connections = useConnection((state) => state.connections)
  const [leastUsed] = useState(() => leastUsedHue(connections.map((one) => one.hue)))
  const add = useAddRemote({ hidesErrorToast: true, successMessage: ({ remote }) => `${remote.name} added.`, onSuccess: onClose })
  const form = useForm({
    initial: { url: '', token: '', name: '', hue: leastUsed },
    submission: add,
    onSubmit: ({ url, token, name, hue }) =>
      add.mutate({ body: { url: url.trim(), token: token.trim(), hue, ...(name.trim() ? { name: name.trim() } : {}) } }),
    fieldOf: ({ code }) => (addressErrorCodes.includes(code) ? 'url' : isTokenRefused(code) && 'token'),
  })
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title="Add instance"
      description="Another Homeport or a hosted account with the same API. Create a token there under Account, API tokens."
    >
      <form className="stack" {...form.props}>
        <TextField
          label="URL"
          mono
          required
          maxLength={300}
          inputMode="url"
          {...form.text('url')}
          placeholder="https://deploy.example.com"
          hint="http:// is allowed only within your network."
        />
        <TokenField {...form.text('token')} />
        <TextField
          label="Name"
          maxLength={60}
          {...form.text('name')}
          placeholder={hostLabel(form.values.url.trim()) || 'deploy.example.com'}
          hint="Defaults to the host."
        />
        <HueField value={form.values.hue} onChange={(hue) => form.set({ hue })} />
        {form.problem && <ProblemView problem={form.problem} />}
        <footer className="dialog-footer">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" busy={form.is_busy}>
            Add instance
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}
