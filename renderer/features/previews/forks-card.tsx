import { Copy, GitBranch } from 'lucide-react'
import { useState } from 'react'
import { useForks, useRemoveFork } from '../../api/forks.ts'
import type { Fork } from '../../../server/contract/forks.ts'
import type { Preview } from '../../../server/contract/previews.ts'
import type { Project } from '../../../server/contract/projects.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { HelpLink } from '../../components/help-link.tsx'
import { RelativeTime } from '../../components/time.tsx'
import { describeData } from './describe-data.ts'
import { ForkDialog } from './fork-dialog.tsx'
import styles from './previews.module.css'

/** Branches with their own copy of production's data. Hidden if production has no data. */
export function ForksCard({ project, previews }: { project: Project; previews: Preview[] }) {
  const { data } = useForks(project.slug)
  const [copiedBranch, setCopiedBranch] = useState<string | null>(null)
  const [removed, setRemoved] = useState<Fork | null>(null)
  if (!data) return null
  const { forks, production } = data
  if (forks.length === 0 && production.volumes.length === 0 && !production.has_database) return null
  return (
    <>
      <section className="card" aria-labelledby="forks">
        <header className="card-header">
          <h2 id="forks">Copies of production data</h2>
          <Button icon={Copy} onClick={() => setCopiedBranch('')}>
            Copy production data
          </Button>
        </header>
        {forks.length === 0 && (
          <p className="card-body text-muted">
            Give a branch its own copy of {describeData(production.volumes, production.has_database)}, to work on it without changing production.{' '}
            <HelpLink topic="previews">How it works</HelpLink>
          </p>
        )}
        <ul data-rows>
          {forks.map((fork) => (
            <li key={fork.branch} className={`card-row ${styles.fork}`}>
              <strong className="truncate">
                <GitBranch size={13} aria-hidden /> {fork.branch}
              </strong>
              <div className={styles.forkContent}>
                <span>{describeData(fork.volumes, fork.database_bytes !== null, fork.database_bytes)}</span>
                <span className="text-subtle">
                  {fork.is_copying ? (
                    'Copying…'
                  ) : (
                    <>
                      Copied from {fork.from_branch ?? 'production'} <RelativeTime at={fork.created_at} />
                      {fork.url === null && '. Waits for a preview'}
                    </>
                  )}
                </span>
              </div>
              <div className={styles.forkActions}>
                <Button aria-label={`Copy again to ${fork.branch}`} disabled={fork.is_copying} onClick={() => setCopiedBranch(fork.branch)}>
                  Copy again
                </Button>
                <Button aria-label={`Remove data of ${fork.branch}`} disabled={fork.is_copying} onClick={() => setRemoved(fork)}>
                  Remove
                </Button>
              </div>
            </li>
          ))}
        </ul>
      </section>
      {copiedBranch !== null && (
        <ForkDialog
          slug={project.slug}
          branch={copiedBranch}
          production={production}
          forks={forks}
          previews={previews}
          productionBranch={project.repo_branch}
          onClose={() => setCopiedBranch(null)}
        />
      )}
      {removed && <RemoveDialog slug={project.slug} fork={removed} onClose={() => setRemoved(null)} />}
    </>
  )
}

function RemoveDialog({ slug, fork: { branch, url }, onClose }: { slug: string; fork: Fork; onClose: () => void }) {
  const remove = useRemoveFork({
    successMessage: ({ deployment_id }) => `Removed the data of ${branch}.${deployment_id === null ? '' : ' Its preview is redeployed.'}`,
    onSuccess: onClose,
  })
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={`Remove data of ${branch}?`}
      description={
        url === null
          ? 'The copied volumes and the copied database are deleted, with their snapshots.'
          : 'The preview continues with empty volumes and without a database. Snapshots of its volumes are taken first.'
      }
    >
      <footer className="dialog-footer">
        <Button onClick={onClose}>Cancel</Button>
        <Button kind="danger" busy={remove.isPending} onClick={() => remove.mutate({ params: { slug }, query: { branch } })}>
          Remove data
        </Button>
      </footer>
    </Dialog>
  )
}
