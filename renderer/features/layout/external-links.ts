import { safeWebUrl } from '../../lib/safe-web-url.ts'

/**
 * In the desktop window an address of the web opens in the person's own browser, by the bridge: a link that is pressed, and
 * what the palette opens. In a browser it opens in a tab of its own, as ever.
 */
export function openExternalUrl(url: string): void {
  const address = safeWebUrl(url)
  if (address === undefined) return
  if (window.homeport) void window.homeport.openExternal(address)
  else window.open(address, '_blank', 'noopener')
}

/** Links say it by their target; listening once is enough for all of them. */
export function interceptExternalLinks(): void {
  if (!window.homeport) return
  document.addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest<HTMLAnchorElement>('a[target=_blank]') : null
    if (event.defaultPrevented || !link || !/^https?:$/.test(link.protocol)) return
    event.preventDefault()
    openExternalUrl(link.href)
  })
}
