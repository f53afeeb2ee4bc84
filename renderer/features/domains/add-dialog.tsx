import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import type { Domain } from '../../../server/contract/domains.ts'
import { useAction } from '../../api/actions.ts'
import { keys } from '../../api/keys.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { CheckRecord } from './check-record.tsx'
import { Payment } from './payment.tsx'
import { ProjectField } from './project-field.tsx'
import { hostnameFrom } from './words.ts'

/** A name of one's own, in two steps: which, and the record that makes it lead here. */
export function AddDialog({ slug, platformIp, onClose }: { slug: string | null; platformIp: string; onClose: () => void }) {
  const cache = useQueryClient()
  const [text, setText] = useState('')
  const [chosen, setChosen] = useState(slug ?? '')
  const [added, setAdded] = useState<Domain | null>(null)
  const add = useAction('addDomain', {
    quiet: true,
    onDone({ domain }) {
      setAdded(domain)
      void cache.invalidateQueries({ queryKey: keys.everyDomain })
    },
  })
  const hostname = hostnameFrom(text)
  const fresh = () => add.error && add.reset()
  const issue = add.error?.issue('hostname') ?? (add.error?.code === 'hostname_taken' ? add.error.message : undefined)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (hostname === '' || chosen === '' || add.isPending) return
    add.mutate({ params: { slug: chosen }, body: { hostname } })
  }
  if (added) {
    return (
      <Dialog open onOpenChange={onClose} title={added.hostname} about="Added. Create this DNS record to finish.">
        <CheckRecord domain={added} platformIp={platformIp} onClose={onClose} />
      </Dialog>
    )
  }
  return (
    <Dialog open onOpenChange={onClose} title="Add a domain of your own" about="A name that you have already, at whatever registrar.">
      <form className="stack" onSubmit={submit} noValidate>
        <TextField
          label="Name"
          mono
          required
          autoCapitalize="off"
          inputMode="url"
          value={text}
          onChange={({ target }) => {
            fresh()
            setText(target.value)
          }}
          placeholder="blog.example.com"
          error={issue}
          hint={hostname !== '' && hostname !== text ? `That is ${hostname}.` : 'The domain itself or any name under it.'}
        />
        {slug === null && (
          <ProjectField
            value={chosen}
            onChange={(next) => {
              fresh()
              setChosen(next)
            }}
          />
        )}
        {add.error && issue === undefined && <Payment problem={add.error} />}
        <footer className="dialog-foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" busy={add.isPending} disabled={hostname === '' || chosen === ''}>
            Add it
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}
