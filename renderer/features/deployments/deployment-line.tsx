import { GitBranch } from 'lucide-react'
import type { Deployment } from '../../../server/contract/deployments.ts'
import { firstLine, shortSha } from '../../ui/format.ts'
import { Ago } from '../../ui/time.tsx'
import { isRestart } from './progress.ts'
import './deployment-line.css'

const triggers: Record<Deployment['trigger'], string> = {
  manual: 'Manual deploy',
  push: 'New commit',
  retry: 'Built again',
  rollback: 'Rolled back',
  env_change: 'Variables changed',
  upload: 'Upload',
}

/** `newestFirst`: the deployments around it, as far as they are known. */
export function triggerWord(deployment: Deployment, newestFirst: readonly Deployment[] = []): string {
  return isRestart(deployment, newestFirst) ? 'Restarted' : triggers[deployment.trigger]
}

/** What a deployment was made of: message, commit, branch, who, when. */
export function DeploymentLine({ deployment }: { deployment: Deployment }) {
  return (
    <div className="deployment-line">
      <span className="clip deployment-message">{deploymentTitle(deployment)}</span>
      <span className="deployment-facts">
        {deployment.commit_sha && <code>{shortSha(deployment.commit_sha)}</code>}
        {deployment.is_dirty && <span title="The folder had changes that no commit holds.">with open changes</span>}
        {deployment.branch && (
          <span className="deployment-branch clip">
            <GitBranch size={12} aria-hidden />
            <span className="clip">{deployment.branch}</span>
          </span>
        )}
        {deployment.commit_author && <span className="clip">{deployment.commit_author}</span>}
        <Ago at={deployment.created_at} />
      </span>
    </div>
  )
}

export function deploymentTitle(deployment: Deployment): string {
  if (deployment.commit_message) return firstLine(deployment.commit_message)
  return { git: triggerWord(deployment), folder: 'Working folder', upload: 'Uploaded archive' }[deployment.source]
}
