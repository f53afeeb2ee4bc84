/**
 * What an instance says is data: an address leads somewhere only when it is one of the web. Every `href`, and every window that is
 * opened, that comes from data goes through here.
 */
export function safeWebUrl(text: string | null | undefined): string | undefined {
  if (typeof text !== 'string') return undefined
  const url = URL.parse(text)
  return url && (url.protocol === 'https:' || url.protocol === 'http:') && url.username === '' && url.password === '' ? url.href : undefined
}
