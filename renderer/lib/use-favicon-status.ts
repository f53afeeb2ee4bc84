import { useEffect, useRef, useState } from 'react'
import type { Deployment } from '../../server/contract/deployments.ts'
import type { FaviconStatus } from './use-title.ts'
import { isTerminal } from './deployment-progress.ts'

/** Favicon status of a deployment: running, and its result until the user has seen it. */
export function useFaviconStatus(deployment: Deployment | null | undefined): FaviconStatus {
  const [ended, setEnded] = useState<FaviconStatus>('idle')
  const watched = useRef<string | null>(null)
  const isRunning = deployment !== null && deployment !== undefined && !isTerminal(deployment.status)

  useEffect(() => {
    if (isRunning) {
      watched.current = deployment.id
      setEnded('idle')
    } else if (deployment && watched.current === deployment.id) {
      watched.current = null
      if (document.visibilityState === 'hidden')
        setEnded(deployment.status === 'ready' ? 'ready' : deployment.status === 'failed' ? 'failed' : 'idle')
    }
  }, [isRunning, deployment])
  useEffect(() => {
    const onVisible = () => document.visibilityState === 'visible' && setEnded('idle')
    document.addEventListener('visibilitychange', onVisible)
    return () => document.removeEventListener('visibilitychange', onVisible)
  }, [])

  return isRunning ? 'building' : ended
}
