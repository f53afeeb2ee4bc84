import { useLocation } from 'wouter'
import { instanceBasePath, localInstanceId } from '../../lib/instance-path.ts'
import { useConnection } from '../../stores/connection.ts'
import { Button } from '../../components/button.tsx'
import { useForm } from '../../lib/use-form.ts'
import { TargetProjectField, TargetInstanceField } from './target-fields.tsx'
import styles from './promotion.module.css'

/** Chooses the project to pull from a remote instance; the promotion dialog with the differences follows. */
export function PullFromInstance({ onBack, onDone }: { onBack: () => void; onDone: () => void }) {
  const connections = useConnection((state) => state.connections).filter(({ id }) => id !== localInstanceId)
  const [, navigate] = useLocation()
  const form = useForm({
    initial: { chosenId: null as string | null, slug: '' },
    onSubmit({ slug }) {
      if (!from) return
      onDone()
      navigate(`~${instanceBasePath(from.id)}/projects/${encodeURIComponent(slug.trim())}?do=pull`)
    },
  })
  const { chosenId, slug } = form.values
  const from = connections.find(({ id }) => id === chosenId) ?? connections.find((one) => one.is_signed_in) ?? connections[0]
  if (!from) return null
  return (
    <form className={`stack ${styles.promote}`} {...form.props}>
      <TargetInstanceField legend="Instance" targets={connections} to={from} onTo={(next) => form.set({ chosenId: next })} />
      <TargetProjectField
        connection={from}
        label="Source project"
        slug={slug}
        onSlug={(next) => form.set({ slug: next })}
        hint="Its slug. You can review the differences first."
      />
      <footer className="dialog-footer">
        <Button onClick={onBack}>Back</Button>
        <Button kind="primary" type="submit" disabled={slug.trim() === ''}>
          Next
        </Button>
      </footer>
    </form>
  )
}
