import { GitBranch } from 'lucide-react'
import type { Deployment } from '../../server/contract/deployments.ts'
import { nameSource, restartLabel, triggerLabels } from '../../server/contract/labels.ts'
import { firstLine, formatBytes, shortenSha } from '../lib/format.ts'
import { RelativeTime } from './time.tsx'
import { isRestart } from '../lib/deployment-progress.ts'
import './deployment-line.css'

/** `newestFirst`: the deployments around it, as far as loaded. */
export function triggerLabel(deployment: Deployment, newestFirst: readonly Deployment[] = []): string {
  return isRestart(deployment, newestFirst) ? restartLabel : triggerLabels[deployment.trigger]
}

/** Source of a deployment: message, commit, branch, author and time. */
export function DeploymentLine({ deployment }: { deployment: Deployment }) {
  return (
    <div className="deployment-line">
      <span className="truncate deployment-message">{deploymentTitle(deployment)}</span>
      <span className="deployment-facts">
        {deployment.number !== undefined && !hasNumber(deployment, deploymentTitle(deployment)) && <span>#{deployment.number}</span>}
        {deployment.commit_sha && <code>{shortenSha(deployment.commit_sha)}</code>}
        {deployment.is_dirty && <span title="The folder had uncommitted changes.">uncommitted changes</span>}
        {deployment.branch && (
          <span className="deployment-branch truncate">
            <GitBranch size={12} aria-hidden />
            <span className="truncate">{deployment.branch}</span>
          </span>
        )}
        {deployment.commit_author && <span className="truncate">{deployment.commit_author}</span>}
        {deployment.source_bytes != null && <span>{formatBytes(deployment.source_bytes)}</span>}
        {deployment.files_changed != null && <span>{formatFilesChanged(deployment.files_changed)}</span>}
        <RelativeTime at={deployment.created_at} />
      </span>
    </div>
  )
}

const formatFilesChanged = (count: number): string => (count === 0 ? 'no files changed' : count === 1 ? '1 file changed' : `${count} files changed`)

/** A deployment without a commit is named by its source and number, so that no two have the same title. */
export function deploymentTitle(deployment: Deployment): string {
  if (deployment.commit_message) return firstLine(deployment.commit_message)
  const title = nameSource(deployment)
  return deployment.number === undefined || deployment.source === 'git' ? title : `${title} #${deployment.number}`
}

/** The title of a deployment with its number: `#3 Add the shop`. */
export function numberedTitle(deployment: Deployment): string {
  const title = deploymentTitle(deployment)
  return deployment.number === undefined || hasNumber(deployment, title) ? title : `#${deployment.number} ${title}`
}

/** Whether a title has the number of its deployment, so that it is not shown twice. */
export const hasNumber = ({ number }: Deployment, title: string): boolean => number !== undefined && title.endsWith(` #${number}`)
