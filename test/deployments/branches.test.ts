import { afterAll, beforeAll, describe, test } from 'vitest'
import { readCorpus } from '../support/corpus.ts'
import type { TestPlatform } from '../support/platform.ts'
import { sharedPlatform } from '../support/shared-platform.ts'
import { branchCorpus, type BranchCase, runBranchCase } from './random-branches.ts'

describe('random pushes, rewrites, renames and deletions of branches', () => {
  let platform: TestPlatform
  beforeAll(async () => {
    platform = await sharedPlatform()
  })
  afterAll(() => platform.remove())

  test.each(readCorpus<BranchCase>(branchCorpus))('the previews follow: seed $seed, $steps steps, $app', (one) => runBranchCase(platform, one))
})
