import { useQueryClient } from '@tanstack/react-query'
import { useCallback, useEffect, useRef } from 'react'
import { useLocation } from 'wouter'
import type { Deployment } from '../../server/contract/deployments.ts'
import { findProjectSlug } from '../api/query-cache.ts'
import type { ApiEvent } from '../../server/client/operation-types.ts'
import { basePath, instanceBasePath, localInstanceId } from '../lib/instance-path.ts'
import { useConnection } from '../stores/connection.ts'
import { useUi } from '../stores/ui.ts'
import { deploymentTitle } from '../components/deployment-line.tsx'
import { isTerminal } from '../lib/deployment-progress.ts'
import { useKeyboard } from '../stores/keyboard.ts'
import { useDroppedSource } from '../stores/dropped-source.ts'

/**
 * Integration with the desktop app: it navigates the page, and notifies when a deployment ends in the background. The app reports deployments of
 * this machine itself, even with its window closed; those of a remote instance are reported by the page.
 */
export function useDesktopBridge(): (event: ApiEvent<'followInstance'>) => void {
  const [, navigate] = useLocation()
  const cache = useQueryClient()
  const { id, name } = useConnection((state) => state.current)
  const runningIds = useRef(new Set<string>())

  useEffect(
    () =>
      window.homeport?.onNavigate((path, message) => {
        const { pathname, searchParams } = new URL(path, 'http://desktop')
        const command = searchParams.get('do')
        // An action that is requested for the open page keeps that page.
        if (command !== 'keyboard') navigate(`~${basePath}${command !== null && Object.hasOwn(menuCommands, command) ? pathname : path}`)
        if (command !== null) menuCommands[command]?.()
        if (message !== null) useUi.getState().showToast({ kind: 'failed', text: message, request_id: null, of: localInstanceId })
      }),
    [navigate],
  )

  return useCallback(
    (event) => {
      if (event.event !== 'deployment' || !window.homeport || id === localInstanceId) return
      const { deployment } = event.data
      if (!isTerminal(deployment.status)) runningIds.current.add(deployment.id)
      // Notifies once, and only of deployments that were seen running.
      else if (runningIds.current.delete(deployment.id) && deployment.status !== 'canceled') {
        const slug = findProjectSlug(cache, deployment.project_id)
        const deploymentPath = `${instanceBasePath(id).slice(basePath.length)}/projects/${slug}/deployments/${deployment.id}`
        if (slug !== undefined) void window.homeport.notify({ ...notificationText(deployment, `${slug} on ${name}`), path: deploymentPath })
      }
    },
    [cache, id, name],
  )
}

/** Menu commands beyond navigation. */
const menuCommands: Record<string, () => void> = {
  keyboard: () => useKeyboard.getState().setShortcutsOpen(true),
  'new-project': () => useUi.getState().setNewProjectOpen(true),
  'deploy-folder': () =>
    void window.homeport?.chooseFolder().then((path) => {
      if (path === null) return
      useDroppedSource.getState().setSource({ kind: 'folder', path })
      useUi.getState().setNewProjectOpen(true)
    }),
}

function notificationText(deployment: Deployment, name: string): { title: string; body: string } {
  return deployment.status === 'ready'
    ? { title: `${name} is ready`, body: deploymentTitle(deployment) }
    : { title: `${name} failed to deploy`, body: deployment.error?.message ?? deploymentTitle(deployment) }
}
