import type { DatabaseCell, QueryRecord } from '../../server/contract/database-browser.ts'

export interface QueryResult {
  columns: string[]
  types: string[]
  rows: DatabaseCell[][]
  end: Extract<QueryRecord, { type: 'done' | 'error' }>
  snapshot: string | null
}

/** The lines of a response of `queryDatabase`. */
export function readQueryRecords(text: string): QueryResult {
  const records = text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as QueryRecord)
  const result: Omit<QueryResult, 'end'> = { columns: [], types: [], rows: [], snapshot: null }
  for (const record of records) {
    if (record.type === 'columns')
      Object.assign(result, { columns: record.columns.map(({ name }) => name), types: record.columns.map(({ type }) => type) })
    if (record.type === 'rows') result.rows.push(...record.rows)
    if (record.type === 'snapshot') result.snapshot = record.dump.id
  }
  const end = records.at(-1)
  if (end?.type !== 'done' && end?.type !== 'error') throw new Error(`the result has no end: ${text.slice(-300)}`)
  return { ...result, end }
}
