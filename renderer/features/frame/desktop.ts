import { useQueryClient } from '@tanstack/react-query'
import { useCallback, useEffect, useRef } from 'react'
import { useLocation } from 'wouter'
import type { Deployment } from '../../../server/contract/deployments.ts'
import { slugOf } from '../../api/cache.ts'
import type { EventOf } from '../../api/client.ts'
import { deploymentTitle } from '../deployments/deployment-line.tsx'
import { isTerminal } from '../deployments/progress.ts'

/** What the desktop window adds, when there is one: it sends us to places, and notifies when a deployment ends out of sight. */
export function useDesktop(): (event: EventOf<'followInstance'>) => void {
  const [, go] = useLocation()
  const cache = useQueryClient()
  const underWay = useRef(new Set<string>())

  useEffect(() => window.homeport?.onNavigate((path) => go(path.startsWith('/') ? path : `/${path}`)), [go])

  return useCallback(
    (event) => {
      if (event.event !== 'deployment' || !window.homeport) return
      const { deployment } = event.data
      if (!isTerminal(deployment.status)) underWay.current.add(deployment.id)
      // Told once, and only of what was seen to run.
      else if (underWay.current.delete(deployment.id) && deployment.status !== 'canceled') {
        const slug = slugOf(cache, deployment.project_id)
        if (slug !== undefined) void window.homeport.notify({ ...words(deployment, slug), path: `projects/${slug}/deployments/${deployment.id}` })
      }
    },
    [cache],
  )
}

function words(deployment: Deployment, slug: string): { title: string; body: string } {
  return deployment.status === 'ready'
    ? { title: `${slug} is ready`, body: deploymentTitle(deployment) }
    : { title: `${slug} failed to deploy`, body: deployment.error?.message ?? deploymentTitle(deployment) }
}
