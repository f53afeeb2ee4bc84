import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** The slowest files, for a machine that has not run them yet and has no durations in vitest's cache. */
const knownSlowFiles = [
  'runtime/docker',
  'platform/secrets',
  'database/process',
  'database/query',
  'deployments/managed-services',
  'deployments/services',
  'deployments/process',
  'deployments/forks',
  'deployments/sleep',
  'platform/kill',
  'api/request-captures',
  'maintenance/backup',
  'api/fuzz',
  'deployments/pull-requests',
  'deployments/git-watcher',
  'deployments/declared-services',
  'deployments/added-volumes',
  'deployments/services-images',
  'deployments/ports',
  'runtime/process',
  'maintenance/recovery',
  'notifications/delivery',
  'log-drains/delivery',
  'api/project-metrics',
  'api/matrix',
  'screenshots/chromium',
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
