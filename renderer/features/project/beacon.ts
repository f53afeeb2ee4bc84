import { useEffect, useRef, useState } from 'react'
import type { Deployment } from '../../../server/contract/deployments.ts'
import type { Beacon } from '../frame/title.ts'
import { isTerminal } from '../deployments/progress.ts'

/** What the tab tells: that the deployment is under way, and how it ended until somebody has looked. */
export function useBeacon(deployment: Deployment | null | undefined): Beacon {
  const [ended, setEnded] = useState<Beacon>('idle')
  const watched = useRef<string | null>(null)
  const underWay = deployment !== null && deployment !== undefined && !isTerminal(deployment.status)

  useEffect(() => {
    if (underWay) {
      watched.current = deployment.id
      setEnded('idle')
    } else if (deployment && watched.current === deployment.id) {
      watched.current = null
      if (document.visibilityState === 'hidden')
        setEnded(deployment.status === 'ready' ? 'ready' : deployment.status === 'failed' ? 'failed' : 'idle')
    }
  }, [underWay, deployment])
  useEffect(() => {
    const seen = () => document.visibilityState === 'visible' && setEnded('idle')
    document.addEventListener('visibilitychange', seen)
    return () => document.removeEventListener('visibilitychange', seen)
  }, [])

  return underWay ? 'building' : ended
}
