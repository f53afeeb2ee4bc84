import { useQueryClient } from '@tanstack/react-query'
import { Database as DatabaseIcon } from 'lucide-react'
import { Link } from 'wouter'
import type { Project } from '../../../server/contract/projects.ts'
import { useAction } from '../../api/actions.ts'
import { useProvisioningSince } from '../../api/database.ts'
import { keys } from '../../api/keys.ts'
import { useInstance, useServing } from '../../api/queries.ts'
import { Button } from '../../ui/button.tsx'
import { Empty, ProblemView } from '../../ui/feedback.tsx'
import { duration } from '../../ui/format.ts'
import { useNow } from '../../ui/now.ts'
import { Progress } from '../../ui/progress.tsx'

/** No database yet: what one press does, and how far it is. */
export function Provision({
  project,
  isDropped,
  progress,
  onProvisioned,
}: {
  project: Project
  isDropped: boolean
  /** What the platform says while it makes one. */
  progress: string | null
  onProvisioned: (deploymentId: string | null) => void
}) {
  const { slug } = project
  const cache = useQueryClient()
  const { data: serving } = useServing(slug)
  const session = useInstance().data
  const since = useProvisioningSince(slug)
  const make = useAction('createDatabase', {
    quiet: true,
    onDone({ database, deployment_id }) {
      const show = () => cache.setQueryData(keys.database(slug), database)
      show()
      // A look that is still under way would say that it is being made.
      void cache.cancelQueries({ queryKey: keys.database(slug) }).then(show)
      onProvisioned(deployment_id)
    },
  })
  const { error } = make
  if (error?.code === 'database_exists') void cache.invalidateQueries({ queryKey: keys.database(slug) })
  return (
    <section className="card" aria-label="Database">
      <Empty
        icon={DatabaseIcon}
        title={isDropped ? 'The database is dropped' : 'No database yet'}
        action={
          <div className="db-provision">
            {since === null ? (
              <Button kind="primary" icon={DatabaseIcon} onClick={() => make.mutate({ params: { slug } })}>
                Make a database
              </Button>
            ) : (
              <Making since={since} progress={progress} hasEngine={session?.instance.runtime.name === 'docker'} />
            )}
            {error && error.code !== 'database_exists' && since === null && (
              <>
                <ProblemView problem={error} />
                {error.code === 'payment_method_required' && session?.user.is_instance_owner && (
                  <p className="quiet">
                    On this machine that is only played: change the plan, or give it a card, in the{' '}
                    <Link href="/instance">settings of the instance</Link>.
                  </p>
                )}
              </>
            )}
          </div>
        }
      >
        {isDropped && 'Its last dump lies below, until you delete it. '}A PostgreSQL database of this project’s own, which no other project can reach.
        The app finds its address in <code>DATABASE_URL</code>
        {serving ? ': it is deployed again, so that it has it.' : ' from its first deployment on.'}
      </Empty>
    </section>
  )
}

// A server that runs already makes a database in a second or two.
const quick_ms = 4_000

function Making({ since, progress, hasEngine }: { since: number; progress: string | null; hasEngine: boolean }) {
  const now = useNow(1_000)
  const took = Math.max(0, now - since)
  return (
    <div className="db-making">
      <Progress label={progress ?? 'Making the database'} text={took < quick_ms ? '' : duration(took)} />
      {took >= quick_ms && (
        <p className="faint">
          {hasEngine
            ? 'The first database of an instance starts the server, and may have to fetch its image before: a minute or two.'
            : 'The first database of an instance sets the server up before it starts it.'}{' '}
          You may go elsewhere meanwhile.
        </p>
      )}
    </div>
  )
}
