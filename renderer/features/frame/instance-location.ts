import { type BaseLocationHook } from 'wouter'
import { useBrowserLocation } from 'wouter/use-browser-location'
import { instanceIn, isStraight } from '../../stores/address.ts'

/**
 * The address, as the pages of one instance see it. Once another is in front they lead nowhere: an answer that comes late must not
 * bring its reader back. Nor does a name that an instance made up lead out of its part.
 */
export function locationOf(id: string): BaseLocationHook {
  return function useInstanceLocation() {
    const [path, go] = useBrowserLocation()
    const goOn: typeof go = (to, options) => {
      if (instanceIn(location.pathname) === id && isStraight(String(to))) go(to, options)
    }
    return [path, goOn]
  }
}

/** What a link leads to: an address that is not straight stays on the page. */
export function straightHref(href: string): string {
  return isStraight(href) ? href : '#'
}
