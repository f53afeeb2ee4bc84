import { readFile, realpath, stat } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { lookup } from 'mrmime'
import type { EdgeResponse, RequestContext } from '../response.ts'
import { applyRedirects, collectHeaders, parseSiteRules, maxRuleFile_bytes, ruleFiles, type SiteRules } from '../../lib/site-rules.ts'
import type { Route } from '../edge.ts'
import { edgeLimits } from '../limits.ts'
import { createPageResponse, createErrorResponse } from '../status-pages.ts'
import { openFileSlice, type StaticFileCache, type StaticFile } from './file-cache.ts'
import { negotiateCoding, isNotModified, parseRange, type ContentCoding } from './headers.ts'

/** The files of a static deployment, which the edge serves itself. */
export interface StaticSite {
  /** Synchronous for a file that is in memory and needs no compression. Never rejects. */
  respond(context: RequestContext): EdgeResponse | Promise<EdgeResponse>
}

interface ResolvedFile {
  path: string
  status: 200 | 404
  headers: SiteHeaders
}

type SiteHeaders = ReturnType<typeof collectHeaders>

export function createStaticSite(route: Extract<Route, { kind: 'static' }>, files: StaticFileCache): StaticSite {
  /** Files by URL path. The file cache checks whether a file has changed. */
  const resolvedPaths = new Map<string, ResolvedFile>()
  let root: Promise<string> | undefined
  /** Read with the first request. */
  let rules: Promise<SiteRules> | undefined
  let hasForcedRules = true

  return {
    respond(context) {
      if (context.method !== 'GET' && context.method !== 'HEAD') return methodNotAllowed(context)
      const path = parsePath(context.target)
      if (path === undefined) return createPageResponse('not_found', context, route)
      const resolved = hasForcedRules ? undefined : resolvedPaths.get(path)
      const file = resolved && files.getFresh(resolved.path)
      if (resolved && file?.content && codingFor(context, file) === undefined)
        return withBody(planResponse(context, file, resolved, undefined), file.content)
      return respondFromDisk(context, path).catch(() => createErrorResponse(500, 'The file could not be read. Try again.', context))
    },
  }

  async function respondFromDisk(context: RequestContext, path: string): Promise<EdgeResponse> {
    const result = await findFile(path, getQuery(context.target))
    if (result === undefined) return createPageResponse('not_found', context, route)
    if ('redirect' in result) return redirectSlash(result.redirect, context.target)
    if ('location' in result) return createRedirect(result.location, result.status)
    const { file, resolved } = result
    const coding = codingFor(context, file)
    const compressed = coding ? await files.getCompressed(file, coding) : null
    const content = compressed ?? file.content
    const response = planResponse(context, file, resolved, compressed ? coding : undefined, compressed?.length)
    if (content) return withBody(response, content)
    if (response.end === response.start || context.method === 'HEAD') return { ...response, body: null }
    const slice = await openFileSlice(file.path, response.start, response.end)
    return slice ? { ...response, body: slice } : createPageResponse('not_found', context, route)
  }

  type FoundFile = { file: StaticFile; resolved: ResolvedFile }

  async function findFile(
    path: string,
    query: string,
  ): Promise<FoundFile | { redirect: 'add' | 'strip' } | { location: string; status: number } | undefined> {
    root ??= realpath(route.directory)
    const base = await root.catch((error: unknown) => {
      root = undefined
      throw error
    })
    rules ??= readRules(base)
    const all = await rules.catch((error: unknown) => {
      rules = undefined
      throw error
    })
    hasForcedRules = all.redirects.some((rule) => rule.is_forced)
    const tryFile = async (name: string, status: 200 | 404, isCacheable = true): Promise<FoundFile | undefined> => {
      const inside = isRuleFile(name) ? undefined : await resolveInside(base, name)
      const loaded = inside && (await files.get(inside))
      if (!loaded) return undefined
      const resolved = { path: loaded.path, status, headers: collectHeaders(all, path) }
      if (resolvedPaths.size >= edgeLimits.cached_paths) resolvedPaths.clear()
      if (isCacheable) resolvedPaths.set(path, resolved)
      return { file: loaded, resolved }
    }
    const applyRules = async (forced: boolean) => {
      const rule = applyRedirects(all, path, query, forced)
      if (rule === undefined || 'location' in rule) return rule
      if (isHidden(rule.path)) return undefined
      for (const name of rule.path.endsWith('/') ? [`${rule.path}index.html`] : [rule.path, `${rule.path}.html`, `${rule.path}/index.html`]) {
        const loaded = await tryFile(name, rule.status, rule.cacheable && !forced)
        if (loaded) return loaded
      }
      return undefined
    }
    const forcedResult = hasForcedRules ? await applyRules(true) : undefined
    if (forcedResult) return forcedResult
    const resolved = resolvedPaths.get(path)
    const file = resolved && (await files.get(resolved.path))
    if (resolved && file) return { file, resolved }
    resolvedPaths.delete(path)
    if (path.endsWith('/')) {
      const index = await tryFile(`${path}index.html`, 200)
      if (index) return index
      if (path !== '/' && (await resolveInside(base, `${path.slice(0, -1)}.html`))) return { redirect: 'strip' }
    } else {
      const exact = await tryFile(path, 200)
      if (exact) return exact
      const clean = await tryFile(`${path}.html`, 200)
      if (clean) return clean
      if (await resolveInside(base, `${path}/index.html`)) return { redirect: 'add' }
    }
    const ruleResult = await applyRules(false)
    if (ruleResult) return ruleResult
    // A missing asset answers 404, because the app's page in its place would be confusing.
    if (route.spa_fallback && !looksLikeAsset(path)) return tryFile('/index.html', 200)
    return tryFile('/404.html', 404)
  }
}

/** The decoded path of a request target; `undefined` for path traversal, hidden files and invalid characters. */
function parsePath(target: string): string | undefined {
  const query = target.indexOf('?')
  let path = query < 0 ? target : target.slice(0, query)
  if (path.includes('%')) {
    // An encoded slash is rejected, because a component that compares undecoded paths would see a different path.
    if (/%2f|%5c|%00/i.test(path)) return undefined
    try {
      path = decodeURIComponent(path)
    } catch {
      return undefined
    }
  }
  if (/[\\\0]/.test(path) || path.length > 4096) return undefined
  return isHidden(path) ? undefined : path
}

/** Hidden files, path traversal and empty segments. */
function isHidden(path: string): boolean {
  const segments = path.split('/').slice(1)
  return segments.some(
    (segment, i) => (segment === '' && i < segments.length - 1) || (segment.startsWith('.') && !(i === 0 && segment === '.well-known')),
  )
}

const getQuery = (target: string): string => (target.includes('?') ? target.slice(target.indexOf('?') + 1) : '')

/** Ignores case, because some file systems do. */
const isRuleFile = (name: string): boolean => ruleFiles.some((file) => name.toLowerCase() === `/${file}`)

async function readRules(base: string): Promise<SiteRules> {
  const [redirects = '', headers = ''] = await Promise.all(
    ruleFiles.map(async (name) => {
      const path = await resolveInside(base, name)
      return path !== undefined && (await stat(path)).size <= maxRuleFile_bytes ? readFile(path, 'utf8') : ''
    }),
  )
  return parseSiteRules(redirects, headers)
}

/** The real path of a regular file in the folder, with links resolved; `undefined` if there is none or a link leads outside. */
async function resolveInside(base: string, name: string): Promise<string | undefined> {
  try {
    const real = await realpath(join(base, name))
    return real.startsWith(base.endsWith(sep) ? base : base + sep) && (await stat(real)).isFile() ? real : undefined
  } catch {
    return undefined
  }
}

const looksLikeAsset = (path: string): boolean => {
  const name = path.slice(path.lastIndexOf('/') + 1)
  const type = name.includes('.') ? lookup(name) : undefined
  return type !== undefined && type !== 'text/html'
}

/** A range refers to the uncompressed file. */
const codingFor = (context: RequestContext, file: StaticFile): ContentCoding | undefined =>
  file.isCompressible && file.size >= edgeLimits.compress_min_bytes && context.header('range') === undefined
    ? negotiateCoding(context.header('accept-encoding'))
    : undefined

interface PlannedResponse extends EdgeResponse {
  start: number
  end: number
}

/** Status, headers and range of the response, based on the request's conditions. */
function planResponse(
  context: RequestContext,
  file: StaticFile,
  resolved: ResolvedFile,
  coding: ContentCoding | undefined,
  compressed_size?: number,
): PlannedResponse {
  const { status, headers } = resolved
  const size = compressed_size ?? file.size
  const etag = `"${file.etag}${coding ? `-${coding}` : ''}"`
  const vary = file.isCompressible ? 'Vary: Accept-Encoding\r\n' : ''
  const validators = `ETag: ${etag}\r\nLast-Modified: ${new Date(file.modified_ms).toUTCString()}\r\n${headers.has('cache-control') ? '' : `Cache-Control: ${status === 404 ? 'no-cache' : file.cache_control}\r\n`}${vary}${formatHeaders(headers)}X-Cache: HIT\r\n`
  if (status === 200 && isNotModified(context, etag, file.modified_ms))
    return { status: 304, lines: validators, body: null, length: -1, start: 0, end: 0 }
  const lines = `${headers.has('content-type') ? '' : `Content-Type: ${file.type}\r\n`}${coding ? `Content-Encoding: ${coding}\r\n` : ''}${validators}${status === 200 ? 'Accept-Ranges: bytes\r\n' : ''}`
  const range = status === 200 && !coding ? parseRange(context, size, etag, file.modified_ms) : undefined
  if (range === 'none') return { status: 416, lines: `${validators}Content-Range: bytes */${size}\r\n`, body: null, length: 0, start: 0, end: 0 }
  if (range) {
    const { start, end } = range
    return { status: 206, lines: `${lines}Content-Range: bytes ${start}-${end - 1}/${size}\r\n`, body: null, length: end - start, start, end }
  }
  return { status, lines, body: null, length: size, start: 0, end: size }
}

const formatHeaders = (headers: SiteHeaders): string => [...headers.values()].map(({ name, value }) => `${name}: ${value}\r\n`).join('')

const withBody = (response: PlannedResponse, content: Buffer): EdgeResponse => ({
  status: response.status,
  lines: response.lines,
  length: response.length,
  body: response.end > response.start ? content.subarray(response.start, response.end) : null,
})

/** Permanent, but revalidated each time, because the next deployment may have another layout. */
function redirectSlash(slash: 'add' | 'strip', target: string): EdgeResponse {
  const query = target.indexOf('?')
  const path = query < 0 ? target : target.slice(0, query)
  // The target as sent, so that nothing needs encoding again. A target that starts with two slashes (another host) was rejected before.
  const location = (slash === 'add' ? `${path}/` : path.slice(0, -1)) + (query < 0 ? '' : target.slice(query))
  return { status: 308, lines: `Location: ${location}\r\nCache-Control: no-cache\r\nX-Cache: HIT\r\n`, body: null, length: 0 }
}

const createRedirect = (location: string, status: number): EdgeResponse => ({
  status,
  lines: `Location: ${location}\r\nCache-Control: no-cache\r\nX-Cache: HIT\r\n`,
  body: null,
  length: 0,
})

function methodNotAllowed(context: RequestContext): EdgeResponse {
  if (context.method === 'OPTIONS') return { status: 204, lines: 'Allow: GET, HEAD, OPTIONS\r\n', body: null, length: -1 }
  const response = createErrorResponse(405, 'Static files support only GET and HEAD.', context)
  return { ...response, lines: `${response.lines}Allow: GET, HEAD, OPTIONS\r\n` }
}
