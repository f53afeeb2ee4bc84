import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fuzzed, possibleOperations } from './fuzz-requests.ts'
import { readCorpus, createFuzzer } from './fuzz-run.ts'

/** Requests generated from the contract, and all past failures. `npm run test:full` sends 20 000 others. */
describe('generated requests', () => {
  let fuzzing: Awaited<ReturnType<typeof createFuzzer>>
  beforeAll(async () => {
    fuzzing = await createFuzzer()
  })
  afterAll(() => fuzzing.close())

  test('get responses that match the contract, and never a 500', async () => {
    const count = 9 * fuzzed.length
    await fuzzing.run({ seed: 44, count, lanes: 1 })
    expect(fuzzing.failures()).toEqual([])
    expect(fuzzing.sent()).toBe(count)
    // Requests that never succeed would prove little.
    const never = fuzzing.neverSucceeded()
    expect(never.length, never.join(', ')).toBeLessThan(0.35 * possibleOperations.length)
    expect(await fuzzing.isHealthy()).toBe(true)
  })

  test('past failures get responses that match the contract', async () => {
    for (const request of readCorpus()) await fuzzing.send(request)
    expect(fuzzing.failures()).toEqual([])
  })
})
