import type { ProjectRow } from '../../server/store/tables.ts'

/** A project as it stands right after it was made, for tests that write the ledger themselves. */
export const projectRow = (
  own: Pick<ProjectRow, 'id' | 'account_id' | 'name' | 'slug'>,
  now = '2026-01-31T12:00:00.000Z',
): Omit<ProjectRow, 'seq'> => ({
  ...own,
  repo_url: null,
  sealed_repo_credentials: null,
  repo_is_trusted: 0,
  repo_branch: 'main',
  node_version: 'auto',
  install_command: 'auto',
  build_command: 'auto',
  root_directory: '.',
  memory_limit_mb: 512,
  port: null,
  status: 'created',
  always_warm: 0,
  is_cold: 0,
  caching_enabled: 1,
  has_purge_token: 0,
  last_request_at: null,
  created_at: now,
  updated_at: now,
  stopped_at: null,
  crashed_at: null,
  deleted_at: null,
})
