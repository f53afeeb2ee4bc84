import { useState } from 'react'
import { useForm } from '../../lib/use-form.ts'
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
  const [added, setAdded] = useState<Domain | null>(null)
  const add = useAddDomain({
    hidesErrorToast: true,
    onSuccess: ({ domain }) => setAdded(domain),
  })
  const form = useForm({
    initial: { hostname: '', slug: slug ?? '' },
    submission: add,
    onSubmit: (values) => add.mutate({ params: { slug: values.slug }, body: { hostname: parseHostname(values.hostname) } }),
    fieldOf: ({ code }) => code === 'hostname_taken' && 'hostname',
  })
  const hostname = parseHostname(form.values.hostname)
  if (added) {
    return (
      <Dialog open onOpenChange={onClose} title={added.hostname} description="Added. Create this DNS record to finish.">
        <DnsRecordCheck domain={added} platformIp={platformIp} onClose={onClose} />
      </Dialog>
    )
  }
  return (
    <Dialog open onOpenChange={onClose} title="Add domain" description="A domain you already own, at any registrar.">
      <form className="stack" {...form.props} noValidate>
        <TextField
          label="Domain"
          mono
          required
          autoCapitalize="off"
          inputMode="url"
          {...form.text('hostname')}
          placeholder="blog.example.com"
          hint={hostname !== '' && hostname !== form.values.hostname ? `Added as ${hostname}.` : 'A domain or any of its subdomains.'}
        />
        {slug === null && <DomainProjectField value={form.values.slug} onChange={(next) => form.set({ slug: next })} />}
        {form.problem && <PaymentProblem problem={form.problem} />}
        <footer className="dialog-footer">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" busy={form.is_busy} disabled={hostname === '' || form.values.slug === ''}>
            Add domain
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}
