import type { EdgeRequests } from '../edge/request-log.ts'
import type { EncryptionContext } from '../store/sealer.ts'
import type { RequestCaptureRow } from '../store/request-tables.ts'

/** Applies the settings of a project to the edge. */
export function applyCapture(
  edge: Pick<EdgeRequests, 'setCapture'>,
  { project_id, until, masked_fields, ...row }: RequestCaptureRow,
  now_ms: number,
): void {
  const { path, method, status } = row
  edge.setCapture(project_id, until > now_ms ? { until_ms: until, path, method, status, masked_fields: JSON.parse(masked_fields) as string[] } : null)
}

export const captureEncryptionContext = (requestId: string): EncryptionContext => ({ table: 'captures', column: 'sealed_exchange', row: requestId })
