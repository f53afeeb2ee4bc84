import { Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { DeployHook } from '../../../server/contract/deploy-hooks.ts'
import { limits } from '../../../server/contract/limits.ts'
import type { Project } from '../../../server/contract/projects.ts'
import { useCreateDeployHook, useDeleteDeployHook, useDeployHooks } from '../../api/deploy-hooks.ts'
import { Button, IconButton } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { ProblemView } from '../../components/feedback.tsx'
import { TextField } from '../../components/field.tsx'
import { HelpLink } from '../../components/help-link.tsx'
import { SecretDialog } from '../../components/secret-dialog.tsx'
import { RelativeTime } from '../../components/time.tsx'
import { useForm } from '../../lib/use-form.ts'
import styles from './registries.module.css'

type OpenDialog = { name: 'create' } | { name: 'delete'; hook: DeployHook }

/** URLs that deploy the project when they are called. */
export function DeployHooksSection({ project }: { project: Project }) {
  const { slug, repo_branch } = project
  const { data } = useDeployHooks(slug)
  const [open, setOpen] = useState<OpenDialog | null>(null)
  if (!data) return null
  const close = () => setOpen(null)
  return (
    <section className="card" aria-labelledby="deploy-hooks">
      <header className="card-header">
        <h2 id="deploy-hooks">Deploy hooks</h2>
        <Button icon={Plus} onClick={() => setOpen({ name: 'create' })}>
          Create hook
        </Button>
      </header>
      {data.deploy_hooks.length > 0 && (
        <ul aria-label="Deploy hooks">
          {data.deploy_hooks.map((hook) => (
            <li key={hook.id} className={`card-row ${styles.row}`}>
              <div className={styles.facts}>
                <strong className={styles.host}>{hook.name}</strong>
                <span className="text-muted">
                  {hook.branch ?? `${repo_branch} (production)`} · hpd_…{hook.last4} ·{' '}
                  {hook.last_used_at === null ? (
                    'never called'
                  ) : (
                    <>
                      called <RelativeTime at={hook.last_used_at} />
                    </>
                  )}
                </span>
              </div>
              <IconButton icon={Trash2} label={`Delete ${hook.name}`} onClick={() => setOpen({ name: 'delete', hook })} />
            </li>
          ))}
        </ul>
      )}
      <p className={`card-body text-muted ${data.deploy_hooks.length > 0 ? styles.about : ''}`}>
        A URL that deploys the newest commit of a branch when it is called, for example by a CMS. <HelpLink topic="git">How it works</HelpLink>
      </p>
      {open?.name === 'create' && <CreateHookDialog slug={slug} productionBranch={repo_branch} onClose={close} />}
      {open?.name === 'delete' && <DeleteHookDialog slug={slug} hook={open.hook} onClose={close} />}
    </section>
  )
}

function CreateHookDialog({ slug, productionBranch, onClose }: { slug: string; productionBranch: string; onClose: () => void }) {
  const create = useCreateDeployHook({ hidesErrorToast: true })
  const form = useForm({
    initial: { name: '', branch: '' },
    submission: create,
    onSubmit: ({ name, branch }) =>
      create.mutate({ params: { slug }, body: { name: name.trim(), branch: branch.trim() === '' ? null : branch.trim() } }),
  })
  if (create.data)
    return (
      <SecretDialog
        title={`Deploy hook “${create.data.deploy_hook.name}”`}
        description="Copy the URL now: it is not shown again. Anyone with this URL can deploy, and nothing else."
        secret={create.data.url}
        kind="URL"
        onClose={onClose}
      >
        <p className="text-muted">
          Call it with POST. A client that can set headers should call <code>/hooks/deploy</code> and send <code>Authorization: Bearer hpd_…</code>{' '}
          instead, so that no log on the way has the token.
        </p>
      </SecretDialog>
    )
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title="Create deploy hook"
      description="Create one per service, so that you can delete each one individually."
    >
      <form className="stack" {...form.props}>
        <TextField label="Name" required maxLength={limits.name.max} placeholder="CMS" {...form.text('name')} hint="Describe what calls this URL." />
        <TextField
          label="Branch"
          mono
          maxLength={limits.branch.max}
          placeholder={productionBranch}
          {...form.text('branch')}
          hint="Leave empty for the production branch. Another branch gets a preview."
        />
        {form.problem && <ProblemView problem={form.problem} />}
        <footer className="dialog-footer">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" busy={form.is_busy} disabled={form.values.name.trim() === ''}>
            Create hook
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}

function DeleteHookDialog({ slug, hook, onClose }: { slug: string; hook: DeployHook; onClose: () => void }) {
  const remove = useDeleteDeployHook({ successMessage: 'Deploy hook deleted.', onSuccess: onClose })
  return (
    <Dialog open onOpenChange={onClose} title={`Delete “${hook.name}”?`} description="Its URL stops working immediately.">
      <footer className="dialog-footer">
        <Button onClick={onClose}>Cancel</Button>
        <Button kind="danger" busy={remove.isPending} onClick={() => remove.mutate({ params: { slug, id: hook.id } })}>
          Delete hook
        </Button>
      </footer>
    </Dialog>
  )
}
