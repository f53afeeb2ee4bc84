import { type FormEvent, useState } from 'react'
import { useAddDomain } from '../../api/domains.ts'
import type { Domain } from '../../../server/contract/domains.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { TextField } from '../../components/field.tsx'
import { DnsRecordCheck } from './dns-record-check.tsx'
import { PaymentProblem } from './payment-problem.tsx'
import { DomainProjectField } from './project-field.tsx'
import { parseHostname } from './domain-format.ts'

/** Adds a domain in two steps: the name, then its DNS record. */
export function AddDomainDialog({ slug, platformIp, onClose }: { slug: string | null; platformIp: string; onClose: () => void }) {
  const [text, setText] = useState('')
  const [projectSlug, setProjectSlug] = useState(slug ?? '')
  const [added, setAdded] = useState<Domain | null>(null)
  const add = useAddDomain({
    hidesErrorToast: true,
    onSuccess: ({ domain }) => setAdded(domain),
  })
  const hostname = parseHostname(text)
  const clearError = () => add.error && add.reset()
  const issue = add.error?.issueFor('hostname') ?? (add.error?.code === 'hostname_taken' ? add.error.message : undefined)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (hostname === '' || projectSlug === '' || add.isPending) return
    add.mutate({ params: { slug: projectSlug }, body: { hostname } })
  }
  if (added) {
    return (
      <Dialog open onOpenChange={onClose} title={added.hostname} description="Added. Create this DNS record to finish.">
        <DnsRecordCheck domain={added} platformIp={platformIp} onClose={onClose} />
      </Dialog>
    )
  }
  return (
    <Dialog open onOpenChange={onClose} title="Add domain" description="A domain you already own, at any registrar.">
      <form className="stack" onSubmit={submit} noValidate>
        <TextField
          label="Domain"
          mono
          required
          autoCapitalize="off"
          inputMode="url"
          value={text}
          onChange={({ target }) => {
            clearError()
            setText(target.value)
          }}
          placeholder="blog.example.com"
          error={issue}
          hint={hostname !== '' && hostname !== text ? `Added as ${hostname}.` : 'A domain or any of its subdomains.'}
        />
        {slug === null && (
          <DomainProjectField
            value={projectSlug}
            onChange={(next) => {
              clearError()
              setProjectSlug(next)
            }}
          />
        )}
        {add.error && issue === undefined && <PaymentProblem problem={add.error} />}
        <footer className="dialog-footer">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" busy={add.isPending} disabled={hostname === '' || projectSlug === ''}>
            Add domain
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}
