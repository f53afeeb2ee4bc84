import { describe, expect, test } from 'vitest'
import { requires } from '../support/requirements.ts'
import { killRounds } from './kill.ts'

/** CI plays a few rounds, always the same; `npm run test:kill` plays 50 new ones, and `HOMEPORT_KILL_SEED` those of an earlier run again. */
const wanted = process.env.HOMEPORT_KILL_ROUNDS
const seed = Number(process.env.HOMEPORT_KILL_SEED ?? (wanted === undefined ? 20_261_121 : Math.floor(Math.random() * 1e9)))

const play = async (runtime: 'docker' | 'process', usual: number) => {
  const rounds = Number(wanted ?? usual)
  console.log(`kill -9 on ${runtime}: ${rounds} rounds, seed ${seed}`)
  const report = await killRounds({ runtime, rounds, seed })
  expect(report.kills).toBeGreaterThanOrEqual(rounds)
  expect(report.acknowledged).toBeGreaterThan(0)
}
const patience_ms = 60_000 + Number(wanted ?? 6) * 90_000

describe('kill -9 at any moment: what was answered is there once and ends, what served goes on, nothing is left behind', () => {
  test('apps as processes', () => play('process', 4), patience_ms)
  describe.skipIf(!requires('docker').ok)('apps in containers', () => {
    test('the app answers all the time, out of the same container', () => play('docker', 6), patience_ms)
  })
})
