/** One cache on the way, as `Cache-Status` (RFC 9211) tells: its name, and what it says of itself. */
export interface CacheStatusMember {
  name: string
  /** Parameters without their quotes; `true` for one that stands alone. */
  parameters: Map<string, string | true>
}

/** Reads the header; the step nearest to the app comes first. What cannot be read is left out. */
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
  bypass: 'was set up not to look for it',
  method: 'passed it on, as its method is never answered from a store',
  'uri-miss': 'had nothing stored under this address',
  'vary-miss': 'had it stored, but not for request headers like these',
  miss: 'had nothing stored that fits',
  request: 'was told by the request to ask the app',
  stale: 'had it, but too old to be given without asking',
  partial: 'had only a part of it',
}

/** What a cache says of itself, in a sentence. */
export function describeCacheMember({ name, parameters }: CacheStatusMember): string {
  const clauses: string[] = []
  const ttl = Number(parameters.get('ttl'))
  if (parameters.has('hit')) {
    clauses.push('answered from its store')
    if (parameters.has('ttl') && Number.isFinite(ttl)) clauses.push(ttl < 0 ? `stale for ${-ttl} s` : `fresh for another ${ttl} s`)
  } else {
    const forward = parameters.get('fwd')
    clauses.push(typeof forward === 'string' ? (forwardReasons[forward] ?? `asked further on (${forward})`) : 'did not answer by itself')
    const status = parameters.get('fwd-status')
    if (typeof status === 'string') clauses.push(`the app answered ${status}`)
    if (parameters.has('collapsed')) clauses.push('it shared the request of somebody who asked at the same time')
    if (parameters.has('stored')) clauses.push('the answer is stored now')
  }
  const detail = parameters.get('detail')
  return `${name} ${clauses.join('; ')}${typeof detail === 'string' ? ` (${detail})` : ''}.`
}

/** Splits where the mark is not inside of quotes. */
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
