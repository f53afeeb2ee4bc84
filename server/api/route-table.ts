import type { HttpMethod } from '../contract/operation.ts'

/**
 * Finds what is mounted at a path. Exact: raw segments are compared as they came, so no trailing slash, doubled slash, dot
 * segment, other case or needless escape is another way to write a path. h3's own router forgives those.
 */
export interface RouteMatch<Target> {
  target: Target
  params: Record<string, string>
}

interface TrieNode<Target> {
  literals: Map<string, TrieNode<Target>>
  /** `{slug}`, with what stands after the brace: `{variant}.png`. */
  variable: { suffix: string; node: TrieNode<Target> } | undefined
  targets: Map<HttpMethod, { target: Target; names: string[] }>
  /** `/app/**`: everything below, as the parameter `path`, raw. */
  wildcard: Target | undefined
}

export interface RouteLookup<Target> {
  match: RouteMatch<Target> | undefined
  /** What is at that path with whatever method. */
  targetAtPath: Target | undefined
  /** The methods of that path; empty when there is a match, or nothing at all. */
  allow: string[]
}

export interface RouteTable<Target> {
  add(method: HttpMethod, path: string, target: Target): void
  /** HEAD finds what GET finds. `params.path` of `/**` is the whole path. */
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

/** A segment as the value of a parameter; undefined when it hides a separator or NUL, or is not UTF-8. */
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
