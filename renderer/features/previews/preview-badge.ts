import { asleepLabel, projectStatusLabels } from '../../../server/contract/labels.ts'
import type { Preview } from '../../../server/contract/previews.ts'
import { type StatusBadgeData, deploymentBadge } from '../../components/status.tsx'

/** Status of a preview: of its latest deployment, and whether its live version sleeps. */
export function previewBadge({ status, is_cold, url }: Pick<Preview, 'status' | 'is_cold' | 'url'>): StatusBadgeData {
  if (status === 'ready' && url !== null)
    return is_cold ? { label: asleepLabel, shape: 'crescent', tone: 'cold' } : { label: projectStatusLabels.live, shape: 'disc', tone: 'live' }
  return deploymentBadge(status)
}

/** The number in the label of a pull request, such as `pull/12`; null for a branch. */
export const findPullRequestNumber = (branch: string): string | null => /^pull\/(\d+)$/.exec(branch)?.[1] ?? null
