import { createHash } from 'node:crypto'

/**
 * Keyset pagination: a cursor names the last row of a page, so every page costs the same. The cursor also identifies its list, such as `deployments
 * prj_..`, because a sequence number means nothing in another list.
 */
export function encodeCursor(list: string, seq: number): string {
  const listDigest = createHash('sha256').update(list).digest('hex').slice(0, 12)
  return Buffer.from(`s${seq}.${listDigest}`).toString('base64url')
}

/** The sequence number in a cursor, or undefined if the cursor belongs to another list. */
export function decodeCursor(list: string, cursor: string): number | undefined {
  const match = /^s(\d{1,15})\./.exec(Buffer.from(cursor, 'base64url').toString())
  return match && encodeCursor(list, Number(match[1])) === cursor ? Number(match[1]) : undefined
}

/** Splits rows fetched with `limit + 1`, newest first, into the page and the cursor of the next one, or null. */
export function paginate<R extends { seq: number }>(list: string, rows: R[], limit: number): { rows: R[]; next_cursor: string | null } {
  if (rows.length <= limit) return { rows, next_cursor: null }
  const page = rows.slice(0, limit)
  return { rows: page, next_cursor: encodeCursor(list, page[page.length - 1]?.seq ?? 0) }
}
