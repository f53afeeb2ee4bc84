import { Problem } from '../contract/errors.ts'
import { limits } from '../contract/limits.ts'
import { type CapturedExchange, capturedExchange, type RequestCaptureSettings, type requestCaptureOperations } from '../contract/request-captures.ts'
import { isoTime } from '../lib/clock.ts'
import { endRequestCapture, findRequestCapture, saveRequestCapture } from '../store/request-captures.ts'
import type { StoredRequest } from '../store/request-store.ts'
import type { RequestCaptureRow } from '../store/request-tables.ts'
import { applyCapture, captureEncryptionContext } from './capture-rules.ts'
import type { OperationHandlers } from './context.ts'
import type { FeatureDeps } from './deps.ts'
import { replayCapturedRequest } from './request-replay.ts'

const default_ms = 3600_000

export function createRequestCaptureHandlers(deps: FeatureDeps): Pick<OperationHandlers, keyof typeof requestCaptureOperations> {
  const { db, requests } = deps.store
  const present = (row: RequestCaptureRow): RequestCaptureSettings => ({
    until: row.until > deps.clock.now() ? isoTime(row.until) : null,
    path: row.path,
    method: row.method,
    status: row.status,
    masked_fields: JSON.parse(row.masked_fields) as string[],
  })
  const read = (projectId: string): Promise<RequestCaptureRow> => db.read((tx) => findRequestCapture(tx, projectId) ?? createRow(projectId))

  return {
    getRequestCapture: async ({ project }) => ({ capture: present(await read(project.id)) }),

    async startRequestCapture({ project }, { body: { until, masked_fields, ...filters } }) {
      const now = deps.clock.now()
      const until_ms = until === undefined ? now + default_ms : Date.parse(until)
      const { hours } = limits.request_capture
      if (until_ms <= now || until_ms > now + hours * 3600_000)
        throw new Problem('invalid_input', `Requests are captured for at most ${hours} hours. Choose a time within them.`, {
          issues: [{ path: 'until', message: `Use a time within the next ${hours} hours.` }],
        })
      const row = await db.write((tx) => {
        const before = findRequestCapture(tx, project.id)
        const next: RequestCaptureRow = {
          ...createRow(project.id),
          ...filters,
          until: until_ms,
          masked_fields: masked_fields ? JSON.stringify([...new Set(masked_fields)]) : (before?.masked_fields ?? '[]'),
        }
        saveRequestCapture(tx, next)
        tx.publish({ type: 'project_changed', id: project.id })
        return next
      })
      applyCapture(deps.capture, row, now)
      return { capture: present(row) }
    },

    async stopRequestCapture({ project }, { query: { captured } }) {
      await db.write((tx) => {
        endRequestCapture(tx, project.id)
        tx.publish({ type: 'project_changed', id: project.id })
      })
      deps.capture.setCapture(project.id, null)
      await deps.requests.flush()
      if (captured === 'delete') await requests.removeCaptures(project.id)
      return { capture: present(await read(project.id)) }
    },

    async getCapturedRequest({ project }, { params: { id } }) {
      return { captured: readCapture(deps, await findProjectRequest(deps, project.id, id)) }
    },

    async replayRequest({ project, signal }, { params: { id }, body }) {
      const request = await findProjectRequest(deps, project.id, id)
      return replayCapturedRequest(deps, { project, request, captured: readCapture(deps, request), replay: body, signal })
    },
  }
}

const createRow = (project_id: string): RequestCaptureRow => ({ project_id, until: 0, path: null, method: null, status: null, masked_fields: '[]' })

async function findProjectRequest(deps: FeatureDeps, projectId: string, id: string): Promise<StoredRequest> {
  await deps.requests.flush()
  const found = /^req_[0-9a-z]{26}$/.test(id) ? deps.store.requests.find(id) : undefined
  if (found?.project_id !== projectId)
    throw new Problem('request_not_found', 'There is no such request in the request log of this project. Check the ID.')
  return found
}

/** Undefined for a request that was not captured, or whose key is gone. */
function readCapture({ store, sealer }: FeatureDeps, { id }: { id: string }): CapturedExchange | null {
  const sealed = store.requests.findCapture(id)
  if (!sealed) return null
  try {
    return capturedExchange.parse(JSON.parse(sealer.unseal(captureEncryptionContext(id), sealed)))
  } catch (error) {
    if (error instanceof Problem) return null
    throw error
  }
}
