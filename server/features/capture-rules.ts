import type { RequestLog } from '../edge/request-log.ts'
import type { CaptureRule } from '../edge/request-capture.ts'
import type { EncryptionContext } from '../store/sealer.ts'
import type { RequestCaptureRow } from '../store/request-tables.ts'

/** What the edge checks of each request while requests of its project are captured. */
export function createCaptureRule({ until, path, method, status, masked_fields }: Omit<RequestCaptureRow, 'project_id'>): CaptureRule {
  const matchesPath = path === null ? undefined : createPathPattern(path)
  const wantedMethod = method?.toUpperCase()
  return {
    until_ms: until,
    matchesRequest: (request) =>
      (wantedMethod === undefined || request.method === wantedMethod) &&
      (matchesPath === undefined || matchesPath(request.target.split('?', 1)[0] ?? '')),
    matchesStatus: (code) => status === null || (/^\d{3}$/.test(status) ? code === Number(status) : Math.floor(code / 100) === Number(status[0])),
    masked_fields: JSON.parse(masked_fields) as string[],
  }
}

/** The start of a path, or a pattern with `*`, as the filters of the request log. */
function createPathPattern(pattern: string): (path: string) => boolean {
  if (!pattern.includes('*')) return (path) => path.startsWith(pattern)
  const [first = '', ...parts] = pattern.split('*')
  const last = parts.pop() ?? ''
  return (path) => {
    if (!path.startsWith(first) || path.length < first.length + last.length || !path.endsWith(last)) return false
    let at = first.length
    for (const part of parts) {
      const found = path.indexOf(part, at)
      if (found < 0) return false
      at = found + part.length
    }
    return at <= path.length - last.length
  }
}

/** Applies the settings of a project to the edge. */
export function applyCapture(edge: Pick<RequestLog, 'setCapture'>, row: RequestCaptureRow, now_ms: number): void {
  edge.setCapture(row.project_id, row.until > now_ms ? createCaptureRule(row) : null)
}

export const captureEncryptionContext = (requestId: string): EncryptionContext => ({ table: 'captures', column: 'sealed_exchange', row: requestId })
