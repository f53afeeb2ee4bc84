import { type FormEvent, useId, useState } from 'react'
import { useForkEnvironment } from '../../api/forks.ts'
import { helpTopicForError } from '../../lib/help-topic-for.ts'
import type { Fork, ForkSource } from '../../../server/contract/forks.ts'
import type { Preview } from '../../../server/contract/previews.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { TextField } from '../../components/field.tsx'
import { HelpLink } from '../../components/help-link.tsx'
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
  const [branch, setBranch] = useState(initialBranch)
  const listId = useId()
  const copy = useForkEnvironment({
    successMessage: ({ fork, deployment_id }) =>
      `Copied ${describeData(fork.volumes, fork.database_bytes !== null)} to ${fork.branch}.${deployment_id === null ? '' : ' Its preview is redeployed.'}`,
    hidesErrorToast: true,
    onSuccess: onClose,
  })
  const name = branch.trim()
  const isProduction = name === productionBranch
  const topic = copy.error && helpTopicForError(copy.error.code)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (name !== '' && !isProduction) copy.mutate({ params: { slug }, body: { branch: name } })
  }
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title="Copy production data"
      description="The branch gets production’s current data. Production pauses while its data is copied, and its requests wait."
    >
      <form className="stack" onSubmit={submit}>
        <div className="stack">
          <TextField
            label="Branch"
            mono
            required
            list={listId}
            value={branch}
            error={isProduction ? `${productionBranch} is the production branch. Name another one.` : undefined}
            onChange={(event) => setBranch(event.target.value)}
          />
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
          {copy.error && (
            <p className="field-error" role="alert">
              {copy.error.message} {topic && <HelpLink topic={topic}>Help</HelpLink>}
            </p>
          )}
        </div>
        <footer className="dialog-footer">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" busy={copy.isPending} disabled={name === '' || isProduction}>
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
