import type { HttpMethod } from '../contract/operation.ts'

/**
 * Matches paths exactly: raw segments are compared, so trailing or double slashes, dot segments, other case and needless escapes do not
 * match. h3's own router would accept those.
 */
export interface RouteMatch<Target> {
  target: Target
  params: Record<string, string>
}

interface TrieNode<Target> {
  literals: Map<string, TrieNode<Target>>
  /** `{slug}`, or with a suffix: `{variant}.png`. */
  variable: { suffix: string; node: TrieNode<Target> } | undefined
  targets: Map<HttpMethod, { target: Target; names: string[] }>
  /** `/app/**`: matches every path below; the parameter `path` is the raw path. */
  wildcard: Target | undefined
}

export interface RouteLookup<Target> {
  match: RouteMatch<Target> | undefined
  /** The target at the path for any method. */
  targetAtPath: Target | undefined
  /** The methods of the path; empty if there is a match or the path is unknown. */
  allow: string[]
}

export interface RouteTable<Target> {
  add(method: HttpMethod, path: string, target: Target): void
  /** HEAD matches GET. For `/**`, `params.path` is the whole path. */
  find(method: string, pathname: string): RouteLookup<Target>
}

export function createRouteTable<Target>(): RouteTable<Target> {
  const root = emptyNode<Target>()

  return {
    add(method, path, target) {
      const names: string[] = []
      let node = root
      for (const segment of path.slice(1).split('/')) {
        if (segment === '**') {
          node.wildcard = target
          return
        }
        const variable = segment.match(/^\{(\w+)\}(.*)$/)
        if (variable) {
          names.push(variable[1] ?? '')
          node.variable ??= { suffix: variable[2] ?? '', node: emptyNode() }
          if (node.variable.suffix !== variable[2]) throw new Error(`${path} and another path differ only after a parameter`)
          node = node.variable.node
        } else {
          let next = node.literals.get(segment)
          if (!next) node.literals.set(segment, (next = emptyNode()))
          node = next
        }
      }
      if (node.targets.has(method)) throw new Error(`${method} ${path} is mounted twice`)
      node.targets.set(method, { target, names })
    },

    find(method, pathname) {
      const values: string[] = []
      let node = root
      for (const segment of pathname.slice(1).split('/')) {
        const fixed = node.literals.get(segment)
        if (fixed) {
          node = fixed
          continue
        }
        if (node.wildcard !== undefined) return matchWildcard(method, node.wildcard, pathname)
        const value = node.variable && decodeParameter(segment, node.variable.suffix)
        if (!node.variable || value === undefined) return noMatch
        values.push(value)
        node = node.variable.node
      }
      const found = node.targets.get((method === 'HEAD' ? 'GET' : method) as HttpMethod)
      if (!found) return { match: undefined, targetAtPath: node.targets.values().next().value?.target, allow: allowedMethods(node) }
      const params = Object.fromEntries(found.names.map((name, i) => [name, values[i] ?? '']))
      return { match: { target: found.target, params }, targetAtPath: found.target, allow: [] }
    },
  }
}

const noMatch = { match: undefined, targetAtPath: undefined, allow: [] }

function matchWildcard<Target>(method: string, target: Target, path: string): RouteLookup<Target> {
  const isRead = method === 'GET' || method === 'HEAD'
  return { match: isRead ? { target, params: { path } } : undefined, targetAtPath: target, allow: isRead ? [] : ['GET', 'HEAD', 'OPTIONS'] }
}

const emptyNode = <Target>(): TrieNode<Target> => ({ literals: new Map(), variable: undefined, targets: new Map(), wildcard: undefined })

function allowedMethods<Target>(node: TrieNode<Target>): string[] {
  if (node.targets.size === 0) return []
  const methods: string[] = [...node.targets.keys()]
  if (node.targets.has('GET')) methods.push('HEAD')
  return [...methods, 'OPTIONS']
}

/** Decodes a segment to a parameter; undefined if it contains an encoded separator or NUL, or is not UTF-8. */
function decodeParameter(segment: string, suffix: string): string | undefined {
  if (segment.length <= suffix.length || !segment.endsWith(suffix) || /%(2f|5c|00)|\\/i.test(segment)) return undefined
  const raw = segment.slice(0, segment.length - suffix.length)
  if (!raw.includes('%')) return raw === '.' || raw === '..' ? undefined : raw
  try {
    const value = decodeURIComponent(raw)
    return value === '.' || value === '..' ? undefined : value
  } catch {
    return undefined
  }
}
