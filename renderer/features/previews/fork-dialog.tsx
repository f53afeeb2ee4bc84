import { useId } from 'react'
import { useForkEnvironment } from '../../api/forks.ts'
import { helpTopicForError } from '../../lib/help-topic-for.ts'
import type { Fork, ForkSource } from '../../../server/contract/forks.ts'
import type { Preview } from '../../../server/contract/previews.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { TextField } from '../../components/field.tsx'
import { HelpLink } from '../../components/help-link.tsx'
import { useForm } from '../../lib/use-form.ts'
import { describeData } from './describe-data.ts'
import styles from './previews.module.css'

/** Asks for the branch, and shows what is copied and what is replaced. */
export function ForkDialog({
  slug,
  branch: initialBranch,
  production,
  forks,
  previews,
  productionBranch,
  onClose,
}: {
  slug: string
  branch: string
  production: ForkSource
  forks: Fork[]
  previews: Preview[]
  productionBranch: string
  onClose: () => void
}) {
  const listId = useId()
  const copy = useForkEnvironment({
    successMessage: ({ fork, deployment_id }) =>
      `Copied ${describeData(fork.volumes, fork.database_bytes !== null)} to ${fork.branch}.${deployment_id === null ? '' : ' Its preview is redeployed.'}`,
    hidesErrorToast: true,
    onSuccess: onClose,
  })
  const form = useForm({
    initial: { branch: initialBranch },
    submission: copy,
    check: ({ branch }) => ({
      branch: branch.trim() === productionBranch ? `${productionBranch} is the production branch. Name another one.` : undefined,
    }),
    onSubmit: () => name !== '' && copy.mutate({ params: { slug }, body: { branch: name } }),
  })
  const name = form.values.branch.trim()
  const topic = form.problem && helpTopicForError(form.problem.code)
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title="Copy production data"
      description="The branch gets production’s current data. Production pauses while its data is copied, and its requests wait."
    >
      <form className="stack" {...form.props}>
        <div className="stack">
          <TextField label="Branch" mono required list={listId} {...form.text('branch')} />
          <datalist id={listId}>
            {previews.map((preview) => (
              <option key={preview.branch} value={preview.branch} />
            ))}
          </datalist>
          <dl className={styles.forkFacts}>
            <dt>Copied</dt>
            <dd>{describeData(production.volumes, production.has_database)}</dd>
            <dt>Replaced</dt>
            <dd>{describeReplaced(name, forks, previews)}</dd>
          </dl>
          {form.problem && (
            <p className="field-error" role="alert">
              {form.problem.message} {topic && <HelpLink topic={topic}>Help</HelpLink>}
            </p>
          )}
        </div>
        <footer className="dialog-footer">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" busy={form.is_busy} disabled={name === '' || form.error('branch') !== undefined}>
            Copy production data
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}

function describeReplaced(branch: string, forks: Fork[], previews: Preview[]): string {
  const isOpen = previews.some((one) => one.branch === branch)
  const hasData = forks.some((one) => one.branch === branch)
  if (isOpen || hasData)
    return `The volumes and the database that ${branch} has${isOpen ? ', while its preview is stopped' : ''}. Snapshots and a dump of them are taken first.`
  return 'Nothing. Without a preview, the data is kept for it; a development server of the branch uses the database when it starts.'
}
