import { mkdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runCommand } from '../support/command.ts'
import { newFolder, type RunningInstance, serve } from '../support/instance-process.ts'

const folder = newFolder('cli-disk')
const data = join(folder.path, 'data')
let instance: RunningInstance

beforeAll(async () => {
  instance = await serve({ data })
})
afterAll(async () => {
  await instance?.end('SIGTERM')
  folder.remove()
})

const run = (...args: string[]) => runCommand(instance, folder.path, args)

test('disk shows what takes which room, and what of it can go', async () => {
  const { code, out } = await run('disk')
  expect(code).toBe(0)
  expect(out).toMatch(/^KIND +IN +SIZE +CAN GO$/m)
  expect(out).toMatch(/^ledger +folder +[\d.]+ (k|M)B +0 bytes$/m)
  expect(out).toContain(`are free for ${data}.`)
  expect((await run('disk', '--notes')).out).toContain('Never cleaned.')
  expect(JSON.parse((await run('disk', '--json')).out)).toMatchObject({
    data_dir: data,
    kinds: expect.arrayContaining([expect.objectContaining({ kind: 'logs' })]),
  })
})

test('disk clean frees what nothing needs, of the kinds that are named, and says how much', async () => {
  const lost = join(data, 'bundles', 'dpl_lost')
  mkdirSync(lost, { recursive: true })
  writeFileSync(join(lost, 'file'), Buffer.alloc(2_000_000, 1))
  const before = new Date(Date.now() - 3_600_000)
  utimesSync(lost, before, before)
  expect((await run('disk', 'clean', 'screenshots')).out.trim()).toBe('Nothing had to go.')
  const { code, out } = await run('disk', 'clean')
  expect(code).toBe(0)
  expect(out).toMatch(/^bundles +2\.0 MB$/m)
  expect(out).toMatch(/^Freed 2\.0 MB\.$/m)
})

test('what cannot be cleaned is a usage error that names what can', async () => {
  for (const words of [['clean', 'ledger'], ['wipe']]) {
    const { code, err } = await run('disk', ...words)
    expect(code).toBe(2)
    expect(err).toContain(words.at(-1))
  }
})
