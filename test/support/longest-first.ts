import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * What takes longest, longest first. Of a machine that never ran them vitest knows the sizes of the files alone, and those that take
 * minutes are often three lines that tell stories of another file: they would come last, one of them alone.
 */
const longest = [
  'apps/process',
  'apps/docker',
  'platform/kill',
  'runtime/docker',
  'database/dumps',
  'platform/secrets-docker',
  'deploy/docker',
  'deploy/sleep-docker',
  'runtime/process',
  'database/embedded-server',
  'database/docker',
  'upkeep/disk',
  'platform/watch-kill',
  'platform/uploads',
  'deploy/watch-dice',
  'deploy/sleep-restart',
  'deploy/watch',
  'deploy/process',
  'database/process',
  'platform/secrets-process',
  'platform/engine',
  'upkeep/backup',
  'upkeep/disk-docker',
  'upkeep/backup-docker',
  'deploy/sleep-process',
  'cli/db',
  'packaging/package',
  'cli/serve',
  'upkeep/disk-full',
  'cli/backup',
  // The quick ones, which come before those.
  'screenshot/platform',
  'screenshot/chromium',
  'edge/endurance',
  'api/schema-fuzz',
  'edge/isolation',
  'api/password',
  'edge/streams',
  'edge/faults',
  'api/metrics',
].map((name) => `test/${name}.test.ts`)

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const group = ({ project }: TestSpecification) => project.config.sequence.groupOrder
    const rank = ({ project, moduleId }: TestSpecification) => {
      const at = longest.indexOf(relative(project.config.root, moduleId))
      return at === -1 ? longest.length : at
    }
    return sorted.toSorted((a, b) => group(a) - group(b) || rank(a) - rank(b))
  }
}
