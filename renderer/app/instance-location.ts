import { type BaseLocationHook } from 'wouter'
import { useBrowserLocation } from 'wouter/use-browser-location'
import { instanceIdFromPath, isSafePath } from '../lib/instance-path.ts'

/**
 * The location as seen by the pages of one instance. Navigation is ignored once another instance is current, so a late response cannot move the
 * user back. A path made of names from an instance cannot leave the instance's part of the dashboard.
 */
export function createInstanceLocation(id: string): BaseLocationHook {
  return function useInstanceLocation() {
    const [path, navigate] = useBrowserLocation()
    const navigateWithin: typeof navigate = (to, options) => {
      if (instanceIdFromPath(location.pathname) === id && isSafePath(String(to))) navigate(to, options)
    }
    return [path, navigateWithin]
  }
}

/** Resolves a link. An invalid path stays on the page. */
export function safeHref(href: string): string {
  return isSafePath(href) ? href : '#'
}
