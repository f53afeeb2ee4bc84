import { lookup } from 'mrmime'

/** The content type, with a charset for text. */
export function contentTypeOf(path: string): string {
  const type = /(?:^|\/)apple-app-site-association$/.test(path) ? 'application/json' : (lookup(path) ?? 'application/octet-stream')
  return isText(type) ? `${type}; charset=utf-8` : type
}

const isText = (type: string): boolean => /^text\/|[/+](?:json|xml|javascript|ecmascript|manifest)$|^application\/(?:manifest\+json|x-sh)$/.test(type)

/** Whether compressing a content type is worthwhile. Images, video and woff are already compressed. */
export const isCompressible = (type: string): boolean =>
  isText(type.split(';')[0] ?? '') ||
  /^(?:application\/(?:wasm|vnd\.ms-fontobject|rtf|x-ndjson)|font\/(?:ttf|otf|collection)|image\/(?:bmp|x-icon|vnd\.microsoft\.icon))/.test(type)

const hashedAssetFolder = /(?:^|\/)(?:assets|_astro|_nuxt|_next\/static|_app\/immutable|static\/(?:js|css|media)|chunks?)\//
const hashedAssetName = /[.-]([\w-]{8,32})\.(?:m?js|css|woff2?|ttf|otf|png|jpe?g|gif|webp|avif|svg|ico|wasm|mp4|webm|json|map)$/

/**
 * How long a browser may keep a file: forever if its name contains a content hash, otherwise it revalidates each time. Only names that a bundler
 * generates count, because a wrong `immutable` cannot be revoked.
 */
export function cacheControlFor(path: string): string {
  if (/\.html?$/i.test(path)) return 'no-cache'
  const hash = hashedAssetName.exec(path)?.[1]
  const hex = hash !== undefined && /\d/.test(hash) && /[a-z]/i.test(hash) && (/^[0-9a-f]+$/.test(hash) || /^[0-9A-Z]+$/.test(hash))
  const mixed = hash !== undefined && hashedAssetFolder.test(path) && /[0-9]|.[A-Z]/.test(hash)
  return hex || mixed ? 'public, max-age=31536000, immutable' : 'public, max-age=0, must-revalidate'
}

export type ContentCoding = 'br' | 'gzip'

/** The best coding that the client accepts, or none. */
export function negotiateCoding(accept: string | undefined): ContentCoding | undefined {
  if (!accept) return undefined
  const weights = new Map<string, number>()
  for (const part of accept.toLowerCase().split(',')) {
    const [name, ...parameters] = part.split(';').map((text) => text.trim())
    const q = parameters.find((parameter) => parameter.startsWith('q='))
    weights.set(name ?? '', q === undefined ? 1 : Number(q.slice(2)) || 0)
  }
  const weight = (coding: string): number => weights.get(coding) ?? weights.get('*') ?? 0
  const br = weight('br')
  const gzip = Math.max(weight('gzip'), weights.get('x-gzip') ?? 0)
  if (br > 0 && br >= gzip) return 'br'
  return gzip > 0 ? 'gzip' : undefined
}

export interface RequestHeaders {
  header(name: string): string | undefined
}

/** Whether the client has this version: 304. */
export function isNotModified(request: RequestHeaders, etag: string, modified_ms: number): boolean {
  const noneMatch = request.header('if-none-match')
  if (noneMatch !== undefined) return noneMatch.trim() === '*' || noneMatch.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag)
  const since = Date.parse(request.header('if-modified-since') ?? '')
  return !Number.isNaN(since) && Math.floor(modified_ms / 1000) * 1000 <= since
}

/**
 * The requested range as `[start, end)`. `undefined`: the whole file (no range, several ranges, invalid, or a changed version); `'none'`: outside of
 * the file.
 */
export function parseRange(
  request: RequestHeaders,
  size: number,
  etag: string,
  modified_ms: number,
): { start: number; end: number } | 'none' | undefined {
  const range = request.header('range')
  if (range === undefined) return undefined
  const match = /^bytes=[ ]*(\d{0,15})-(\d{0,15})[ ]*$/i.exec(range)
  if (!match || (match[1] === '' && match[2] === '')) return undefined
  const ifRange = request.header('if-range')?.trim()
  if (ifRange !== undefined && ifRange !== etag && Date.parse(ifRange) !== Math.floor(modified_ms / 1000) * 1000) return undefined
  const [, first = '', last = ''] = match
  if (first === '') {
    const count = Math.min(Number(last), size)
    return count === 0 ? 'none' : { start: size - count, end: size }
  }
  const start = Number(first)
  const end = last === '' ? size : Math.min(Number(last) + 1, size)
  if (last !== '' && Number(last) < start) return undefined
  return start >= size ? 'none' : { start, end }
}
