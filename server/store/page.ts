/** Pages by keyset: a cursor names the last row seen, so a page costs the same wherever it is. */

export const cursorOf = (seq: number): string => Buffer.from(`s${seq}`).toString('base64url')

/** The sequence number in a cursor, or undefined when it is not one of ours. */
export function readCursor(cursor: string): number | undefined {
  const match = /^s(\d{1,15})$/.exec(Buffer.from(cursor, 'base64url').toString())
  return match && cursorOf(Number(match[1])) === cursor ? Number(match[1]) : undefined
}

/** Rows fetched with `limit + 1`, newest first: the page, and the cursor of the next one or null. */
export function pageOf<R extends { seq: number }>(rows: R[], limit: number): { rows: R[]; next_cursor: string | null } {
  if (rows.length <= limit) return { rows, next_cursor: null }
  const page = rows.slice(0, limit)
  return { rows: page, next_cursor: cursorOf(page[page.length - 1]?.seq ?? 0) }
}
