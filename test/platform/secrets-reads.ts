import { isFullTier } from '../support/tier.ts'

/** What answers with data of the project or the instance, as JSON. */
export const plainReads = [
  '/v1/projects',
  '/v1/projects/teller',
  '/v1/projects/teller/deployments',
  '/v1/projects/teller/previews',
  '/v1/projects/teller/metrics',
  '/v1/projects/teller/cache/log',
  '/instance/session',
  '/instance/settings',
  // All checks start every toolchain of this machine.
  isFullTier ? '/instance/doctor' : '/instance/doctor?quick=true',
  '/instance/users',
  '/instance/disk',
  '/instance/backups',
  '/instance/dumps',
  '/instance/projects/teller/watching',
  '/instance/projects/teller/registries',
  '/instance/projects/teller/metrics',
  '/instance/projects/teller/routes',
  '/healthz',
  '/openapi.json',
  '/docs',
]
