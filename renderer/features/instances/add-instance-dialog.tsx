import { type FormEvent, useState } from 'react'
import { useAddRemote } from '../../api/remotes.ts'
import { useConnection } from '../../stores/connection.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { ProblemView } from '../../components/feedback.tsx'
import { TextField } from '../../components/field.tsx'
import { hostLabel } from '../../lib/instance-path.ts'
import { leastUsedHue } from './hues.ts'
import { HueField, TokenField } from './remote-fields.tsx'
import { tokenFieldError } from './use-update-token.ts'

// Error codes shown at the URL field.
const addressErrorCodes = ['remote_exists', 'remote_unreachable']

/** Adds an instance by URL and token, after verifying both. */
export function AddInstanceDialog({ onClose }: { onClose: () => void }) {
  const connections = useConnection((state) => state.connections)
  const [url, setUrl] = useState('')
  const [token, setToken] = useState('')
  const [name, setName] = useState('')
  const [hue, setHue] = useState(() => leastUsedHue(connections.map((one) => one.hue)))
  const add = useAddRemote({ hidesErrorToast: true, successMessage: ({ remote }) => `${remote.name} added.`, onSuccess: onClose })
  const { error } = add
  const urlError = error?.issueFor('url') ?? (error && addressErrorCodes.includes(error.code) ? error.message : undefined)
  const tokenMessage = tokenFieldError(error)
  const nameError = error?.issueFor('name')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!add.isPending) add.mutate({ body: { url: url.trim(), token: token.trim(), hue, ...(name.trim() ? { name: name.trim() } : {}) } })
  }
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title="Add instance"
      description="Another Homeport or a hosted account with the same API. Create a token there under Account, API tokens."
    >
      <form className="stack" onSubmit={submit}>
        <TextField
          label="URL"
          mono
          required
          maxLength={300}
          inputMode="url"
          value={url}
          onChange={({ target }) => setUrl(target.value)}
          placeholder="https://deploy.example.com"
          hint="http:// is allowed only within your network."
          error={urlError}
        />
        <TokenField value={token} onChange={setToken} error={tokenMessage} />
        <TextField
          label="Name"
          maxLength={60}
          value={name}
          onChange={({ target }) => setName(target.value)}
          placeholder={hostLabel(url.trim()) || 'deploy.example.com'}
          hint="Defaults to the host."
          error={nameError}
        />
        <HueField value={hue} onChange={setHue} />
        {error && !urlError && !tokenMessage && !nameError && <ProblemView problem={error} />}
        <footer className="dialog-footer">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" busy={add.isPending}>
            Add instance
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}
