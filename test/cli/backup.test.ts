/** homeport backup, backups, restore: in processes of their own, as people and timers run them. */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runCommand } from '../support/command.ts'
import { askEdge, homeport, newFolder, root, type RunningInstance, serve } from '../support/instance-process.ts'
import { until } from '../support/until.ts'

const folder = newFolder('backup')
const data = join(folder.path, 'data')
const file = join(folder.path, 'all.tar.gz')
const keyFile = join(folder.path, 'kept.key')
let instance: RunningInstance

beforeAll(async () => {
  const site = join(folder.path, 'my-site')
  mkdirSync(site)
  writeFileSync(join(site, 'index.html'), '<h1>kept</h1>')
  // Large enough to be cut off in the middle of.
  writeFileSync(join(site, 'large.bin'), randomBytes(20_000_000))
  instance = await serve({ data })
  expect((await runCommand(instance, folder.path, ['deploy', site])).code).toBe(0)
  copyFileSync(join(data, 'master.key'), keyFile)
})
afterAll(async () => {
  await instance?.end('SIGTERM')
  folder.remove()
})

const run = (...args: string[]) => runCommand(instance, folder.path, args)

describe('backup', () => {
  test('FILE: it lies there and not in the instance too, and the key is spoken of', async () => {
    const { code, out, err } = await run('backup', 'all.tar.gz')
    expect([code, out]).toEqual([0, expect.stringMatching(/^Backed up into .*all\.tar\.gz \([\d.]+ MB\)\.\n$/)])
    expect(err).toContain('The master key is not in it')
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(readdirSync(folder.path).filter((name) => name.endsWith('.part'))).toEqual([])
    expect((await run('backups')).out).not.toContain('everything')
  })

  test('without FILE it stays in the instance; it is listed, fetched and deleted', async () => {
    const made = JSON.parse((await run('backup', '--json')).out) as { backup: { name: string; path: string } }
    const { name, path } = made.backup
    expect(existsSync(path)).toBe(true)
    expect((await run('backups')).out).toMatch(new RegExp(`${name.replaceAll('.', '\\.')} +everything +[\\d.]+ MB`))
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

  test('asks for the folder and for the key', async () => {
    expect((await homeport(['restore', file])).code).toBe(2)
    expect((await homeport(['restore', '--data', into])).code).toBe(2)
    expect((await homeport(['restore', file, '--data', into, '--key', keyFile, '--without-key'])).code).toBe(2)
    const { code, err } = await homeport(['restore', file, '--data', into])
    expect([code, err]).toEqual([1, expect.stringMatching(/master key is not in a backup.*--key FILE/)])
    expect(existsSync(into)).toBe(false)
  })

  test('refuses the folder of a running instance', async () => {
    const { code, err } = await homeport(['restore', file, '--data', data, '--key', keyFile])
    expect([code, err]).toEqual([1, expect.stringContaining('is not empty')])
    expect((await instance.ask('/v1/projects')).status).toBe(200)
  })

  test('killed in the middle, it is no instance; done again, it serves', async () => {
    const args = ['restore', file, '--data', into, '--key']
    // A key that it gets once: at the end, where it is read again, it waits, however late we come to kill it.
    const onceOnly = join(folder.path, 'once.key')
    execFileSync('mkfifo', [onceOnly])
    const child = spawn(process.execPath, [join(root, 'server/cli/homeport.ts'), ...args, onceOnly], { stdio: 'ignore' })
    const ended = once(child, 'exit')
    await writeFile(onceOnly, readFileSync(keyFile))
    await until(async () => existsSync(join(into, '.restoring', 'homeport.db')) || undefined, { what: 'the restore to be under way' })
    child.kill('SIGKILL')
    await ended
    expect(existsSync(join(into, 'homeport.db'))).toBe(false)
    const started = await homeport(['serve', '--data', into, '--port', '0', '--edge-port', '0', '--no-open'])
    expect([started.code, started.err]).toEqual([1, expect.stringMatching(/was cut off.*Run it again/)])

    const { code, out, err } = await homeport([...args, keyFile])
    expect([code, err]).toEqual([0, ''])
    expect(out).toMatch(/Restored the backup of .* into .*restored/)
    expect(out).toContain('1 projects, 1 deployments')
    const again = await serve({ data: into })
    try {
      expect(await askEdge(again.instance.edge_url, 'my-site')).toEqual({ status: 200, text: '<h1>kept</h1>' })
    } finally {
      const { err: said } = await again.end('SIGTERM')
      expect(said).toContain('This instance was restored from the backup of')
    }
  })

  test('--json prints what it restored', async () => {
    const other = join(folder.path, 'json')
    const { code, out } = await homeport(['restore', file, '--data', other, '--without-key', '--json'])
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({ data_dir: other, counts: { projects: 1, deployments: 1 }, lost: [], left_out: [] })
    rmSync(other, { recursive: true })
  })
})

test('a platform that is killed while it makes one leaves a draft, which its next start removes', async () => {
  const other = await serve({ data: join(folder.path, 'killed') })
  const kept = join(folder.path, 'killed', 'backups')
  mkdirSync(join(folder.path, 'killed', 'screenshots'), { recursive: true })
  // Nothing but a hole, which takes no room: a machine that stalls is back long before it is read and packed.
  writeFileSync(join(folder.path, 'killed', 'screenshots', 'large.png'), '')
  truncateSync(join(folder.path, 'killed', 'screenshots', 'large.png'), 4e9)
  const asked = other.ask('/instance/backups', { method: 'POST' }).catch(() => undefined)
  await until(async () => (existsSync(kept) && readdirSync(kept).some((name) => name.startsWith('.draft-'))) || undefined, {
    what: 'a draft',
    every_ms: 1,
  })
  await other.end('SIGKILL')
  await asked
  expect(readdirSync(kept).filter((name) => name.startsWith('homeport-'))).toEqual([])
  const next = await serve({ data: join(folder.path, 'killed') })
  expect(readdirSync(kept).filter((name) => name.startsWith('.draft-'))).toEqual([])
  await next.end('SIGTERM')
})
