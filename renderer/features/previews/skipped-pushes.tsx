import { Link, useLocation } from 'wouter'
import { useDeploySkippedPush, useWatching } from '../../api/previews.ts'
import type { SkippedPush } from '../../../server/contract/previews.ts'
import { Button } from '../../components/button.tsx'
import { RelativeTime } from '../../components/time.tsx'
import { firstLine, shortenSha } from '../../lib/format.ts'
import styles from './previews.module.css'

/** Pushes that were not deployed, because they change nothing in the watch paths. Renders nothing without any. */
export function SkippedPushes({ slug }: { slug: string }) {
  const skipped = useWatching(slug).data?.skipped ?? []
  const [, navigate] = useLocation()
  const deploy = useDeploySkippedPush({ onSuccess: ({ deployment_id }) => navigate(`/projects/${slug}/deployments/${deployment_id}`) })
  if (skipped.length === 0) return null
  return (
    <section className="card" aria-labelledby="skipped-pushes">
      <header className="card-header">
        <h2 id="skipped-pushes">Skipped pushes</h2>
        <Link href={`/projects/${slug}/settings`}>Watch paths</Link>
      </header>
      <ul className={styles.skippedPushes}>
        {skipped.map((push) => (
          <li key={push.branch} className="card-row">
            <div className={styles.skippedPush}>
              <span className="truncate">
                <strong>{push.branch}</strong> <code>{shortenSha(push.commit_sha)}</code> {firstLine(push.commit_message)}
              </span>
              <span className="text-subtle">
                {explainSkip(push)} <RelativeTime at={push.skipped_at} />
              </span>
            </div>
            <Button
              aria-label={`Deploy anyway: ${push.branch}`}
              busy={deploy.isPending && deploy.variables.body.branch === push.branch}
              onClick={() => deploy.mutate({ params: { slug }, body: { branch: push.branch } })}
            >
              Deploy anyway
            </Button>
          </li>
        ))}
      </ul>
    </section>
  )
}

function explainSkip({ changed_files }: SkippedPush): string {
  if (changed_files === 0) return 'No file differs from the deployed commit.'
  return changed_files === 1
    ? 'The changed file is outside of the watch paths.'
    : `All ${changed_files} changed files are outside of the watch paths.`
}
