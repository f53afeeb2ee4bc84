import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, describe, expect, test } from 'vitest'
import { foldersOf, runRandomBranches } from '../deployments/random-branches.ts'
import { explore, newSeed, readCorpus } from '../support/corpus.ts'
import { createSeededRandom } from '../support/seeded-random.ts'
import { startTestPlatform, type TestPlatform } from '../support/platform.ts'
import { requires } from '../support/requirements.ts'
import { killRounds } from './kill.ts'

interface KillCase {
  runtime: 'docker' | 'process'
  rounds: number
  seed: number
}
const corpus = new URL('corpus/kill.json', import.meta.url)
const fresh: KillCase[] = (['process', 'docker'] as const).map((runtime) => ({ runtime, rounds: 50, seed: newSeed() }))

describe('kill -9 at any moment: an acknowledged request exists once and ends, serving apps keep serving, nothing is left behind', () => {
  const play = async (one: KillCase) => {
    const report = await killRounds(one)
    expect(report.kills).toBeGreaterThanOrEqual(one.rounds)
    expect(report.acknowledged).toBeGreaterThan(0)
  }
  const timeout = 75 * 60_000
  for (const one of readCorpus<KillCase>(corpus))
    test.skipIf(one.runtime === 'docker' && !requires('docker').ok)(`again ${JSON.stringify(one)}`, { timeout }, () => play(one))
  for (const one of fresh)
    test.skipIf(one.runtime === 'docker' && !requires('docker').ok)(`${one.rounds} rounds on ${one.runtime}`, { timeout }, () =>
      explore(corpus, one, play),
    )
})

describe('kill -9 while branches are pushed and deleted', () => {
  let platform: TestPlatform
  afterAll(() => platform.remove())

  test('10 steps: the previews match the branches', { timeout: 900_000 }, async () => {
    const seed = newSeed()
    console.log(`kill -9 among branches: seed ${seed}`)
    const seededRandom = createSeededRandom(seed)
    platform = await startTestPlatform({ runtime: 'process' })
    const { data_dir } = platform
    const client = new Proxy(platform, { get: (_, name) => Reflect.get(platform, name) as unknown })
    await runRandomBranches({
      platform: client,
      seed,
      steps: 10,
      files: (text) => ({ 'index.html': `<h1>${text}</h1>` }),
      leftovers: async (open) => foldersOf(data_dir, open),
      // At a random moment after a push: from the event over the queue and the build to the traffic switch.
      async disturb() {
        await delay(seededRandom.between(0, 700))
        await platform.kill()
        platform = await startTestPlatform({ runtime: 'process', data_dir })
      },
    })
  })
})
