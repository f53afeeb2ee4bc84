import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { closeSync, existsSync, mkdirSync, mkdtempSync, openSync, readdirSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import { createTarGz } from '../support/archives.ts'
import { startTestPlatform, type TestPlatform } from '../support/platform.ts'
import { makeRepository, type Repository, tinyServer } from '../support/repository.ts'
import { until } from '../support/until.ts'

const mebibyte = 2 ** 20
/** Prints so much for every visit that the log soon needs more space. */
const chattyApp = tinyServer(
  'chatty',
  "require('node:http').createServer = ((make) => (answer) => make((request, response) => { for (let i = 0; i < 200; i++) console.log('x'.repeat(1000)); answer(request, response) }))(require('node:http').createServer)",
)

/** A platform whose data folder is on a small separate disk, which a test fills to the last byte. It runs the app `chatty`. */
export function useSmallDiskPlatform() {
  let folder: string
  let platform: TestPlatform
  const repositories: Repository[] = []
  const data = () => join(folder, 'data')
  const filler = () => join(folder, 'filler')
  const names = (location: string) => (existsSync(join(data(), location)) ? readdirSync(join(data(), location)) : [])
  const makeRoom = () => rmSync(filler(), { force: true })
  const start = async () => void (platform = await startTestPlatform({ runtime: 'process', data_dir: data() }))
  const connect = async (slug: string, files: Record<string, string>) => {
    const repository = makeRepository(files)
    repositories.push(repository)
    await platform.createProject({ slug, repo_url: repository.url })
  }
  const live = async (slug: string) => {
    const { status, error } = await platform.waitForEnd(slug, (await platform.deploy(slug)).id)
    expect([status, error]).toEqual(['ready', null])
  }

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'homeport-small-disk-'))
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=96m', 'tmpfs', folder])
    mkdirSync(data())
    await start()
    await platform.api('PATCH', '/instance/settings', { build_concurrency: 1 })
    await connect('chatty', chattyApp)
    await live('chatty')
    // An hourly copy that fails on the full disk would free its space again, in the middle of a test.
    await platform.advance(5_000)
    await until(() => names('backups').find((name) => /^hourly-.*\.db$/.test(name)), { what: 'the first safe copy' })
  })
  afterEach(makeRoom)
  afterAll(async () => {
    await platform.handle.stop()
    execFileSync('umount', ['--recursive', folder])
    rmSync(folder, { recursive: true })
    for (const repository of repositories) repository.remove()
  })

  return {
    platform: () => platform,
    start,
    connect,
    live,
    names,
    makeRoom,
    async upload(slug: string) {
      const response = await fetch(`${platform.handle.api_url}/v1/projects/${slug}/upload`, {
        method: 'POST',
        body: new Uint8Array(createTarGz([{ name: 'index.html', data: 'hello' }])),
        headers: { authorization: `Bearer ${platform.handle.instance.token}`, 'content-type': 'application/gzip' },
      })
      return { status: response.status, body: (await response.json()) as { error?: string } }
    },
    slugs: async () => (await platform.api<{ projects: { slug: string }[] }>('GET', '/v1/projects?limit=100')).body.projects.map(({ slug }) => slug),
    /** Uses all free space except `leave` bytes. */
    fill(leave = 0) {
      makeRoom()
      const file = openSync(filler(), 'w')
      for (const size of [mebibyte, 4096])
        for (const block = Buffer.alloc(size, 1); ;)
          try {
            writeSync(file, block)
          } catch {
            break
          }
      closeSync(file)
      if (leave > 0) execFileSync('truncate', ['-s', `-${leave}`, filler()])
    },
    /** The database log has preallocated space: until that is used up, too. */
    untilRefused: () =>
      until(
        async () => {
          const vars = Array.from({ length: 20 }, (_, i) => ({
            key: `FILL_${i}_${randomBytes(8).toString('hex').toUpperCase()}`,
            value: 'v'.repeat(9_000),
            environment: 'preview',
          }))
          const { status, body } = await platform.api<{ error?: string }>('POST', '/v1/projects/chatty/env-vars', { vars })
          if (status === 201) return undefined
          expect([status, body.error]).toEqual([507, 'storage_full'])
          return true
        },
        { what: 'a write that the disk refuses', every_ms: 1 },
      ),
  }
}
