/** One cache in a `Cache-Status` header (RFC 9211): its name and parameters. */
export interface CacheStatusMember {
  name: string
  /** Parameters without quotes; `true` for a parameter without a value. */
  parameters: Map<string, string | true>
}

/** Parses the header; the cache closest to the app comes first. Invalid members are skipped. */
export function parseCacheStatus(header: string): CacheStatusMember[] {
  return splitOutsideQuotes(header, ',').flatMap((member) => {
    const [name = '', ...rest] = splitOutsideQuotes(member, ';').map((part) => part.trim())
    if (name === '') return []
    const parameters = new Map<string, string | true>()
    for (const part of rest) {
      const at = part.indexOf('=')
      if (at < 0) parameters.set(part, true)
      else parameters.set(part.slice(0, at).trim(), unquote(part.slice(at + 1).trim()))
    }
    return [{ name: unquote(name), parameters }]
  })
}

const forwardReasons: Record<string, string> = {
  bypass: 'is configured not to cache this request',
  method: 'forwarded the request, because responses to this method are never cached',
  'uri-miss': 'had nothing stored for this URL',
  'vary-miss': 'had a stored response, but not for these request headers',
  miss: 'had no matching stored response',
  request: 'was instructed by the request to contact the app',
  stale: 'had a stale response that needed revalidation',
  partial: 'had only part of the response',
}

/** Describes one cache's handling of the response in a sentence. */
export function describeCacheMember({ name, parameters }: CacheStatusMember): string {
  const clauses: string[] = []
  const ttl = Number(parameters.get('ttl'))
  if (parameters.has('hit')) {
    clauses.push('served a stored response')
    if (parameters.has('ttl') && Number.isFinite(ttl)) clauses.push(ttl < 0 ? `stale for ${-ttl} s` : `fresh for another ${ttl} s`)
  } else {
    const forward = parameters.get('fwd')
    clauses.push(typeof forward === 'string' ? (forwardReasons[forward] ?? `forwarded the request (${forward})`) : 'forwarded the request')
    const status = parameters.get('fwd-status')
    if (typeof status === 'string') clauses.push(`the app returned ${status}`)
    if (parameters.has('collapsed')) clauses.push('the request was collapsed with an identical one')
    if (parameters.has('stored')) clauses.push('the response is stored now')
  }
  const detail = parameters.get('detail')
  return `${name} ${clauses.join('; ')}${typeof detail === 'string' ? ` (${detail})` : ''}.`
}

/** Splits at the separator outside of quotes. */
function splitOutsideQuotes(text: string, separator: string): string[] {
  const parts = ['']
  let isQuoted = false
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at)
    if (character === '\\' && isQuoted) {
      parts[parts.length - 1] += character + text.charAt(++at)
      continue
    }
    if (character === '"') isQuoted = !isQuoted
    if (character === separator && !isQuoted) parts.push('')
    else parts[parts.length - 1] += character
  }
  return parts
}

function unquote(text: string): string {
  return text.startsWith('"') && text.endsWith('"') && text.length > 1 ? text.slice(1, -1).replace(/\\(.)/g, '$1') : text
}
