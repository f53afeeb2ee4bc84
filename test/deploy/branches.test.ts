import { afterAll, beforeAll, describe, test } from 'vitest'
import { readCorpus } from '../support/corpus.ts'
import { startTestPlatform, type TestPlatform } from '../support/platform.ts'
import { branchCorpus, type BranchCase, playBranches } from './random-branches.ts'

describe('random pushes, rewrites, renames and deletions of branches', () => {
  let home: TestPlatform
  beforeAll(async () => {
    home = await startTestPlatform({ runtime: 'process' })
  })
  afterAll(() => home.remove())

  test.each(readCorpus<BranchCase>(branchCorpus))('the previews follow: seed $seed, $steps steps, $app', (one) => playBranches(home, one))
})
