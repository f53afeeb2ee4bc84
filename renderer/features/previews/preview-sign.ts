import type { Preview } from '../../../server/contract/previews.ts'
import { type Sign, deploymentSign } from '../../ui/status.tsx'

/** The state of a branch: of its newest deployment, and whether what serves of it sleeps. */
export function previewSign({ status, is_cold, url }: Pick<Preview, 'status' | 'is_cold' | 'url'>): Sign {
  if (status === 'ready' && url !== null)
    return is_cold ? { word: 'Live, asleep', shape: 'crescent', tone: 'cold' } : { word: 'Live', shape: 'disc', tone: 'live' }
  return deploymentSign(status)
}
