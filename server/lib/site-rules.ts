/**
 * `_redirects` and `_headers` of a static site, in the format of Netlify and Cloudflare Pages. Where the two differ, Netlify's meaning applies: an
 * existing file takes precedence over a redirect without `!`, and 301 is the default status.
 */
export interface SiteRules {
  redirects: RedirectRule[]
  headers: HeaderRule[]
  /** Lines without effect and the reasons, for the build log. */
  ignored: string[]
}

export interface RedirectRule {
  from: PathPattern
  /** Required query parameters; a value `:name` captures the parameter. */
  query: [name: string, value: string][]
  to: string
  status: number
  /** Takes precedence over an existing file. */
  is_forced: boolean
}

interface HeaderRule {
  path: PathPattern
  headers: [name: string, value: string][]
}

interface PathPattern {
  expression: RegExp
  names: string[]
}

export const ruleFiles = ['_redirects', '_headers'] as const
export const maxRuleFile_bytes = 256 * 1024
const maxRules = 2_000
const maxIgnored = 20
const statuses = new Set([200, 301, 302, 303, 307, 308, 404])
/** Headers that only the edge can set. */
const reservedHeaders =
  /^(accept-ranges|age|allow|alt-svc|connection|content-(encoding|length|range)|date|etag|keep-alive|last-modified|location|server|set-cookie|te|trailer|transfer-encoding|upgrade|vary|x-cache|x-request-id)$/i

export function parseSiteRules(redirects: string, headers: string): SiteRules {
  const rules: SiteRules = { redirects: [], headers: [], ignored: [] }
  for (const [number, line] of parseLines(redirects)) {
    const rule = parseRedirect(line)
    if (typeof rule === 'string') addIgnored(rules, '_redirects', number, rule)
    else if (rules.redirects.length < maxRules) rules.redirects.push(rule)
    else addIgnored(rules, '_redirects', number, `there are more than ${maxRules} rules`)
  }
  let current: HeaderRule | undefined
  for (const [number, line] of parseLines(headers)) {
    const header = /^\s+([^\s:]+)\s*:\s*(.*)$/.exec(line)
    if (header) {
      const [, name = '', value = ''] = header
      if (!current) addIgnored(rules, '_headers', number, 'no path precedes it')
      else if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name) || /[^\t\x20-\x7e]/.test(value)) addIgnored(rules, '_headers', number, 'it is not a valid header')
      else if (reservedHeaders.test(name)) addIgnored(rules, '_headers', number, `${name} is set by Homeport`)
      else current.headers.push([name, value.trim()])
      continue
    }
    const path = parsePattern(line.trim())
    current = undefined
    if (path === undefined) addIgnored(rules, '_headers', number, 'a path must start with / and contain at most one *')
    else if (rules.headers.length >= maxRules) addIgnored(rules, '_headers', number, `there are more than ${maxRules} rules`)
    else rules.headers.push((current = { path, headers: [] }))
  }
  return rules
}

function addIgnored(rules: SiteRules, file: string, number: number, why: string): void {
  if (rules.ignored.length < maxIgnored) rules.ignored.push(`${file}, line ${number} has no effect: ${why}.`)
}

const parseLines = (text: string): [number: number, line: string][] =>
  text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .map((line, index): [number, string] => [index + 1, line.trimEnd()])
    .filter(([, line]) => line !== '' && !/^\s*#/.test(line))

function parseRedirect(line: string): RedirectRule | string {
  const fields = line
    .replace(/\s#.*$/, '')
    .trim()
    .split(/\s+/)
  const from = parsePattern(fields.shift() ?? '')
  if (from === undefined) return 'a path must start with / and contain at most one *'
  const query: [string, string][] = []
  while (fields[0] !== undefined && /^[^/=]+=/.test(fields[0]) && !/^https?:/.test(fields[0])) {
    const [name = '', ...value] = (fields.shift() ?? '').split('=')
    query.push([name, value.join('=')])
  }
  const to = fields.shift()
  if (fields.some((word) => /^[A-Za-z]+=/.test(word))) return 'conditions such as Country and Language are not supported'
  if (to === undefined || !/^(\/(?!\/)|https?:\/\/)/.test(to)) return 'its target is neither a path nor an http URL'
  const status = /^(\d{3})(!?)$/.exec(fields[0] ?? '301')
  if (!status || !statuses.has(Number(status[1]))) return 'its status must be 200, 301, 302, 303, 307, 308 or 404'
  if (fields.length > 1) return 'it contains more than two paths and a status'
  if ((status[1] === '200' || status[1] === '404') && !to.startsWith('/')) return 'proxying to other servers is not supported'
  return { from, query, to, status: Number(status[1]), is_forced: status[2] === '!' }
}

/** `/a/:name/*`: a placeholder is a whole segment; the match of `*` is called `splat`. */
function parsePattern(path: string): PathPattern | undefined {
  if (!path.startsWith('/') || path.split('*').length > 2 || path.length > 1_000) return undefined
  const names: string[] = []
  const segments = path
    .replace(/(.)\/$/, '$1')
    .slice(1)
    .split('/')
  let expression = ''
  for (const [index, segment] of segments.entries()) {
    if (/^:[A-Za-z]\w*$/.test(segment)) {
      names.push(segment.slice(1))
      expression += '/([^/]+)'
    } else if (segment === '*' && index === segments.length - 1) {
      names.push('splat')
      expression += index === 0 ? '/(.*)' : '(?:/(.*))?'
    } else {
      if (segment.includes('*')) names.push('splat')
      expression += `/${segment.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replace('*', '(.*)')}`
    }
  }
  return { expression: new RegExp(`^${expression}/?$`), names }
}

function matchPattern(pattern: PathPattern, path: string): Map<string, string> | undefined {
  const matched = pattern.expression.exec(path)
  return matched ? new Map(pattern.names.map((name, index) => [name, matched[index + 1] ?? ''])) : undefined
}

export type RuleResult = { location: string; status: number } | { path: string; status: 200 | 404; cacheable: boolean }

/** The result of the first rule that matches a request. `path` is decoded, `query` as sent, without its question mark. */
export function applyRedirects(rules: SiteRules, path: string, query: string, isForced: boolean): RuleResult | undefined {
  for (const rule of rules.redirects) {
    if (rule.is_forced !== isForced) continue
    const values = matchPattern(rule.from, path)
    if (!values || !matchQuery(rule, query, values)) continue
    const fillPlaceholders = (encode: (text: string) => string) =>
      rule.to.replace(/:([A-Za-z]\w*)/g, (whole, name: string) => (values.has(name) ? encode(values.get(name) ?? '') : whole))
    if (rule.status === 200 || rule.status === 404)
      return { path: fillPlaceholders((text) => text).replace(/[?#].*$/, ''), status: rule.status, cacheable: rule.query.length === 0 }
    const location = fillPlaceholders((text) => text.split('/').map(encodeURIComponent).join('/'))
    return { location: appendQuery(encodeURI(location).replaceAll('%25', '%'), rule.query.length === 0 ? query : ''), status: rule.status }
  }
  return undefined
}

function matchQuery(rule: RedirectRule, query: string, values: Map<string, string>): boolean {
  if (rule.query.length === 0) return true
  const parameters = new URLSearchParams(query)
  return rule.query.every(([name, expected]) => {
    const value = parameters.get(name)
    if (value === null) return false
    if (!expected.startsWith(':')) return value === expected
    values.set(expected.slice(1), value)
    return true
  })
}

function appendQuery(location: string, query: string): string {
  if (query === '' || location.includes('?')) return location
  const [address = '', fragment] = location.split('#')
  return `${address}?${query}${fragment === undefined ? '' : `#${fragment}`}`
}

/** The headers of all rules that match a path. A header set twice has both values. */
export function collectHeaders(rules: SiteRules, path: string): Map<string, { name: string; value: string }> {
  const headers = new Map<string, { name: string; value: string }>()
  for (const rule of rules.headers) {
    if (!rule.path.expression.test(path)) continue
    for (const [name, value] of rule.headers) {
      const before = headers.get(name.toLowerCase())
      headers.set(name.toLowerCase(), { name, value: before ? `${before.value}, ${value}` : value })
    }
  }
  return headers
}
