import type { DatabaseDump } from '../../server/contract/databases.ts'
import { limits } from '../../server/contract/limits.ts'
import { toHar } from '../../server/contract/request-har.ts'
import type { CapturedExchange } from '../../server/contract/request-captures.ts'
import type { LoggedRequest } from '../../server/contract/requests.ts'
import { toApiError } from '../lib/api-error.ts'
import { useConnection } from '../stores/connection.ts'
import { useUi } from '../stores/ui.ts'
import { useCapabilities } from './capabilities.ts'
import { fetchFile } from './fetch-file.ts'
import { useInstanceSession } from './instance.ts'
import { loadCaptures } from './request-captures.ts'
import { loadRequests, type RequestQuery } from './requests.ts'
import type { FollowedLog } from './runtime-log.ts'

/** Loads a file and reports the bytes received; null after a failure, which is shown in a toast. */
export type LoadFile = (onProgress: (bytes: number) => void) => Promise<Blob | null>

export function useDumpDownload(): (dump: DatabaseDump) => LoadFile {
  const { client } = useConnection((state) => state.current)
  return ({ id, project_slug: slug }) => loadFile(client.urlOf('downloadDatabaseDump', { params: { slug, id } }))
}

export function useBackupDownload(): (name: string) => LoadFile {
  const { client } = useConnection((state) => state.current)
  return (name) => loadFile(client.urlOf('downloadBackup', { params: { name } }))
}

/** A caught message as received, and its attachments. */
export function useMailDownload(slug: string, message: string): { source: LoadFile; attachment: (index: number) => LoadFile } {
  const { client } = useConnection((state) => state.current)
  return {
    source: loadFile(client.urlOf('downloadMailMessage', { params: { slug, message } })),
    attachment: (index) => loadFile(client.urlOf('downloadMailAttachment', { params: { slug, message, index: String(index) } })),
  }
}

/** A volume's current files, one of its snapshots, or one of its files. */
export function useVolumeDownload(
  slug: string,
  branch: string | null,
  name: string,
): { volume: LoadFile; snapshot: (id: string) => LoadFile; file: (path: string) => LoadFile } {
  const { client } = useConnection((state) => state.current)
  const environment = branch === null ? {} : { branch }
  const params = { slug, name }
  return {
    volume: loadFile(client.urlOf('downloadVolume', { params, query: environment })),
    snapshot: (id) => loadFile(client.urlOf('downloadVolume', { params, query: { ...environment, snapshot: id } })),
    file: (path) => loadFile(client.urlOf('downloadVolumeFile', { params, query: { ...environment, path } })),
  }
}

export type LogFormat = 'text' | 'ndjson'

/** Loads the whole runtime log; null on an instance that does not have it (a hosted account). */
export function useRuntimeLogDownload(slug: string, { branch, service }: FollowedLog): ((format: LogFormat) => LoadFile) | null {
  const { client } = useConnection((state) => state.current)
  if (!useCapabilities().has_instance_api) return null
  const query = { ...(branch !== null && { branch }), ...(service !== null && { service }) }
  return (format) => loadFile(client.urlOf('downloadRuntimeLog', { params: { slug }, query: { ...query, format } }))
}

export function useBuildLogDownload(slug: string, id: string): ((format: LogFormat) => LoadFile) | null {
  const { client } = useConnection((state) => state.current)
  if (!useCapabilities().has_instance_api) return null
  return (format) => loadFile(client.urlOf('downloadBuildLog', { params: { slug, id }, query: { format } }))
}

/** HAR documents of a request, and of the newest requests that match. */
export function useHarDownload(slug: string): {
  ofRequest(request: LoggedRequest, captured: CapturedExchange | null): LoadFile
  ofList(filters: RequestQuery): LoadFile
} {
  const showToast = useUi((state) => state.showToast)
  const { client } = useConnection((state) => state.current)
  const instance = useInstanceSession().data?.instance ?? { version: '', edge_url: null, edge_https_url: null }
  const toFile = (requests: LoggedRequest[], captures = new Map<string, CapturedExchange>()) =>
    new Blob([JSON.stringify(toHar(requests, instance, captures))], { type: 'application/json' })
  const loadList = async (filters: RequestQuery): Promise<LoggedRequest[]> => {
    const found = await loadRequests(client, slug, filters)
    const most = limits.request_log.exported
    if (found.length >= most)
      showToast({
        kind: 'done',
        text: `The file has the newest ${most.toLocaleString()} requests. Filter for fewer to export others.`,
        request_id: null,
      })
    return found
  }
  return {
    ofRequest: (request, captured) => () => Promise.resolve(toFile([request], new Map(captured ? [[request.id, captured]] : []))),
    ofList: (filters) => () =>
      loadList(filters)
        .then(async (found) => toFile(found, await loadCaptures(client, slug, found)))
        .catch(reportFailure),
  }
}

/** The page fetches the file, because a link cannot send the session header. The browser keeps large blobs on disk. */
const loadFile =
  (url: string): LoadFile =>
  (onProgress) =>
    fetchFile(url, { signal: new AbortController().signal, max_bytes: Infinity, onProgress }).catch(reportFailure)

function reportFailure(error: unknown): null {
  const { message, request_id } = toApiError(error)
  useUi.getState().showToast({ kind: 'failed', text: message, request_id })
  return null
}
