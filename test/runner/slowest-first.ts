import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** The slowest files, for a machine that has never run them and so has no durations in vitest's cache: small files that tell long stories. */
const knownSlowFiles = ['deploy/sleep', 'runtime/docker', 'database/process', 'deploy/process', 'screenshot/chromium', 'platform/secrets', 'api/fuzz']

/** Slowest files first, so that no worker is left with a long one while the other has nothing to do. */
export class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const at = knownSlowFiles.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`))
      return at === -1 ? knownSlowFiles.length : at
    }
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b))
  }
}
