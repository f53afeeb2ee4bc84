/** Hourly jobs, and how long a measurement of folders is awaited, on a clock that the test moves. */
import { linkSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createLog } from '../../server/lib/log.ts'
import { createFolderSizes } from '../../server/maintenance/folder-sizes.ts'
import { createPeriodicJobs } from '../../server/maintenance/periodic-jobs.ts'
import { createTestClock } from '../support/test-clock.ts'

const minute = 60_000

test('each job runs soon after the start and once an hour, sequentially, whether or not the previous one failed', async () => {
  const clock = createTestClock({ frozen_at: '2026-01-31' })
  const log: string[] = []
  const ran: string[] = []
  const rounds = createPeriodicJobs({ clock, log: createLog((line) => log.push(line)) })
  rounds.add('first', async () => {
    ran.push('first')
    throw new Error('no luck')
  })
  rounds.add('second', async () => ran.push('second'))
  rounds.start()
  await clock.advance(4_999)
  expect(ran).toEqual([])
  await clock.advance(1)
  expect(ran).toEqual(['first', 'second'])
  expect(log.join()).toMatch(/periodic_job_failed.*first.*no luck/)
  await clock.advance(59 * minute)
  expect(ran).toHaveLength(2)
  await clock.advance(2 * minute)
  expect(ran).toEqual(['first', 'second', 'first', 'second'])
  await rounds.close()
  await clock.advance(120 * minute)
  expect(ran).toHaveLength(4)
})

test('a job that takes longer than an hour does not overlap itself; close aborts it and waits for it', async () => {
  const clock = createTestClock({ frozen_at: '2026-01-31' })
  const rounds = createPeriodicJobs({ clock, log: createLog(() => {}) })
  let begun = 0
  let ended = false
  rounds.add('slow', async (signal) => {
    begun++
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
    ended = true
  })
  rounds.start()
  await clock.advance(180 * minute)
  expect([begun, ended]).toEqual([1, false])
  await rounds.close()
  expect(ended).toBe(true)
})

test('a measurement that takes too long returns partial results, and the next one the complete ones', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'homeport-sizes-'))
  mkdirSync(join(folder, 'deep'))
  const file = join(folder, 'deep', 'file')
  writeFileSync(file, Buffer.alloc(100_000, 1))
  linkSync(file, join(folder, 'same-file'))
  const clock = createTestClock({ frozen_at: '2026-01-31' })
  const sizes = createFolderSizes(clock)
  const first = sizes.measure([folder, join(folder, 'none')], 3_000)
  await clock.advance(3_000)
  expect(await first).toEqual(new Map())
  const blocks = [folder, join(folder, 'deep'), file].reduce((sum, path) => sum + statSync(path).blocks * 512, 0)
  expect(await sizes.measure([folder, join(folder, 'none')], 3_000)).toEqual(
    new Map([
      [folder, blocks],
      [join(folder, 'none'), 0],
    ]),
  )
  rmSync(folder, { recursive: true })
})
