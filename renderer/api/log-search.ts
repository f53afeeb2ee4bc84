import type { CallInput, CallOutput } from '../../server/client/operation-types.ts'
import type { ApiClient } from './api-client.ts'
import { useCapabilities } from './capabilities.ts'
import { useApiQuery, usePagedApiQuery } from './query.ts'
import { queryKeys } from './query-keys.ts'

export type LogSearchQuery = Omit<NonNullable<CallInput<'searchLogs'>['query']>, 'limit' | 'cursor'>
type LinesQuery = NonNullable<CallInput<'listLogLines'>['query']>
/** Which log of a project. */
export type LogName = Pick<LinesQuery, 'branch' | 'service' | 'deployment'>
/** Where in it; nothing for its end. */
export type LogPosition = Pick<LinesQuery, 'at' | 'around' | 'before' | 'after'>
export type LogLinesPage = CallOutput<'listLogLines'>

/** Lines of all logs that match, newest first. */
export const useLogSearch = (filters: LogSearchQuery) =>
  usePagedApiQuery((client, page, signal) => client.call('searchLogs', { query: { ...filters, ...page }, signal }), {
    queryKey: queryKeys.logSearch(filters),
    enabled: useCapabilities().has_instance_api,
    gcTime: 0,
  })

export const loadLogLines = (client: ApiClient, slug: string, name: LogName, position: LogPosition): Promise<LogLinesPage> =>
  client.call('listLogLines', { params: { slug }, query: { ...name, ...position } })

/** The first page of a part of a log. */
export const useLogLines = (slug: string, name: LogName, position: LogPosition) =>
  useApiQuery((client) => loadLogLines(client, slug, name, position), { queryKey: queryKeys.logLines(slug, { ...name, ...position }), gcTime: 0 })
