import { RefreshCw } from 'lucide-react'
import { useCheckRepository, useUpdateWatching } from '../../api/previews.ts'
import type { Watching } from '../../../server/contract/previews.ts'
import type { Project } from '../../../server/contract/projects.ts'
import { Button } from '../../components/button.tsx'
import { SwitchField } from '../../components/field.tsx'
import { Prose } from '../../components/prose.tsx'
import { type StatusBadgeData, StatusBadge } from '../../components/status.tsx'
import { RelativeTime } from '../../components/time.tsx'
import styles from './previews.module.css'

const watchingBadges: Record<Watching['state'], StatusBadgeData> = {
  off: { label: 'Not watched', shape: 'dash', tone: 'idle' },
  watching: { label: 'Watched', shape: 'disc', tone: 'live' },
  failing: { label: 'Cannot check', shape: 'diamond', tone: 'fail' },
}

/** Automatic deployment settings and the polling state of the repository. */
export function WatchingCard({ project, watching }: { project: Project; watching: Watching }) {
  const params = { slug: project.slug }
  const change = useUpdateWatching()
  const check = useCheckRepository({ successMessage: 'Repository checked.' })
  const current = change.isPending ? { ...watching, ...change.variables.body } : watching
  const set = (body: Partial<Pick<Watching, 'deploys_pushes' | 'previews' | 'preview_databases' | 'pull_requests' | 'pull_request_secrets'>>) =>
    change.mutate({ params, body })
  return (
    <section className="card" aria-labelledby="watching">
      <header className="card-header">
        <h2 id="watching">Automatic deployments</h2>
        <Button icon={RefreshCw} busy={check.isPending} onClick={() => check.mutate({ params })}>
          Check now
        </Button>
      </header>
      <div className="card-body stack">
        <p className={styles.watchingState} role="status">
          <StatusBadge badge={watchingBadges[watching.state]} />
          <span className="text-muted">
            {watching.message ? <Prose text={watching.message} /> : <span className="mono">{project.repo_url}</span>}
            {watching.checked_at && (
              <span className="text-subtle">
                {' '}
                Checked <RelativeTime at={watching.checked_at} />.
              </span>
            )}
          </span>
        </p>
        <SwitchField
          label={`Deploy pushes to ${project.repo_branch}`}
          hint="A new commit on the production branch goes live automatically."
          checked={current.deploys_pushes}
          onChange={(deploys_pushes) => set({ deploys_pushes })}
        />
        <SwitchField
          label="Previews of other branches"
          hint={current.previews ? 'Turning this off closes open previews.' : 'Each branch pushed from now on gets its own URL.'}
          checked={current.previews}
          onChange={(previews) => set({ previews })}
        />
        <SwitchField
          label="Previews of pull requests"
          hint="Runs the code of anyone who can open a pull request. Only for a repository whose contributors you trust, or with Docker. Pull requests that change from now on get their own URL."
          checked={current.pull_requests}
          onChange={(pull_requests) => set({ pull_requests })}
        />
        {current.pull_requests && (
          <SwitchField
            label="Secrets for pull requests"
            hint="Sensitive variables, those of all environments, a copy of the database and snapshots of volumes. Otherwise pull requests get only the preview variables that are not sensitive."
            checked={current.pull_request_secrets}
            onChange={(pull_request_secrets) => set({ pull_request_secrets })}
          />
        )}
        <SwitchField
          label="A database for each preview"
          hint="A copy of the project’s database, created and deleted with the preview. Otherwise previews have no database."
          checked={current.preview_databases}
          onChange={(preview_databases) => set({ preview_databases })}
        />
      </div>
    </section>
  )
}
