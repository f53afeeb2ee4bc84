import { Rocket } from 'lucide-react'
import type { ProjectEnvVar } from '../../../server/contract/env-vars.ts'
import { useSaveEnvVars } from '../../api/env-vars.ts'
import { Button } from '../../components/button.tsx'
import { ProblemView } from '../../components/feedback.tsx'
import { affectsProduction, type ChangeSet, countChanges } from './change-set.ts'
import styles from './page.module.css'

/** The number of unsaved changes, and the buttons that save all of them in one step. Renders nothing without any. */
export function ChangesBar({
  slug,
  variables,
  changes,
  hasServing,
  onDiscard,
  onSaved,
}: {
  slug: string
  variables: readonly ProjectEnvVar[]
  changes: ChangeSet
  /** Production is live, so that it can be redeployed. */
  hasServing: boolean
  onDiscard: () => void
  onSaved: (deploymentId: string | null) => void
}) {
  const save = useSaveEnvVars(slug)
  const count = countChanges(changes)
  if (count === 0) return null
  const canRedeploy = hasServing && affectsProduction(changes, variables)
  const submit = (redeploy: boolean) => save.mutate({ changes, redeploy }, { onSuccess: onSaved })
  return (
    <>
      {save.error && <ProblemView problem={save.error} />}
      <section className={`card ${styles.envChanges}`} aria-label="Unsaved changes">
        <p role="status">{count === 1 ? '1 change' : `${count} changes`}</p>
        <Button
          kind="bare"
          disabled={save.isPending}
          onClick={() => {
            save.reset()
            onDiscard()
          }}
        >
          Discard
        </Button>
        <Button kind={canRedeploy ? 'plain' : 'primary'} busy={save.isPending} onClick={() => submit(false)}>
          Save
        </Button>
        {canRedeploy && (
          <Button kind="primary" icon={Rocket} busy={save.isPending} onClick={() => submit(true)}>
            Save and redeploy
          </Button>
        )}
      </section>
    </>
  )
}
