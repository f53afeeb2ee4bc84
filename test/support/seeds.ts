import { randomInt } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { isFullTier } from './tier.ts'

/**
 * Runs a property on each seed of a committed corpus: a fixed one, and those that failed once. `npm run test:full` also tries new seeds, prints them,
 * and adds failing ones to the corpus. `corpus`: a JSON file with a list of seeds.
 */
export async function forEachSeed(corpus: URL, property: (seed: number) => Promise<void>, { explored = 20 } = {}): Promise<void> {
  const seeds = JSON.parse(readFileSync(corpus, 'utf8')) as number[]
  for (const seed of seeds) await property(seed)
  if (!isFullTier) return
  for (let i = 0; i < explored; i++) {
    const seed = randomInt(2 ** 31)
    console.log(`seed ${seed}`)
    try {
      await property(seed)
    } catch (error) {
      writeFileSync(corpus, `${JSON.stringify([...seeds, seed])}\n`)
      throw new Error(`The seed ${seed} fails; it is in ${corpus.pathname} now.`, { cause: error })
    }
  }
}
