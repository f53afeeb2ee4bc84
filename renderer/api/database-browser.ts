import { useQueryClient } from '@tanstack/react-query'
import type { CallInput } from '../../server/client/operation-types.ts'
import type { DatabaseTable, QueryRecord, RowFilter } from '../../server/contract/database-browser.ts'
import { createIdempotencyKey } from '../lib/idempotency-key.ts'
import type { ApiClient } from './api-client.ts'
import { useCapabilities } from './capabilities.ts'
import { findDatabase } from './databases.ts'
import { createMutationHook, invalidate } from './mutation.ts'
import { useApiQuery, usePagedApiQuery } from './query.ts'
import { queryKeys } from './query-keys.ts'

/**
 * The tables and views of a project's database, or null without one, which is asked first because a request for its tables would fail. No event
 * reports a change, so that each visit of a page asks again.
 */
export function useDatabaseSchema(slug: string) {
  const { has_instance_api } = useCapabilities()
  return useApiQuery(
    async (client, signal) =>
      (await findDatabase(client, true, slug, signal)) === null ? null : client.call('describeDatabase', { params: { slug }, signal }),
    { queryKey: queryKeys.databaseSchema(slug), refetchOnMount: 'always', enabled: has_instance_api },
  )
}

export interface RowsFilter {
  schema: string
  table: string
  filters: RowFilter[]
  order: string | null
}

export const useTableRows = (slug: string, { schema, table, filters, order }: RowsFilter) =>
  usePagedApiQuery(
    (client, page, signal) => {
      const query = { schema, table, limit: '200', ...(filters.length > 0 && { filter: JSON.stringify(filters) }), ...(order !== null && { order }) }
      return client.call('listDatabaseRows', { params: { slug }, query: { ...query, ...page }, signal })
    },
    { queryKey: queryKeys.databaseRows(slug, { schema, table, filters, order }), gcTime: 0, retry: false },
  )

/** The whole row, with values that the list cuts. */
export const loadRow = async (
  client: ApiClient,
  slug: string,
  { schema, name, row_key }: DatabaseTable,
  key: readonly string[],
  signal: AbortSignal,
) => {
  const filter = JSON.stringify(row_key.map((column, index) => ({ column, op: 'eq', value: key[index] })))
  const query = { schema, table: name, filter, limit: '1', value_characters: '1000000' }
  return (await client.call('listDatabaseRows', { params: { slug }, query, signal })).rows[0]
}

export const useChangeRows = createMutationHook('changeDatabaseRows')
export const useExplainQuery = createMutationHook('explainDatabaseQuery')

export function useRefetchRows(slug: string): () => void {
  const cache = useQueryClient()
  return () => invalidate(cache, queryKeys.databaseRows(slug), queryKeys.databaseSchema(slug))
}

/** Runs a statement and passes on its records as they arrive. The caller cancels by `cancelQuery`, which lets the server report how the statement ended. */
export function runQuery(client: ApiClient, slug: string, body: Omit<CallInput<'queryDatabase'>['body'], 'id'>, signal: AbortSignal) {
  const id = createIdempotencyKey()
  async function* read(): AsyncGenerator<QueryRecord[]> {
    const stream = await client.download('queryDatabase', { params: { slug }, body: { ...body, id }, signal })
    const reader = stream.pipeThrough(new TextDecoderStream()).getReader()
    let rest = ''
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      const lines = (rest + value).split('\n')
      rest = lines.pop() ?? ''
      yield lines.map((line) => JSON.parse(line) as QueryRecord)
    }
  }
  const cancelQuery = () => client.call('cancelDatabaseQuery', { params: { slug, id } }).catch(() => undefined)
  return { records: read(), cancelQuery }
}
