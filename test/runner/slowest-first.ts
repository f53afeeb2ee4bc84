import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** The slowest files, for a machine that has not run them yet and has no durations in vitest's cache. */
const knownSlowFiles = [
  'runtime/docker',
  'deployments/services',
  'database/process',
  'deployments/managed-services',
  'platform/secrets',
  'platform/kill',
  'deployments/git-watcher-apps',
  'deployments/git-watcher-remote',
  'deployments/process',
  'deployments/fork-services',
  'deployments/sleep',
  'deployments/services-images',
  'deployments/docker',
  'deployments/pull-requests',
  'deployments/added-volumes',
  'screenshots/chromium',
  'api/matrix',
  'api/fuzz',
  'maintenance/backup',
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
