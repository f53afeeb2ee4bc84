import { Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { limits } from '../../../server/contract/limits.ts'
import type { Registry } from '../../../server/contract/registries.ts'
import { useAddRegistry, useRegistries, useRemoveRegistry } from '../../api/registries.ts'
import { Button, IconButton } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { ProblemView } from '../../components/feedback.tsx'
import { TextField } from '../../components/field.tsx'
import { HelpLink } from '../../components/help-link.tsx'
import { RelativeTime } from '../../components/time.tsx'
import { useForm } from '../../lib/use-form.ts'
import styles from './registries.module.css'

type OpenDialog = { name: 'add' } | { name: 'remove'; registry: Registry }

/** Credentials for images of private registries. Hidden on an instance without support. */
export function RegistriesSection({ slug }: { slug: string }) {
  const { data } = useRegistries(slug)
  const [open, setOpen] = useState<OpenDialog | null>(null)
  if (!data) return null
  const signedIn = (data.docker_login ?? []).filter((host) => !data.registries.some((one) => one.host === host))
  return (
    <section className="card" aria-labelledby="registries">
      <header className="card-header">
        <h2 id="registries">Registries</h2>
        <Button icon={Plus} onClick={() => setOpen({ name: 'add' })}>
          Add registry
        </Button>
      </header>
      {data.registries.length + signedIn.length > 0 && (
        <ul aria-label="Registries">
          {data.registries.map((registry) => (
            <li key={registry.host} className={`card-row ${styles.row}`}>
              <div className={styles.facts}>
                <strong className={styles.host}>{registry.host}</strong>
                <span className="text-muted">
                  {registry.username} · added <RelativeTime at={registry.created_at} />
                </span>
              </div>
              <IconButton icon={Trash2} label={`Remove ${registry.host}`} onClick={() => setOpen({ name: 'remove', registry })} />
            </li>
          ))}
          {signedIn.map((host) => (
            <li key={host} className={`card-row ${styles.row}`}>
              <div className={styles.facts}>
                <strong className={styles.host}>{host}</strong>
                <span className="text-muted">
                  Signed in with <code>docker login</code> on this machine
                </span>
              </div>
            </li>
          ))}
        </ul>
      )}
      <p className={`card-body text-muted ${styles.about}`}>
        Images of private registries are pulled with these credentials, in builds too. <HelpLink topic="registries">How it works</HelpLink>
      </p>
      {open?.name === 'add' && <AddRegistryDialog slug={slug} onClose={() => setOpen(null)} />}
      {open?.name === 'remove' && <RemoveRegistryDialog slug={slug} registry={open.registry} onClose={() => setOpen(null)} />}
    </section>
  )
}

function AddRegistryDialog({ slug, onClose }: { slug: string; onClose: () => void }) {
  const add = useAddRegistry({ hidesErrorToast: true, successMessage: 'Registry added. The next deployment uses it.', onSuccess: onClose })
  const form = useForm({
    initial: { host: '', username: '', password: '' },
    submission: add,
    onSubmit: (values) =>
      add.mutate({ params: { slug }, body: { host: values.host.trim(), username: values.username.trim(), password: values.password } }),
  })
  const { host, username, password } = form.values
  return (
    <Dialog open onOpenChange={onClose} title="Add registry" description="Credentials for the same registry are replaced.">
      <form className="stack" {...form.props}>
        <TextField
          label="Registry"
          required
          mono
          maxLength={limits.registry_host}
          placeholder="ghcr.io"
          {...form.text('host')}
          hint="Its hostname. Docker Hub is docker.io."
        />
        <TextField label="User name" required maxLength={limits.registry_username} {...form.text('username')} />
        <TextField
          label="Password or access token"
          type="password"
          required
          maxLength={limits.registry_password}
          autoComplete="new-password"
          {...form.text('password')}
          hint="Stored encrypted and never shown again. A read-only token is enough."
        />
        {form.problem && <ProblemView problem={form.problem} />}
        <footer className="dialog-footer">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" busy={form.is_busy} disabled={host.trim() === '' || username.trim() === '' || password === ''}>
            Add registry
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}

function RemoveRegistryDialog({ slug, registry: { host }, onClose }: { slug: string; registry: Registry; onClose: () => void }) {
  const remove = useRemoveRegistry({ successMessage: `Removed ${host}.`, onSuccess: onClose })
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={`Remove ${host}?`}
      description="Its credentials are deleted. Private images of this registry cannot be pulled in the next deployment."
    >
      <footer className="dialog-footer">
        <Button onClick={onClose}>Cancel</Button>
        <Button kind="danger" busy={remove.isPending} onClick={() => remove.mutate({ params: { slug, host } })}>
          Remove registry
        </Button>
      </footer>
    </Dialog>
  )
}
