import { readFile, realpath, stat } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { lookup } from 'mrmime'
import type { Answer, Visit } from './answer.ts'
import { followRule, headersFor, parseSiteRules, ruleFile_bytes, ruleFiles, type SiteRules } from '../lib/site-rules.ts'
import type { Route } from './edge.ts'
import { limits } from './limits.ts'
import { pageAnswer, refusalAnswer } from './pages.ts'
import { openSlice, type HotFiles, type StaticFile } from './static-files.ts'
import { chooseCoding, isUnchanged, rangeOf, type Coding } from './static-headers.ts'

/** The files of a static deployment, served by the edge itself. */
export interface StaticSite {
  /** At once for a file that is in memory and needs no compressing; never rejects. */
  answer(visit: Visit): Answer | Promise<Answer>
}

interface Place {
  path: string
  status: 200 | 404
  headers: OwnHeaders
}

type OwnHeaders = ReturnType<typeof headersFor>

export function createStaticSite(route: Extract<Route, { kind: 'static' }>, files: HotFiles): StaticSite {
  /** Address -> file, for what was found; whether a file has changed is the hot files' business. */
  const known = new Map<string, Place>()
  let root: Promise<string> | undefined
  /** Read with the first request: before that nothing is known. */
  let rules: Promise<SiteRules> | undefined
  let hasForced = true

  return {
    answer(visit) {
      if (visit.method !== 'GET' && visit.method !== 'HEAD') return notTaken(visit)
      const path = pathOf(visit.target)
      if (path === undefined) return pageAnswer('not_found', visit, route)
      const place = hasForced ? undefined : known.get(path)
      const file = place && files.peek(place.path)
      if (place && file?.content && codingFor(visit, file) === undefined) return withBody(outline(visit, file, place, undefined), file.content)
      return slowly(visit, path).catch(() => refusalAnswer(500, 'The file could not be read.', visit))
    },
  }

  async function slowly(visit: Visit, path: string): Promise<Answer> {
    const found = await find(path, queryOf(visit.target))
    if (found === undefined) return pageAnswer('not_found', visit, route)
    if ('redirect' in found) return redirect(found.redirect, visit.target)
    if ('location' in found) return redirectTo(found.location, found.status)
    const { file, place } = found
    const wanted = codingFor(visit, file)
    const coded = wanted ? await files.coded(file, wanted) : null
    const content = coded ?? file.content
    const answer = outline(visit, file, place, coded ? wanted : undefined, coded?.length)
    if (content) return withBody(answer, content)
    if (answer.end === answer.start || visit.method === 'HEAD') return { ...answer, body: null }
    const slice = await openSlice(file.path, answer.start, answer.end)
    return slice ? { ...answer, body: slice } : pageAnswer('not_found', visit, route)
  }

  type Found = { file: StaticFile; place: Place }

  async function find(
    path: string,
    query: string,
  ): Promise<Found | { redirect: 'add' | 'strip' } | { location: string; status: number } | undefined> {
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
    hasForced = all.redirects.some((rule) => rule.forced)
    const take = async (name: string, status: 200 | 404, keeps = true): Promise<Found | undefined> => {
      const inside = isRuleFile(name) ? undefined : await contained(base, name)
      const taken = inside && (await files.get(inside))
      if (!taken) return undefined
      const place = { path: taken.path, status, headers: headersFor(all, path) }
      if (known.size >= limits.known_paths) known.clear()
      if (keeps) known.set(path, place)
      return { file: taken, place }
    }
    const follow = async (forced: boolean) => {
      const rule = followRule(all, path, query, forced)
      if (rule === undefined || 'location' in rule) return rule
      if (isHidden(rule.path)) return undefined
      for (const name of rule.path.endsWith('/') ? [`${rule.path}index.html`] : [rule.path, `${rule.path}.html`, `${rule.path}/index.html`]) {
        const taken = await take(name, rule.status, rule.cacheable && !forced)
        if (taken) return taken
      }
      return undefined
    }
    const before = hasForced ? await follow(true) : undefined
    if (before) return before
    const place = known.get(path)
    const file = place && (await files.get(place.path))
    if (place && file) return { file, place }
    known.delete(path)
    if (path.endsWith('/')) {
      const index = await take(`${path}index.html`, 200)
      if (index) return index
      if (path !== '/' && (await contained(base, `${path.slice(0, -1)}.html`))) return { redirect: 'strip' }
    } else {
      const exact = await take(path, 200)
      if (exact) return exact
      const clean = await take(`${path}.html`, 200)
      if (clean) return clean
      if (await contained(base, `${path}/index.html`)) return { redirect: 'add' }
    }
    const after = await follow(false)
    if (after) return after
    // A missing picture or script stays missing: the app's page under its name would only confuse.
    if (route.spa_fallback && !looksLikeAsset(path)) return take('/index.html', 200)
    return take('/404.html', 404)
  }
}

/** The decoded path of a target; `undefined` for what must not be looked up: ways out, hidden files, signs that no file has. */
function pathOf(target: string): string | undefined {
  const query = target.indexOf('?')
  let path = query < 0 ? target : target.slice(0, query)
  if (path.includes('%')) {
    // An encoded slash is no slash: it would be another path to whoever looks at it undecoded.
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

/** Hidden files, ways out and empty segments. */
function isHidden(path: string): boolean {
  const segments = path.split('/').slice(1)
  return segments.some(
    (segment, i) => (segment === '' && i < segments.length - 1) || (segment.startsWith('.') && !(i === 0 && segment === '.well-known')),
  )
}

const queryOf = (target: string): string => (target.includes('?') ? target.slice(target.indexOf('?') + 1) : '')

/** In any case of letters, as some file systems take them for the same. */
const isRuleFile = (name: string): boolean => ruleFiles.some((file) => name.toLowerCase() === `/${file}`)

async function readRules(base: string): Promise<SiteRules> {
  const [redirects = '', headers = ''] = await Promise.all(
    ruleFiles.map(async (name) => {
      const path = await contained(base, name)
      return path !== undefined && (await stat(path)).size <= ruleFile_bytes ? readFile(path, 'utf8') : ''
    }),
  )
  return parseSiteRules(redirects, headers)
}

/** The real path of a regular file in the folder, every link resolved; `undefined` when there is none or a link leads out. */
async function contained(base: string, name: string): Promise<string | undefined> {
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

/** Ranges are of the plain file: a part of a compressed one is no use to anybody. */
const codingFor = (visit: Visit, file: StaticFile): Coding | undefined =>
  file.compressible && file.size >= limits.compress_min_bytes && visit.header('range') === undefined
    ? chooseCoding(visit.header('accept-encoding'))
    : undefined

interface Outline extends Answer {
  start: number
  end: number
}

/** Status, headers and extent of the answer, by the conditions and the range of the request. */
function outline(visit: Visit, file: StaticFile, place: Place, coding: Coding | undefined, coded_size?: number): Outline {
  const { status, headers } = place
  const size = coded_size ?? file.size
  const etag = `"${file.tag}${coding ? `-${coding}` : ''}"`
  const vary = file.compressible ? 'Vary: Accept-Encoding\r\n' : ''
  const validators = `ETag: ${etag}\r\nLast-Modified: ${new Date(file.modified_ms).toUTCString()}\r\n${headers.has('cache-control') ? '' : `Cache-Control: ${status === 404 ? 'no-cache' : file.cache_control}\r\n`}${vary}${linesOf(headers)}X-Cache: HIT\r\n`
  if (status === 200 && isUnchanged(visit, etag, file.modified_ms))
    return { status: 304, lines: validators, body: null, length: -1, start: 0, end: 0 }
  const lines = `${headers.has('content-type') ? '' : `Content-Type: ${file.type}\r\n`}${coding ? `Content-Encoding: ${coding}\r\n` : ''}${validators}${status === 200 ? 'Accept-Ranges: bytes\r\n' : ''}`
  const range = status === 200 && !coding ? rangeOf(visit, size, etag, file.modified_ms) : undefined
  if (range === 'none') return { status: 416, lines: `${validators}Content-Range: bytes */${size}\r\n`, body: null, length: 0, start: 0, end: 0 }
  if (range) {
    const { start, end } = range
    return { status: 206, lines: `${lines}Content-Range: bytes ${start}-${end - 1}/${size}\r\n`, body: null, length: end - start, start, end }
  }
  return { status, lines, body: null, length: size, start: 0, end: size }
}

const linesOf = (headers: OwnHeaders): string => [...headers.values()].map(({ name, value }) => `${name}: ${value}\r\n`).join('')

const withBody = (answer: Outline, content: Buffer): Answer => ({
  status: answer.status,
  lines: answer.lines,
  length: answer.length,
  body: answer.end > answer.start ? content.subarray(answer.start, answer.end) : null,
})

/** Permanent in meaning, but asked again each time: the next deployment may have another layout. */
function redirect(slash: 'add' | 'strip', target: string): Answer {
  const query = target.indexOf('?')
  const path = query < 0 ? target : target.slice(0, query)
  // As it was sent, so that nothing has to be encoded again; two slashes at its start (another host) were refused before.
  const location = (slash === 'add' ? `${path}/` : path.slice(0, -1)) + (query < 0 ? '' : target.slice(query))
  return { status: 308, lines: `Location: ${location}\r\nCache-Control: no-cache\r\nX-Cache: HIT\r\n`, body: null, length: 0 }
}

const redirectTo = (location: string, status: number): Answer => ({
  status,
  lines: `Location: ${location}\r\nCache-Control: no-cache\r\nX-Cache: HIT\r\n`,
  body: null,
  length: 0,
})

function notTaken(visit: Visit): Answer {
  if (visit.method === 'OPTIONS') return { status: 204, lines: 'Allow: GET, HEAD, OPTIONS\r\n', body: null, length: -1 }
  const answer = refusalAnswer(405, 'Static files are only read: GET and HEAD.', visit)
  return { ...answer, lines: `${answer.lines}Allow: GET, HEAD, OPTIONS\r\n` }
}
