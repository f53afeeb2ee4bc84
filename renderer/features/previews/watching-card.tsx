import { RefreshCw } from 'lucide-react'
import type { Watching } from '../../../server/contract/previews.ts'
import type { Project } from '../../../server/contract/projects.ts'
import { useChangeWatching, useCheckRepository } from '../../api/previews.ts'
import { Button } from '../../ui/button.tsx'
import { SwitchField } from '../../ui/field.tsx'
import { Prose } from '../../ui/prose.tsx'
import { type Sign, StatusPlate } from '../../ui/status.tsx'
import { Ago } from '../../ui/time.tsx'

const signs: Record<Watching['state'], Sign> = {
  off: { word: 'Not watched', shape: 'dash', tone: 'idle' },
  watching: { word: 'Watched', shape: 'disc', tone: 'live' },
  failing: { word: 'Cannot look', shape: 'diamond', tone: 'fail' },
}

/** What a push does, and whether Homeport can see one. */
export function WatchingCard({ project, watching }: { project: Project; watching: Watching }) {
  const params = { slug: project.slug }
  const change = useChangeWatching(project.slug)
  const check = useCheckRepository(project.slug)
  const shown = change.isPending ? { ...watching, ...change.variables.body } : watching
  const set = (body: { deploys_pushes?: boolean; previews?: boolean; preview_databases?: boolean }) => change.mutate({ params, body })
  return (
    <section className="card" aria-labelledby="watching">
      <header className="card-head">
        <h2 id="watching">Automatic deployments</h2>
        <Button icon={RefreshCw} busy={check.isPending} onClick={() => check.mutate({ params })}>
          Check now
        </Button>
      </header>
      <div className="card-body stack">
        <p className="watching-state" role="status">
          <StatusPlate sign={signs[watching.state]} />
          <span className="quiet">
            {watching.message ? <Prose text={watching.message} /> : <span className="mono">{project.repo_url}</span>}
            {watching.checked_at && (
              <span className="faint">
                {' '}
                Looked <Ago at={watching.checked_at} />.
              </span>
            )}
          </span>
        </p>
        <SwitchField
          label={`Deploy pushes to ${project.repo_branch}`}
          hint="A new commit on the production branch goes live automatically."
          checked={shown.deploys_pushes}
          onChange={(deploys_pushes) => set({ deploys_pushes })}
        />
        <SwitchField
          label="Previews of other branches"
          hint={shown.previews ? 'Switched off, the open ones are closed.' : 'Branches that are pushed from then on get an address of their own.'}
          checked={shown.previews}
          onChange={(previews) => set({ previews })}
        />
        <SwitchField
          label="A database for each preview"
          hint="Copied from the project’s when the preview is made, and dropped with it. Without it previews have none."
          checked={shown.preview_databases}
          onChange={(preview_databases) => set({ preview_databases })}
        />
      </div>
    </section>
  )
}
