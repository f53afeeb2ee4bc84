import { mkdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type CommandLine, commandLine } from '../support/command.ts'
import { startTestPlatform, type TestPlatform } from '../support/platform.ts'

let platform: TestPlatform
let run: CommandLine

beforeAll(async () => {
  platform = await startTestPlatform({ runtime: 'process' })
  run = commandLine(platform.handle.instance, '.')
})
afterAll(() => platform.remove())

test('disk shows usage by kind, and how much can be freed', async () => {
  const { code, out } = await run('disk')
  expect(code).toBe(0)
  expect(out).toMatch(/^KIND +LOCATION +SIZE +RECLAIMABLE$/m)
  expect(out).toMatch(/^instance_database +data folder +[\d.]+ (k|M)B +0 bytes$/m)
  expect(out).toContain(`free for ${platform.data_dir}.`)
  expect((await run('disk', '--notes')).out).toContain('Never cleaned up.')
  expect(await run.json('disk')).toMatchObject({
    data_dir: platform.data_dir,
    kinds: expect.arrayContaining([expect.objectContaining({ kind: 'logs' })]),
  })
})

test('disk clean frees what is unused, of the named kinds, and prints how much', async () => {
  const lost = join(platform.data_dir, 'bundles', 'dpl_lost')
  mkdirSync(lost, { recursive: true })
  writeFileSync(join(lost, 'file'), Buffer.alloc(2_000_000, 1))
  const before = new Date(Date.now() - 3_600_000)
  utimesSync(lost, before, before)
  expect((await run('disk', 'clean', 'screenshots')).out.trim()).toBe('Nothing to clean.')
  const { code, out } = await run('disk', 'clean')
  expect(code).toBe(0)
  expect(out).toMatch(/^bundles +2\.0 MB$/m)
  expect(out).toMatch(/^Freed 2\.0 MB\.$/m)
})

test('a kind that cannot be cleaned is a usage error that lists those that can', async () => {
  for (const words of [['clean', 'instance_database'], ['wipe']]) {
    const { code, err } = await run('disk', ...words)
    expect(code).toBe(2)
    expect(err).toContain(words.at(-1))
  }
})
