import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** The slowest files, for a machine that has not run them yet and has no durations in vitest's cache. */
const knownSlowFiles = [
  'platform/secrets',
  'runtime/docker',
  'api/matrix',
  'api/fuzz',
  'database/process',
  'deployments/process',
  'deployments/sleep',
  'deployments/services',
  'deployments/managed-services',
  'platform/lan',
  'platform/logs',
  'maintenance/backup',
  'tls/public-names',
  'api/token-scopes',
  'deployments/forks',
  'platform/kill',
  'edge/streams',
  'api/store-faults',
  'runtime/process',
  'cli/start',
  'deployments/declared-services',
  'deployments/temporary-versions',
  'deployments/replicas',
  'deployments/services-images',
  'deployments/rolling-replacement',
  'cli/promote',
  'api/deployments',
  'main/desktop-startup',
  'platform/edge-workers',
  'screenshots/chromium',
  'database/query',
  'http/sign-in',
  'mcp/mcp',
  'deployments/added-volumes',
  'api/uploads',
  'deployments/pull-requests',
  'database/browser',
  'deployments/autoscaling',
  'platform/desktop-feed',
  'edge/workers',
  'maintenance/recovery',
  'cli/commands',
]

/** Runs the slowest files first, so that no worker still runs a long one while the others are idle. */
export class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const at = knownSlowFiles.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`))
      return at === -1 ? knownSlowFiles.length : at
    }
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b))
  }
}
