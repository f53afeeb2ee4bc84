import { Notification } from 'electron'
import type { DeploymentEnd } from '../server/index.ts'
import type { Place } from './links.ts'

export interface Notice {
  title: string
  body: string
  /** Where a click leads. */
  place: Place
}

const atOnce = 3

/** What is shown by the system, bounded and kept until it was clicked or is gone: a notification that nobody holds forgets its click. */
export function createNotices(options: { goTo(place: Place): void }) {
  const held = new Set<Notification>()
  const show = ({ title, body, place }: Notice): void => {
    if (!Notification.isSupported()) return
    const notification = new Notification({ title: title.slice(0, 100), body: body.slice(0, 300) })
    const letGo = () => void held.delete(notification)
    notification.on('click', () => {
      letGo()
      options.goTo(place)
    })
    notification.on('close', letGo)
    notification.on('failed', letGo)
    held.add(notification)
    for (const old of [...held].slice(0, -20)) held.delete(old)
    notification.show()
  }
  return {
    show,
    /** One word each, or one for all when many ended at once. */
    tellEnds(ended: DeploymentEnd[]): void {
      if (ended.length <= atOnce) for (const one of ended) show(noticeOf(one))
      else {
        const failed = ended.filter(({ status }) => status === 'failed').length
        show({
          title: `${ended.length} deployments ended`,
          body: failed === 0 ? 'All of them are ready.' : `${failed} of them failed.`,
          place: { path: '/projects', word: null },
        })
      }
    },
  }
}

function noticeOf({ id, slug, status, preview, title, message }: DeploymentEnd): Notice {
  const name = preview === null ? slug : `${slug} (${preview})`
  return {
    title: status === 'ready' ? `${name} is ready` : `${name} failed to deploy`,
    body: status === 'ready' ? title : (message ?? title),
    place: { path: `/projects/${slug}/deployments/${id}`, word: null },
  }
}
