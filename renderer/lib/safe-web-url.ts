/**
 * Data from an instance is untrusted, so only http and https URLs become links. Every `href` and every opened window with a URL from data uses this
 * function.
 */
export function safeWebUrl(text: string | null | undefined): string | undefined {
  if (typeof text !== 'string') return undefined
  const url = URL.parse(text)
  return url && (url.protocol === 'https:' || url.protocol === 'http:') && url.username === '' && url.password === '' ? url.href : undefined
}
