import { newId } from '../../server/lib/id.ts'
import type { NewRequestRow } from '../../server/store/request-store.ts'

/** A row of the request log. */
export const requestRow = (more: Partial<NewRequestRow>): NewRequestRow => ({
  project_id: 'prj_a',
  id: newId('req'),
  time: 1_767_225_600_000,
  method: 'GET',
  host: 'app.localhost',
  path: '/',
  query: null,
  is_encrypted: 0,
  protocol: 'HTTP/1.1',
  status: 200,
  duration_ms: 12.5,
  wake_ms: 0,
  queue_ms: 0.2,
  app_ms: 10,
  transfer_ms: 2.3,
  bytes: 5000,
  cache: 'miss',
  cache_status: 'fwd=uri-miss; fwd-status=200; detail="no lifetime given"',
  deployment_id: 'dpl_01m8a0p7n79hcww1yg6h4r1bf0',
  replica: null,
  client_ip: '192.168.2.0',
  user_agent: 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36',
  trace_id: null,
  failure: null,
  skipped_before: 0,
  ...more,
})
