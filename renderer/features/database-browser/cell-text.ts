import type { DatabaseCell, ResultColumn } from '../../../server/contract/database-browser.ts'
import { formatBytes } from '../../lib/format.ts'

/** A value as text; null for NULL. */
export function cellText(cell: DatabaseCell): string | null {
  if (cell === null) return null
  return typeof cell === 'object' ? cell.text : String(cell)
}

const maxShown_characters = 200

/** A value in one line of a table. */
export function shortCellText(cell: DatabaseCell, type: string): string {
  const text = cellText(cell) ?? 'NULL'
  const size = typeof cell === 'object' && cell !== null ? cell.size_bytes : type === 'bytea' && text.startsWith('\\x') ? (text.length - 2) / 2 : null
  const line = text.slice(0, maxShown_characters).replaceAll(/\s+/g, ' ')
  return `${line}${text.length > maxShown_characters ? '…' : ''}${size === null ? '' : ` (${formatBytes(size)})`}`
}

/** JSON in lines; other values as they are. */
export function prettyText(text: string, type: string): string {
  if (type !== 'json' && type !== 'jsonb') return text
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

const character_px = 7.6
/** Of the type, this much is always shown beside the name. */
const maxTypeLength = 12
/** Widths by the first rows, so that columns do not move while the rest arrives. */
export const columnWidths = (columns: readonly ResultColumn[], rows: readonly (readonly DatabaseCell[])[]): number[] =>
  columns.map(({ name, type }, index) => {
    const longest = rows
      .slice(0, 40)
      .reduce(
        (length, row) => Math.max(length, shortCellText(row[index] ?? null, type).length),
        name.length + Math.min(type.length, maxTypeLength) + 2,
      )
    return Math.round(Math.min(320, Math.max(72, longest * character_px + 26)))
  })

export const isNumberType = (type: string): boolean => /^(smallint|integer|bigint|numeric|real|double precision|oid|money)/.test(type)
