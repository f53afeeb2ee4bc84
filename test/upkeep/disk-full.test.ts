/** A platform whose data folder lies on a small disk of its own, which is filled to the last byte, and then has room again. */
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { DeploymentDetail } from '../../server/contract/deployments.ts'
import type { Project } from '../../server/contract/projects.ts'
import { tgzOf } from '../support/archives.ts'
import { askEdge, newFolder, type RunningInstance, serve } from '../support/instance-process.ts'
import { makeRepository, tinyServer, type Repository } from '../support/repository.ts'
import { requires } from '../support/requirements.ts'
import { until } from '../support/until.ts'

const mebibyte = 2 ** 20
/** Prints so much for every visit that the log soon asks for more room. */
const chatty = tinyServer(
  'chatty',
  "require('node:http').createServer = ((make) => (answer) => make((request, response) => { for (let i = 0; i < 200; i++) console.log('x'.repeat(1000)); answer(request, response) }))(require('node:http').createServer)",
)

describe.skipIf(!requires('tmpfs').ok)('a full disk', () => {
  const folder = newFolder('disk-full')
  const disk = join(folder.path, 'disk')
  const data = join(disk, 'data')
  const filler = join(disk, 'filler')
  const repositories: Repository[] = []
  let instance: RunningInstance

  const ask = async (method: string, path: string, body?: unknown) => {
    const answer = await instance.ask(path, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    })
    const text = await answer.text()
    return { status: answer.status, body: (text === '' ? {} : JSON.parse(text)) as Record<string, unknown> & { error?: string } }
  }
  const upload = async (slug: string, bytes: Buffer) => {
    const body = new Uint8Array(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.length)
    const answer = await instance.ask(`/v1/projects/${slug}/upload`, { method: 'POST', body, headers: { 'content-type': 'application/gzip' } })
    return { status: answer.status, body: (await answer.json()) as { error?: string } }
  }
  const connect = async (slug: string, files: Record<string, string>) => {
    const repository = makeRepository(files)
    repositories.push(repository)
    expect((await ask('POST', '/v1/projects', { slug, name: slug, repo_url: repository.url })).status).toBe(201)
  }
  const deploy = async (slug: string): Promise<string> => {
    const { status, body } = await ask('POST', `/v1/projects/${slug}/deploy`)
    expect([status, body.error]).toEqual([201, undefined])
    return (body.deployment as DeploymentDetail).id
  }
  const deployment = async (slug: string, id: string) =>
    (await ask('GET', `/v1/projects/${slug}/deployments/${id}`)).body.deployment as DeploymentDetail
  const ended = (slug: string, id: string) =>
    until(
      async () => {
        const found = await deployment(slug, id)
        return ['ready', 'failed', 'canceled'].includes(found.status) ? found : undefined
      },
      { what: `the end of ${id}` },
    )
  const slugs = async () => ((await ask('GET', '/v1/projects?limit=100')).body.projects as Project[]).map(({ slug }) => slug).toSorted()
  const names = (place: string) => (existsSync(join(data, place)) ? readdirSync(join(data, place)) : [])

  /** Takes all room that there is, but for `leave`. */
  const fill = (leave = 0) => {
    rmSync(filler, { force: true })
    const file = openSync(filler, 'w')
    for (const size of [mebibyte, 4096])
      for (const block = Buffer.alloc(size, 1); ;)
        try {
          writeSync(file, block)
        } catch {
          break
        }
    closeSync(file)
    if (leave > 0) execFileSync('truncate', ['-s', `-${leave}`, filler])
  }
  const makeRoom = () => rmSync(filler, { force: true })

  /** A log of the database has room of its own for a while: until that is used up, too. */
  const untilRefused = async (): Promise<void> => {
    await until(
      async () => {
        const value = 'v'.repeat(9_000)
        const vars = Array.from({ length: 20 }, (_, i) => ({
          key: `FILL_${i}_${randomBytes(8).toString('hex').toUpperCase()}`,
          value,
          environment: 'preview',
        }))
        const { status, body } = await ask('POST', '/v1/projects/chatty/env-vars', { vars })
        if (status === 201) return undefined
        expect([status, body.error]).toEqual([507, 'storage_full'])
        return true
      },
      { what: 'a write that the disk refuses', every_ms: 1 },
    )
  }

  beforeAll(async () => {
    mkdirSync(disk)
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=96m', 'tmpfs', disk])
    mkdirSync(data)
    instance = await serve({ data })
    await ask('PATCH', '/instance/settings', { rate_limit_authenticated: 1_000_000, build_concurrency: 1 })
    await connect('chatty', chatty)
    expect((await ended('chatty', await deploy('chatty'))).status).toBe('ready')
    // A safe copy that met the full disk half way would give back what it had taken: room in the middle of what shall be refused.
    await until(() => names('backups').find((name) => /^hourly-.*\.db$/.test(name)), { what: 'the first safe copy' })
  }, 60_000)
  afterEach(makeRoom)
  afterAll(async () => {
    await instance?.end('SIGTERM')
    execFileSync('umount', ['--recursive', disk])
    for (const repository of repositories) repository.remove()
    folder.remove()
  })

  test('what would write is refused with storage_full and leaves nothing; what reads goes on; the app lives', async () => {
    await ask('POST', '/v1/projects', { slug: 'uploads', name: 'uploads' })
    fill()
    await untilRefused()
    const before = { slugs: await slugs(), archives: names('archives'), work: names('work') }

    const refusals = await Promise.all([
      ask('POST', '/v1/projects', { slug: 'new-one', name: 'new' }),
      ask('POST', '/v1/projects/chatty/deploy'),
      ask('POST', '/v1/projects/chatty/env-vars', { key: 'ONE', value: 'v'.repeat(9_000), environment: 'preview' }),
      ask('PATCH', '/instance/settings', { keep_deployments: 7 }),
      upload('uploads', tgzOf([{ name: 'index.html', data: 'hello' }])),
    ])
    expect(refusals.map(({ status, body }) => [status, body.error])).toEqual(refusals.map(() => [507, 'storage_full']))

    // Two hundred kilobytes of log for each.
    for (let i = 0; i < 40; i++) expect((await askEdge(instance.instance.edge_url, 'chatty')).text).toBe('chatty')
    for (const path of [
      '/v1/projects',
      '/v1/projects/chatty',
      '/v1/projects/chatty/deployments',
      '/v1/projects/chatty/metrics',
      '/instance/disk',
      '/instance/settings',
      '/healthz',
    ])
      expect([path, (await ask('GET', path)).status]).toEqual([path, 200])
    expect({ slugs: await slugs(), archives: names('archives'), work: names('work') }).toEqual(before)
    expect(names('quarantine')).toEqual([])
    expect((await ask('GET', '/v1/projects/uploads/deployments')).body.deployments).toEqual([])

    makeRoom()
    expect((await ask('POST', '/v1/projects', { slug: 'new-one', name: 'new' })).status).toBe(201)
    expect((await upload('uploads', tgzOf([{ name: 'index.html', data: 'hello' }]))).status).toBe(201)
    expect((await ended('chatty', await deploy('chatty'))).status).toBe('ready')
    await until(async () => ((await askEdge(instance.instance.edge_url, 'uploads')).text === 'hello' ? true : undefined), {
      what: 'the upload to go live',
    })
    expect(process.kill(instance.pid, 0)).toBe(true)
  }, 120_000)

  test('a build that fills the disk fails with storage_full, leaves nothing, and the next one is well', async () => {
    const writes = (bytes: number) => ({
      'package.json': JSON.stringify({ name: 'big', private: true, scripts: { build: 'node build.js', start: 'node server.js' } }),
      'build.js': `require('node:fs').writeFileSync('big.bin', Buffer.alloc(${bytes}, 1))`,
      'server.js': "require('node:http').createServer((_, response) => response.end('big')).listen(process.env.PORT)",
    })
    await connect('big', writes(20 * mebibyte))
    fill(6 * mebibyte)
    const failed = await ended('big', await deploy('big'))
    expect(failed).toMatchObject({ status: 'failed', error: { code: 'storage_full' } })
    expect(names('work')).toEqual([])
    expect(names('bundles')).not.toContain(failed.id)
    makeRoom()
    expect((await ended('big', await deploy('big'))).status).toBe('ready')
  }, 120_000)

  test('a deployment whose end the full disk does not take ends once there is room; a cancel meanwhile is told why not', async () => {
    const [began, go] = [join(folder.path, 'began'), join(folder.path, 'go')]
    await connect('stuck', {
      'package.json': JSON.stringify({ name: 'stuck', private: true, scripts: { build: 'node build.js', start: 'node server.js' } }),
      'build.js': `
const fs = require('node:fs')
fs.writeFileSync(${JSON.stringify(began)}, '')
setInterval(() => fs.existsSync(${JSON.stringify(go)}) && process.exit(1), 20)`,
      'server.js': '',
    })
    // On a disk of its own, so that what the build leaves is no room for the database.
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=16m', 'tmpfs', join(data, 'work')])
    const id = await deploy('stuck')
    await until(() => existsSync(began) || undefined, { what: 'the build to begin' })
    fill()
    await untilRefused()
    writeFileSync(go, '')
    await until(
      async () => {
        const { status, body } = await ask('POST', `/v1/projects/stuck/deployments/${id}/cancel`)
        return status === 507 && body.error === 'storage_full' ? body : undefined
      },
      { what: 'the cancel to be refused' },
    )
    expect((await deployment('stuck', id)).status).toBe('building')
    makeRoom()
    const end = await ended('stuck', id)
    expect(['failed', 'canceled']).toContain(end.status)
    execFileSync('umount', [join(data, 'work')])
    expect((await ended('chatty', await deploy('chatty'))).status).toBe('ready')
  }, 120_000)

  test('a clean-up does what it can where even the database takes nothing', async () => {
    fill()
    await untilRefused()
    const { status, body } = await ask('POST', '/instance/disk/clean', {})
    expect([status, body.error]).toEqual([200, undefined])
    makeRoom()
    expect((await ask('DELETE', '/v1/projects/uploads')).status).toBe(204)
  }, 60_000)

  test('a start on a full disk says so; with room it is whole again', async () => {
    await instance.end('SIGTERM')
    fill()
    await expect(serve({ data })).rejects.toThrow(/disk .*is full/)
    makeRoom()
    instance = await serve({ data })
    expect(await slugs()).toContain('chatty')
  }, 60_000)
})
