import { afterAll, beforeAll, describe, test } from 'vitest'
import { readCorpus } from '../support/corpus.ts'
import { startTestPlatform, type TestPlatform } from '../support/platform.ts'
import { branchCorpus, type BranchCase, runBranchCase } from './random-branches.ts'

describe('random pushes, rewrites, renames and deletions of branches', () => {
  let platform: TestPlatform
  beforeAll(async () => {
    platform = await startTestPlatform({ runtime: 'process' })
  })
  afterAll(() => platform.remove())

  test.each(readCorpus<BranchCase>(branchCorpus))('the previews follow: seed $seed, $steps steps, $app', (one) => runBranchCase(platform, one))
})
