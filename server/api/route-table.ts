import type { OperationId } from '../contract/index.ts'
import type { HttpMethod } from '../contract/operation.ts'
import type { OperationRunner } from './run-operation.ts'
import type { PublicRoute } from './public-routes/public-route.ts'

/** The target of a path: an operation, at its own path or its alias; an operation of another instance; or a public route. */
export type ApiTarget =
  | { kind: 'operation'; id: OperationId; is_alias: boolean; run: OperationRunner }
  | { kind: 'remote'; id: OperationId }
  | { kind: 'public'; publicRoute: PublicRoute }

/** `path` as in the contract: `/v1/projects/{slug}`, `{variant}.png`, `/app/**`. */
export interface ApiRoute {
  method: HttpMethod
  path: string
  target: ApiTarget
}

export interface RouteMatch {
  target: ApiTarget
  /** Decoded. For `/**`, `path` is the whole path. */
  params: Record<string, string>
}

/**
 * Checks what h3's router has found, because it accepts other spellings of a path: trailing or double slashes, dot segments and needless escapes
 * do not match here, and `/app/` is another path than `/app`.
 */
export interface RouteTable {
  routes: readonly ApiRoute[]
  /** `found`: the index of the route that h3 found, or -1. */
  match(found: number, method: string, pathname: string): RouteMatch | undefined
  /** The routes at a path for any method. */
  listAt(pathname: string): ApiRoute[]
}

export function createRouteTable(routes: readonly ApiRoute[]): RouteTable {
  const matchers = routes.map(({ path }) => createPathMatcher(path))
  // `/v1/domains/search` is not a domain.
  const literalPaths = new Set(routes.filter(({ path }) => !/[{*]/.test(path)).map(({ path }) => path))
  const matchPath = (index: number, pathname: string) =>
    literalPaths.has(pathname) && routes[index]?.path !== pathname ? undefined : matchers[index]?.(pathname)

  return {
    routes,
    match(found, method, pathname) {
      const matchAt = (index: number): RouteMatch | undefined => {
        const route = routes[index]
        if (!route || !listRouteMethods(route).some((one) => one === method)) return undefined
        const params = matchPath(index, pathname)
        return params && { target: route.target, params }
      }
      const exact = matchAt(found)
      if (exact) return exact
      for (const index of routes.keys()) {
        const other = matchAt(index)
        if (other) return other
      }
      return undefined
    },
    listAt: (pathname) => routes.filter((_, index) => matchPath(index, pathname) !== undefined),
  }
}

/** HEAD goes with GET, but not to another instance. */
export const listRouteMethods = ({ method, target }: ApiRoute): (HttpMethod | 'HEAD')[] =>
  method === 'GET' && target.kind !== 'remote' ? ['GET', 'HEAD'] : [method]

/** A path of the contract as a pattern of h3's router. */
export const toRouterPattern = (path: string): string => path.replace(/\{(\w+)\}[^/]*/g, ':$1')

function createPathMatcher(path: string): (pathname: string) => Record<string, string> | undefined {
  if (path.endsWith('/**')) return (pathname) => (pathname.startsWith(path.slice(0, -2)) ? { path: pathname } : undefined)
  const segments = path.split('/').map((text) => {
    const [, name, suffix = ''] = /^\{(\w+)\}(.*)$/.exec(text) ?? []
    return { text, name, suffix }
  })
  return (pathname) => {
    const given = pathname.split('/')
    if (given.length !== segments.length) return undefined
    const params: Record<string, string> = {}
    for (const [index, { text, name, suffix }] of segments.entries()) {
      const segment = given[index] ?? ''
      if (name === undefined) {
        if (segment !== text) return undefined
        continue
      }
      const value = decodeParameter(segment, suffix)
      if (value === undefined) return undefined
      params[name] = value
    }
    return params
  }
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
