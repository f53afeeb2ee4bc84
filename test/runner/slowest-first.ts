import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** The slowest files, for a machine that has not run them yet and has no durations in vitest's cache. */
const knownSlowFiles = [
  'runtime/docker',
  'platform/secrets',
  'database/process',
  'api/matrix',
  'runtime/process',
  'deployments/services',
  'deployments/process',
  'cli/promote',
  'platform/lan',
  'deployments/services-images',
  'api/fuzz',
  'platform/kill',
  'deployments/replicas',
  'deployments/sleep',
  'database/query',
  'edge/workers',
  'deployments/declared-services',
  'api/request-captures',
  'deployments/forks',
  'api/store-faults',
  'api/users',
  'http/check-order',
  'platform/logs',
  'main/tray',
  'edge/metrics',
  'deployments/ports',
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
