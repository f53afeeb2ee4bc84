import type { DatabaseTable, RowFilter } from '../../../server/contract/database-browser.ts'

export const operatorLabels: Record<RowFilter['op'], string> = {
  eq: '=',
  ne: '≠',
  lt: '<',
  lte: '≤',
  gt: '>',
  gte: '≥',
  contains: 'contains',
  starts_with: 'starts with',
  is_null: 'is NULL',
  is_not_null: 'is not NULL',
}
export const filterOperators = Object.keys(operatorLabels) as RowFilter['op'][]

/** The filters and the order of a table as the address has them. Unknown columns and invalid values are ignored. */
export function parseTableView(params: URLSearchParams, { columns }: Pick<DatabaseTable, 'columns'>): { filters: RowFilter[]; order: string | null } {
  const hasColumn = (column: unknown) => columns.some(({ name }) => name === column)
  const order = params.get('order')
  return {
    filters: parseFilters(params.get('filter')).filter(({ column }) => hasColumn(column)),
    order: hasColumn(order?.replace(/^-/, '')) ? order : null,
  }
}

/** A JSON array of arrays, as the address has it. */
export const formatFilters = (filters: readonly RowFilter[]): string =>
  filters.length === 0 ? '' : JSON.stringify(filters.map(({ column, op, value }) => (value === undefined ? [column, op] : [column, op, value])))

function parseFilters(text: string | null): RowFilter[] {
  try {
    const listed: unknown = JSON.parse(text ?? '[]')
    if (!Array.isArray(listed)) return []
    return listed.flatMap((one: unknown): RowFilter[] => {
      const [column, name, value]: unknown[] = Array.isArray(one) ? one : []
      const op = filterOperators.find((known) => known === name)
      if (typeof column !== 'string' || op === undefined || (value !== undefined && typeof value !== 'string')) return []
      return [{ column, op, ...(value !== undefined && { value }) }]
    })
  } catch {
    return []
  }
}
