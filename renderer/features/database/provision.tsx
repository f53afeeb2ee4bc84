import { Database as DatabaseIcon } from 'lucide-react'
import { Link } from 'wouter'
import { useDatabase, useCreateDatabase, useProvisioningSince } from '../../api/databases.ts'
import { useServingDeployment } from '../../api/deployments.ts'
import { useInstanceSession } from '../../api/instance.ts'
import { findRuntimeTraits } from '../../../server/contract/runtimes.ts'
import type { Project } from '../../../server/contract/projects.ts'
import { useEffect } from 'react'
import { Button } from '../../components/button.tsx'
import { EmptyState, ProblemView } from '../../components/feedback.tsx'
import { formatDuration } from '../../lib/format.ts'
import { useNow } from '../../lib/use-now.ts'
import { Progress } from '../../components/progress.tsx'
import styles from './page.module.css'

/** Empty state of the database page: creates a database and shows the progress. */
export function Provision({
  project,
  isDropped,
  progress,
  onProvisioned,
}: {
  project: Project
  isDropped: boolean
  /** Progress messages of the platform while it creates the database. */
  progress: string | null
  onProvisioned: (deploymentId: string | null) => void
}) {
  const { slug } = project
  const { refetch } = useDatabase(slug)
  const { data: serving } = useServingDeployment(slug)
  const session = useInstanceSession().data
  const since = useProvisioningSince(slug)
  const createDatabase = useCreateDatabase({
    hidesErrorToast: true,
    onSuccess: ({ deployment_id }) => onProvisioned(deployment_id),
  })
  const { error } = createDatabase
  useEffect(() => {
    if (error?.code === 'database_exists') void refetch()
  }, [error, refetch])
  return (
    <section className="card" aria-label="Database">
      <EmptyState
        icon={DatabaseIcon}
        title={isDropped ? 'Database dropped' : 'No database yet'}
        action={
          <div className={styles.dbProvision}>
            {since === null ? (
              <Button kind="primary" icon={DatabaseIcon} onClick={() => createDatabase.mutate({ params: { slug } })}>
                Create database
              </Button>
            ) : (
              <ProvisionProgress
                since={since}
                progress={progress}
                pullsImages={session !== undefined && session !== null && (findRuntimeTraits(session.instance.runtime.name)?.pulls_images ?? false)}
              />
            )}
            {error && error.code !== 'database_exists' && since === null && (
              <>
                <ProblemView problem={error} />
                {error.code === 'payment_method_required' && session?.user.is_instance_owner && (
                  <p className="text-muted">
                    On this machine the plan is simulated: change it or add a card in the <Link href="/instance/settings">instance settings</Link>.
                  </p>
                )}
              </>
            )}
          </div>
        }
      >
        {isDropped && 'Its final dump is listed below until you delete it. '}A PostgreSQL database for this project only. Other projects cannot access
        it. The app gets its connection string in <code>DATABASE_URL</code>
        {serving ? ' when it is redeployed, right after the database is created.' : ' from its first deployment.'}
      </EmptyState>
    </section>
  )
}

// A running server creates a database within one or two seconds.
const slowNotice_ms = 4_000

function ProvisionProgress({ since, progress, pullsImages }: { since: number; progress: string | null; pullsImages: boolean }) {
  const now = useNow(1_000)
  const duration_ms = Math.max(0, now - since)
  return (
    <div className={styles.dbMaking}>
      <Progress label={progress ?? 'Creating the database'} text={duration_ms < slowNotice_ms ? '' : formatDuration(duration_ms)} />
      {duration_ms >= slowNotice_ms && (
        <p className="text-subtle">
          {pullsImages
            ? 'The first database of an instance pulls the image and starts the server, which takes a minute or two.'
            : 'The first database of an instance sets up the server, which takes longer.'}{' '}
          You can leave this page.
        </p>
      )}
    </div>
  )
}
