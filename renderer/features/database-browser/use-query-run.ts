import { useEffect, useRef, useState } from 'react'
import type { DatabaseCell, QueryRecord, ResultColumn } from '../../../server/contract/database-browser.ts'
import type { DatabaseDump } from '../../../server/contract/databases.ts'
import type { ApiError } from '../../../server/client/api-error.ts'
import { runQuery } from '../../api/database-browser.ts'
import { useClient } from '../../api/query.ts'
import { toApiError } from '../../lib/api-error.ts'

export interface QueryRun {
  sql: string
  columns: ResultColumn[]
  /** Grows while rows arrive; `row_count` changes with it. */
  rows: DatabaseCell[][]
  row_count: number
  snapshot: DatabaseDump | null
  end: Extract<QueryRecord, { type: 'done' | 'error' }> | null
  problem: ApiError | null
  is_running: boolean
}

const maxRows = 100_000

/** Runs statements one after the other, and shows what has arrived of the result. */
export function useQueryRun(slug: string) {
  const client = useClient()
  const [run, setRun] = useState<QueryRun | null>(null)
  const current = useRef<{ leave: AbortController; cancel: () => void } | null>(null)
  useEffect(() => () => current.current?.leave.abort(), [])

  const start = async (sql: string, read_only: boolean): Promise<QueryRun> => {
    const leave = new AbortController()
    const rows: DatabaseCell[][] = []
    let state: QueryRun = { sql, columns: [], rows, row_count: 0, snapshot: null, end: null, problem: null, is_running: true }
    setRun(state)
    try {
      const { records, cancelQuery } = runQuery(client, slug, { sql, read_only, max_rows: maxRows, timeout_ms: 600_000 }, leave.signal)
      current.current = { leave, cancel: () => void cancelQuery() }
      for await (const batch of records) {
        for (const record of batch) {
          if (record.type === 'columns') state = { ...state, columns: record.columns }
          else if (record.type === 'rows') rows.push(...record.rows)
          else if (record.type === 'snapshot') state = { ...state, snapshot: record.dump }
          else state = { ...state, end: record }
        }
        state = { ...state, row_count: rows.length }
        if (!leave.signal.aborted) setRun(state)
      }
    } catch (error) {
      state = { ...state, problem: toApiError(error) }
    }
    state = { ...state, is_running: false }
    current.current = null
    if (!leave.signal.aborted) setRun(state)
    return state
  }
  return { run, start, cancel: () => current.current?.cancel() }
}
