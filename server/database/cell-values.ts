import type { DatabaseCell } from '../contract/database-browser.ts'

/** PostgreSQL's own types whose texts are short. */
const shortTypes = new Set(
  'boolean smallint integer bigint real double precision date time timestamp uuid oid interval money'
    .split(' ')
    .concat('double precision', 'time without time zone', 'time with time zone', 'timestamp without time zone', 'timestamp with time zone'),
)
const numberTypes = new Set(['smallint', 'integer', 'real', 'double precision'])

export const isShortType = (type: string): boolean => shortTypes.has(type)

/** A text of PostgreSQL as JSON. Types that JSON cannot hold without loss stay texts. */
export function toCell(text: string | null, type: string, maxCharacters: number): DatabaseCell {
  if (text === null) return null
  if (type === 'boolean') return text === 't' || text === 'true'
  if (numberTypes.has(type) && Number.isFinite(Number(text))) return Number(text)
  if (text.length <= maxCharacters) return text
  return { text: cut(text, maxCharacters), size_bytes: type === 'bytea' ? (text.length - 2) / 2 : Buffer.byteLength(text) }
}

/** Does not split a surrogate pair. */
function cut(text: string, length: number): string {
  const last = text.charCodeAt(length - 1)
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length)
}
