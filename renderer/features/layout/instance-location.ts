import { type BaseLocationHook } from 'wouter'
import { useBrowserLocation } from 'wouter/use-browser-location'
import { instanceIdFromPath, isSafePath } from '../../lib/instance-path.ts'

/**
 * The address, as the pages of one instance see it. Once another is in front they lead nowhere: an answer that comes late must not
 * bring its reader back. Nor does a name that an instance made up lead out of its part.
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

/** What a link leads to: an address that is not straight stays on the page. */
export function safeHref(href: string): string {
  return isSafePath(href) ? href : '#'
}
