import type { QueryError } from '../contract/database-browser.ts'
import { classifyServerError } from './dump-database.ts'

/** PostgreSQL rejected a statement. */
export class StatementError extends Error {
  readonly error: QueryError
  constructor(error: QueryError, cause?: unknown) {
    super(error.message, { cause })
    this.name = 'StatementError'
    this.error = error
  }
}

/** The result had no end within the limit; what was written is rolled back. */
export const sizeError = (): StatementError =>
  new StatementError({
    code: '54000',
    message: 'The result is larger than a statement may return.',
    detail: 'Nothing was changed.',
    hint: 'Return fewer rows or columns.',
    position: null,
    line: null,
    column: null,
  })

/**
 * An error of PostgreSQL about a statement, or an error about its server. `prefix`: characters that were put before the text of the user.
 */
export function toStatementError(error: unknown, sql: string, prefix = 0): unknown {
  const known = classifyServerError(error)
  if (known && known !== error) return known
  const code = readText(error, 'code')
  if (!(error instanceof Error) || code === null || !/^[0-9A-Z]{5}$/.test(code)) return error
  const index = Number(readText(error, 'position') ?? 0) - prefix
  const isInside = index > 0 && index <= sql.length + 1
  // PostgreSQL counts characters, not UTF-16 units.
  const before = isInside
    ? Array.from(sql)
        .slice(0, index - 1)
        .join('')
    : ''
  const lines = before.split('\n')
  return new StatementError(
    {
      code,
      message: error.message,
      detail: readText(error, 'detail'),
      hint: readText(error, 'hint'),
      position: isInside ? before.length + 1 : null,
      line: isInside ? lines.length : null,
      column: isInside ? (lines.at(-1) ?? '').length + 1 : null,
    },
    error,
  )
}

function readText(error: unknown, name: string): string | null {
  const value: unknown = typeof error === 'object' && error !== null && name in error ? (error as Record<string, unknown>)[name] : null
  return typeof value === 'string' ? value : null
}
