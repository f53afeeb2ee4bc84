import { useQueryClient } from '@tanstack/react-query'
import { useCallback, useEffect, useRef } from 'react'
import { useLocation } from 'wouter'
import type { Deployment } from '../../../server/contract/deployments.ts'
import { slugOf } from '../../api/cache.ts'
import type { EventOf } from '../../api/client.ts'
import { base, baseOf, homeId } from '../../stores/address.ts'
import { useConnection } from '../../stores/connection.ts'
import { useUi } from '../../stores/ui.ts'
import { deploymentTitle } from '../deployments/deployment-line.tsx'
import { isTerminal } from '../deployments/progress.ts'
import { useKeyboard } from '../keyboard/store.ts'
import { useOffer } from '../upload/offer.ts'

/**
 * What the desktop window adds, when there is one: it sends us to places, and notifies when a deployment ends out of sight. Of this
 * machine's deployments it tells by itself, also with its window closed; of a remote's it hears from the page.
 */
export function useDesktop(): (event: EventOf<'followInstance'>) => void {
  const [, go] = useLocation()
  const cache = useQueryClient()
  const { id, name } = useConnection((state) => state.current)
  const underWay = useRef(new Set<string>())

  useEffect(
    () =>
      window.homeport?.onNavigate((path, word) => {
        const { pathname, searchParams } = new URL(path, 'http://desktop')
        const wish = searchParams.get('do')
        // Whoever wants a thing done on the page that is open stays there.
        if (wish !== 'keyboard') go(`~${base}${wish !== null && Object.hasOwn(wishes, wish) ? pathname : path}`)
        if (wish !== null) wishes[wish]?.()
        if (word !== null) useUi.getState().showToast({ kind: 'failed', text: word, request_id: null, of: homeId })
      }),
    [go],
  )

  return useCallback(
    (event) => {
      if (event.event !== 'deployment' || !window.homeport || id === homeId) return
      const { deployment } = event.data
      if (!isTerminal(deployment.status)) underWay.current.add(deployment.id)
      // Told once, and only of what was seen to run.
      else if (underWay.current.delete(deployment.id) && deployment.status !== 'canceled') {
        const slug = slugOf(cache, deployment.project_id)
        const place = `${baseOf(id).slice(base.length)}/projects/${slug}/deployments/${deployment.id}`
        if (slug !== undefined) void window.homeport.notify({ ...words(deployment, `${slug} on ${name}`), path: place })
      }
    },
    [cache, id, name],
  )
}

/** What the menu asks for beyond a place. */
const wishes: Record<string, () => void> = {
  keyboard: () => useKeyboard.getState().setSheetOpen(true),
  'new-project': () => useUi.getState().setNewProjectOpen(true),
  'deploy-folder': () =>
    void window.homeport?.chooseFolder().then((path) => {
      if (path === null) return
      useOffer.getState().offer({ kind: 'folder', path })
      useUi.getState().setNewProjectOpen(true)
    }),
}

function words(deployment: Deployment, name: string): { title: string; body: string } {
  return deployment.status === 'ready'
    ? { title: `${name} is ready`, body: deploymentTitle(deployment) }
    : { title: `${name} failed to deploy`, body: deployment.error?.message ?? deploymentTitle(deployment) }
}
