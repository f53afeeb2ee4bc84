/** homeport backup, backups, restore. */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fullTest } from '../support/full-test.ts'
import { type CommandLine, commandLine } from '../support/command.ts'
import { runHomeport, createTempFolder } from '../support/instance-process.ts'
import { startTestPlatform, type TestPlatform } from '../support/platform.ts'
import { buildProgram } from '../support/programs.ts'
import { until } from '../support/until.ts'

const folder = createTempFolder('backup')
const file = join(folder.path, 'all.tar.gz')
const keyFile = join(folder.path, 'kept.key')
let platform: TestPlatform
let run: CommandLine

beforeAll(async () => {
  const site = join(folder.path, 'my-site')
  mkdirSync(site)
  writeFileSync(join(site, 'index.html'), '<h1>kept</h1>')
  platform = await startTestPlatform({ runtime: 'process' })
  run = commandLine(platform.handle.instance, folder.path)
  expect((await run('deploy', site)).code).toBe(0)
  copyFileSync(join(platform.data_dir, 'master.key'), keyFile)
})
afterAll(async () => {
  await platform.remove()
  folder.remove()
})

describe('backup', () => {
  test('FILE: writes the file only there, not in the instance, and mentions the key', async () => {
    const { code, out, err } = await run('backup', 'all.tar.gz')
    expect([code, out]).toEqual([0, expect.stringMatching(/^Backed up to .*all\.tar\.gz \([\d.]+ kB\)\.\n$/)])
    expect(err).toContain('The backup does not contain the master key')
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(readdirSync(folder.path).filter((name) => name.endsWith('.part'))).toEqual([])
    expect((await run('backups')).out).not.toMatch(/ full +\d/)
  })

  test('without FILE it stays in the instance, and can be listed, downloaded and deleted', async () => {
    const { name, path } = (await run.json<{ backup: { name: string; path: string } }>('backup')).backup
    expect(existsSync(path)).toBe(true)
    expect((await run('backups')).out).toMatch(new RegExp(`${name.replaceAll('.', '\\.')} +full +[\\d.]+ kB`))
    expect((await run('backups', 'get', name, '--output', 'fetched.tar.gz')).code).toBe(0)
    expect(readFileSync(join(folder.path, 'fetched.tar.gz')).equals(readFileSync(path))).toBe(true)
    expect((await run('backups', 'delete', name)).code).toBe(0)
    expect(existsSync(path)).toBe(false)
    const { code, err } = await run('backups', 'get', name)
    expect([code, err]).toEqual([1, expect.stringContaining('backup_not_found')])
    expect((await run('backups', 'burn')).code).toBe(2)
  })
})

describe('restore', () => {
  const into = join(folder.path, 'restored')

  test('requires the folder and the key', async () => {
    expect((await run('restore', file)).code).toBe(2)
    expect((await run('restore', '--data', into)).code).toBe(2)
    expect((await run('restore', file, '--data', into, '--key', keyFile, '--without-key')).code).toBe(2)
    const { code, err } = await run('restore', file, '--data', into)
    expect([code, err]).toEqual([1, expect.stringMatching(/master key is not in a backup.*--key FILE/)])
    expect(existsSync(into)).toBe(false)
  })

  test('refuses the folder of a running instance', async () => {
    const { code, err } = await run('restore', file, '--data', platform.data_dir, '--key', keyFile)
    expect([code, err]).toEqual([1, expect.stringContaining('is not empty')])
    expect((await platform.api('GET', '/v1/projects')).status).toBe(200)
  })

  fullTest('a killed restore does not start as an instance; repeated, it completes and serves', async () => {
    const args = ['restore', file, '--data', into, '--key']
    // A key file that can be read once: at the end, where it is read again, the restore blocks until it is killed.
    const onceOnly = join(folder.path, 'once.key')
    execFileSync('mkfifo', [onceOnly])
    const child = spawn(process.execPath, [await buildProgram('homeport'), ...args, onceOnly], { stdio: 'ignore' })
    const ended = once(child, 'exit')
    await writeFile(onceOnly, readFileSync(keyFile))
    await until(async () => existsSync(join(into, '.restoring', 'homeport.db')) || undefined, { what: 'the restore to be under way' })
    child.kill('SIGKILL')
    await ended
    expect(existsSync(join(into, 'homeport.db'))).toBe(false)
    const started = await runHomeport(['serve', '--data', into, '--port', '0', '--edge-port', '0', '--no-open'])
    expect([started.code, started.err]).toEqual([1, expect.stringMatching(/was interrupted.*Run it again/)])

    const { code, out, err } = await runHomeport([...args, keyFile])
    expect([code, err]).toEqual([0, ''])
    expect(out).toMatch(/Restored the backup of .* to .*restored/)
    expect(out).toContain('1 projects, 1 deployments')
    const again = await startTestPlatform({ runtime: 'process', data_dir: into })
    expect(await again.fetchEdge('my-site.localhost')).toMatchObject({ status: 200, body: '<h1>kept</h1>' })
    expect(again.handle.notices.join()).toContain('This instance was restored from the backup of')
    await again.remove()
  })

  test('--json prints what was restored', async () => {
    const other = join(folder.path, 'json')
    const { code, out } = await run('restore', file, '--data', other, '--without-key', '--json')
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({ data_dir: other, counts: { projects: 1, deployments: 1 }, lost: [], left_out: [] })
    rmSync(other, { recursive: true })
  })
})

fullTest('a platform killed during a backup leaves a draft, which its next start removes', async () => {
  const data_dir = join(folder.path, 'killed')
  const kept = join(data_dir, 'backups')
  mkdirSync(join(data_dir, 'screenshots'), { recursive: true })
  const other = await startTestPlatform({ runtime: 'process', data_dir })
  // A sparse file, which takes no space: even a stalled machine needs long to read and compress it.
  writeFileSync(join(data_dir, 'screenshots', 'large.png'), '')
  truncateSync(join(data_dir, 'screenshots', 'large.png'), 4e9)
  const pending = other.api('POST', '/instance/backups').catch(() => undefined)
  const drafts = () => (existsSync(kept) ? readdirSync(kept).filter((name) => name.startsWith('.draft-')) : [])
  await until(() => drafts().length > 0 || undefined, { what: 'a draft', every_ms: 1 })
  await other.kill()
  await pending
  expect(readdirSync(kept).filter((name) => name.startsWith('homeport-'))).toEqual([])
  const next = await startTestPlatform({ runtime: 'process', data_dir })
  expect(drafts()).toEqual([])
  await next.remove()
})
