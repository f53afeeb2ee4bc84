import { Notification } from 'electron'
import type { DesktopDeploymentResult } from '../server/index.ts'
import type { DashboardLocation } from './deep-links.ts'

export interface DesktopNotification {
  title: string
  body: string
  /** The page that a click opens. */
  location: DashboardLocation
}

const maxSeparateNotifications = 3

/**
 * Shows system notifications. A limited number is kept referenced until clicked or closed, because a garbage-collected notification loses its click
 * handler.
 */
export function createNotifications(options: { navigate(location: DashboardLocation): void }) {
  const openNotifications = new Set<Notification>()
  const show = ({ title, body, location }: DesktopNotification): void => {
    if (!Notification.isSupported()) return
    const notification = new Notification({ title: title.slice(0, 100), body: body.slice(0, 300) })
    const release = () => void openNotifications.delete(notification)
    notification.on('click', () => {
      release()
      options.navigate(location)
    })
    notification.on('close', release)
    notification.on('failed', release)
    openNotifications.add(notification)
    for (const oldest of [...openNotifications].slice(0, -20)) openNotifications.delete(oldest)
    notification.show()
  }
  return {
    show,
    /** One notification per deployment, or one for all if many ended at once. */
    showDeploymentResults(deployments: DesktopDeploymentResult[]): void {
      if (deployments.length <= maxSeparateNotifications) for (const deployment of deployments) show(deploymentNotification(deployment))
      else {
        const failed = deployments.filter(({ status }) => status === 'failed').length
        show({
          title: `${deployments.length} deployments finished`,
          body: failed === 0 ? 'All are ready.' : `${failed} failed.`,
          location: { path: '/projects', message: null },
        })
      }
    },
  }
}

function deploymentNotification({ id, slug, status, preview, title, message }: DesktopDeploymentResult): DesktopNotification {
  const name = preview === null ? slug : `${slug} (${preview})`
  return {
    title: status === 'ready' ? `${name} is ready` : `${name} failed to deploy`,
    body: status === 'ready' ? title : (message ?? title),
    location: { path: `/projects/${slug}/deployments/${id}`, message: null },
  }
}
