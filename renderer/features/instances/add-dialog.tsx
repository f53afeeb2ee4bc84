import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import type { Remote } from '../../../server/contract/remotes.ts'
import { type ApiProblem, problemFrom } from '../../api/problem.ts'
import { putRemote } from '../../api/remotes.ts'
import { home, useConnection } from '../../stores/connection.ts'
import { useUi } from '../../stores/ui.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { ProblemView } from '../../ui/feedback.tsx'
import { TextField } from '../../ui/field.tsx'
import { hostOf } from './host.ts'
import { freeHue } from './hues.ts'
import { HueField, TokenField } from './remote-fields.tsx'
import { tokenError } from './use-token-change.ts'

// What is said at the field of the address.
const aboutAddress = ['remote_exists', 'remote_unreachable']

/** Another instance by its address and a token; both are tried before it is added. */
export function AddDialog({ onClose }: { onClose: () => void }) {
  const connections = useConnection((state) => state.connections)
  const [url, setUrl] = useState('')
  const [token, setToken] = useState('')
  const [name, setName] = useState('')
  const [hue, setHue] = useState(() => freeHue(connections.map((one) => one.hue)))
  const add = useMutation<Remote, ApiProblem>({
    mutationFn: () =>
      home.client.call('addRemote', { body: { url: url.trim(), token: token.trim(), hue, ...(name.trim() ? { name: name.trim() } : {}) } }).then(
        ({ remote }) => remote,
        (error: unknown) => {
          throw problemFrom(error)
        },
      ),
    onSuccess(remote) {
      putRemote(remote)
      useUi.getState().showToast({ kind: 'done', text: `${remote.name} is added.`, request_id: null })
      onClose()
    },
  })
  const { error } = add
  const atUrl = error?.issue('url') ?? (error && aboutAddress.includes(error.code) ? error.message : undefined)
  const atToken = tokenError(error)
  const atName = error?.issue('name')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!add.isPending) add.mutate()
  }
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title="Add an instance"
      about="Another Homeport, or a hosted account that speaks its API. Create a token there, under Account, API tokens."
    >
      <form className="stack" onSubmit={submit}>
        <TextField
          label="Address"
          mono
          required
          maxLength={300}
          inputMode="url"
          value={url}
          onChange={({ target }) => setUrl(target.value)}
          placeholder="https://deploy.example.com"
          hint="http:// only within your own network."
          error={atUrl}
        />
        <TokenField value={token} onChange={setToken} error={atToken} />
        <TextField
          label="Name"
          maxLength={60}
          value={name}
          onChange={({ target }) => setName(target.value)}
          placeholder={hostOf(url.trim()) || 'deploy.example.com'}
          hint="Left empty, it is called by its host."
          error={atName}
        />
        <HueField value={hue} onChange={setHue} />
        {error && !atUrl && !atToken && !atName && <ProblemView problem={error} />}
        <footer className="dialog-foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" busy={add.isPending}>
            Add
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}
