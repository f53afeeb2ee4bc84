import { safeWebUrl } from './safe-web-url.ts'

/**
 * Opens web URLs of links and of the palette. In the desktop app they open in the default browser through the bridge; in a browser they open in a
 * new tab.
 */
export function openExternalUrl(url: string): void {
  const address = safeWebUrl(url)
  if (address === undefined) return
  if (window.homeport) void window.homeport.openExternal(address)
  else window.open(address, '_blank', 'noopener')
}

/** One listener handles all links with target="_blank". */
export function interceptExternalLinks(): void {
  if (!window.homeport) return
  document.addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest<HTMLAnchorElement>('a[target=_blank]') : null
    if (event.defaultPrevented || !link || !/^https?:$/.test(link.protocol)) return
    event.preventDefault()
    openExternalUrl(link.href)
  })
}
