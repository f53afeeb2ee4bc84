import { CacheEntry, type UrlEntry } from './entry.ts'
import type { StoredRange } from './partial-content.ts'
import type { StoragePolicy } from './storage-policy.ts'

/** A stored response as edge workers send it to each other. */
export interface CachedResponse {
  project_id: string
  origin: string
  target: string
  variant: string
  tags: readonly string[]
  status: number
  policy: StoragePolicy
  stored_ms: number
  part: StoredRange | null
  /** Status line and header fields, then the body, in Base64. */
  bytes: string
  lines_end: number
}

/** Null if its bytes are no longer in memory. */
export function exportEntry(projectId: string, entry: CacheEntry): CachedResponse | null {
  if (entry.serialized === null) return null
  const { urlEntry, variant, tags, status, policy, stored_ms, part, lines_end } = entry
  return {
    project_id: projectId,
    origin: urlEntry.origin,
    target: urlEntry.target,
    variant,
    tags,
    status,
    policy,
    stored_ms,
    part,
    bytes: Buffer.concat([entry.serialized.subarray(0, lines_end), entry.body]).toString('base64'),
    lines_end,
  }
}

export function importEntry(urlEntry: UrlEntry, { variant, tags, status, policy, stored_ms, part, bytes, lines_end }: CachedResponse): CacheEntry {
  const stored = Buffer.from(bytes, 'base64')
  const entry = new CacheEntry(urlEntry, variant, tags, status, policy, stored_ms, stored.length - lines_end)
  entry.part = part
  entry.load(stored, lines_end)
  return entry
}
