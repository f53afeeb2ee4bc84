import { afterAll, beforeAll, describe, test } from 'vitest'
import { explore, newSeed, readCorpus } from '../support/corpus.ts'
import { startTestPlatform, type TestPlatform } from '../support/platform.ts'
import { requires } from '../support/requirements.ts'
import { branchCorpus, type BranchCase, runBranchCase } from './random-branches.ts'

const docker = requires('docker')
describe.each([
  { runtime: 'process', app: 'page', steps: 100 },
  { runtime: 'process', app: 'server', steps: 15 },
  { runtime: 'docker', app: 'server', steps: 12 },
] as const)('random branches, $app on $runtime', ({ runtime, app, steps }) => {
  describe.skipIf(runtime === 'docker' && !docker.ok)('the previews follow', () => {
    let platform: TestPlatform
    beforeAll(async () => {
      platform = await startTestPlatform({ runtime })
    })
    afterAll(() => platform.remove())

    test(`${steps} steps`, { timeout: 900_000 }, () =>
      explore(branchCorpus, { seed: newSeed(), steps, app }, (fresh) => runBranchCase(platform, fresh)),
    )
  })
})

describe('branches that failed before', () => {
  let platform: TestPlatform
  beforeAll(async () => {
    platform = await startTestPlatform({ runtime: 'process' })
  })
  afterAll(() => platform.remove())

  test.each(readCorpus<BranchCase>(branchCorpus))('the previews follow: seed $seed, $steps steps, $app', (one) => runBranchCase(platform, one))
})
