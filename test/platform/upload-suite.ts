import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fullTest } from '../support/full-test.ts'
import type { Deployment } from '../../server/contract/deployments.ts'
import { sendRequest } from '../support/http-request.ts'
import { createTar, createTarGz, createZip } from '../support/archives.ts'
import { createSeededRandom, mutateBytes } from '../support/seeded-random.ts'
import { hostileArchives } from '../support/hostile-archives.ts'
import { createTempFolder } from '../support/instance-process.ts'
import { startTestPlatform, type TestPlatform } from '../support/platform.ts'
import { until } from '../support/until.ts'

const mebibyte = 2 ** 20

const site = (text: string) => [{ name: 'site/index.html', data: text }]

interface UploadSuiteSize {
  /** Only every n-th of the hostile archives. */
  hostile_every: number
  /** Valid archives with random faults, from a fixed seed. */
  mutated: number
  /** Fractions of an archive after which the platform is killed. */
  killed_at: number[]
  /** Whether one of 250 MiB is included. */
  has_large: boolean
}

/** Archives sent to a platform: the cost and leftovers of hostile ones, large ones, kills during an upload. */
export function uploadSuite(extent: UploadSuiteSize): void {
  const folder = createTempFolder('uploads')
  const data = join(folder.path, 'data')
  let platform: TestPlatform

  const start = async () => {
    platform = await startTestPlatform({ runtime: 'process', data_dir: data })
    await platform.api('PATCH', '/instance/settings', { keep_deployments: 3 })
  }
  const upload = async (slug: string, bytes: Buffer): Promise<{ status: number; error: string; id: string }> => {
    const { status, json } = await sendRequest(`${platform.handle.api_url}/v1/projects/${slug}/upload`, {
      method: 'POST',
      body: bytes,
      headers: { authorization: `Bearer ${platform.handle.instance.token}`, 'content-type': 'application/gzip' },
    })
    return { status, error: String(json.error ?? ''), id: String(json.deployment_id ?? '') }
  }
  const deployments = async (slug: string) =>
    (await platform.api<{ deployments: Deployment[] }>('GET', `/v1/projects/${slug}/deployments?limit=100`)).body.deployments
  const settled = (slug: string) =>
    until(async () => (await deployments(slug)).every((one) => ['ready', 'failed', 'canceled'].includes(one.status)) || undefined, {
      what: 'all deployments to end',
    })
  const goesLive = async (slug: string, text: string) => {
    const { status, id } = await upload(slug, createTarGz(site(text)))
    expect(status).toBe(201)
    await settled(slug)
    expect((await deployments(slug)).find((one) => one.id === id)?.status).toBe('ready')
    expect((await platform.fetchEdge(`${slug}.localhost`)).body).toBe(text)
  }
  const names = (path: string) => (existsSync(join(data, path)) ? readdirSync(join(data, path)) : [])

  /** Memory of the platform: current, and the peak since the last `forgetPeak`, in MiB. */
  const memory = (what: 'VmRSS' | 'VmHWM') =>
    Number(new RegExp(`^${what}:\\s+(\\d+)`, 'm').exec(readFileSync(`/proc/${platform.pid}/status`, 'utf8'))?.[1] ?? NaN) / 1024
  const forgetPeak = () => writeFileSync(`/proc/${platform.pid}/clear_refs`, '5')

  beforeAll(async () => {
    mkdirSync(data)
    writeFileSync(join(folder.path, 'canary'), 'sings')
    await start()
  })
  afterAll(async () => {
    await platform.remove()
    folder.remove()
  })

  describe('hostile archives', () => {
    test('each is refused; nothing is left or written outside, memory stays flat, the next valid one goes live', async () => {
      await platform.createProject({ slug: 'hostile' })
      await goesLive('hostile', 'before')
      const before = memory('VmRSS')
      forgetPeak()
      const kept = names('archives').length
      const wrong: string[] = []
      for (const { name, bytes } of hostileArchives.filter((_, index) => index % extent.hostile_every === 0)) {
        const response = await upload('hostile', bytes())
        if (response.status !== 400 || response.error !== 'invalid_archive') wrong.push(`${name}: ${response.status} ${response.error}`)
        if (names('quarantine').length > 0) wrong.push(`${name}: left in quarantine`)
      }
      expect(wrong).toEqual([])
      expect(hostileArchives.length).toBeGreaterThan(120)
      expect(memory('VmHWM') - before).toBeLessThan(100)
      expect(names('archives').length).toBe(kept)
      expect((await deployments('hostile')).length).toBe(1)
      expect(readdirSync(folder.path).toSorted()).toEqual(['canary', 'data'])
      await goesLive('hostile', 'after')
    })

    test(`${extent.mutated} valid ones with mutations: accepted or refused, with the same guarantees`, async () => {
      await platform.createProject({ slug: 'mutated' })
      await goesLive('mutated', 'before')
      const before = memory('VmRSS')
      forgetPeak()
      const seededRandom = createSeededRandom(20_261_121)
      const files = Array.from({ length: 12 }, (_, n) => ({
        name: `app/dir-${n % 3}/file-${n}.html`,
        data: `<p>${n}</p>`.repeat(seededRandom.between(1, 400)),
      }))
      const more = [...files, { name: 'app/index.html', data: 'home' }]
      const tar = createTar([
        ...more,
        { name: 'app/link', type: '2', link: 'index.html' },
        { name: 'app/long', pax: { path: `app/${'l'.repeat(150)}` }, data: 'x' },
      ])
      const zip = createZip([...more, { name: 'app/link', data: 'index.html', mode: 0o120777, method: 0 }])
      const counts = new Map<string, number>()
      for (let n = 0; n < extent.mutated; n++) {
        // Inside the compression every second time, because its checksum would detect the fault first.
        const bytes =
          n % 4 === 0
            ? mutateBytes(gzipSync(tar), seededRandom)
            : n % 2 === 0
              ? gzipSync(mutateBytes(tar, seededRandom))
              : mutateBytes(zip, seededRandom)
        const { status, error } = await upload('mutated', bytes)
        const outcome = status === 201 ? '201' : `${status} ${error}`
        counts.set(outcome, (counts.get(outcome) ?? 0) + 1)
      }
      expect([...counts.keys()].filter((outcome) => outcome !== '201' && outcome !== '400 invalid_archive')).toEqual([])
      expect(counts.get('400 invalid_archive')).toBeGreaterThan(extent.mutated * 0.4)
      await settled('mutated')
      expect(memory('VmHWM') - before).toBeLessThan(100)
      await goesLive('mutated', 'after')
      expect(names('quarantine')).toEqual([])
      expect(names('work')).toEqual([])
      expect(readdirSync(folder.path).toSorted()).toEqual(['canary', 'data'])
      expect(readFileSync(join(folder.path, 'canary'), 'utf8')).toBe('sings')
    })
  })

  if (extent.has_large)
    test('250 MiB take less than 64 MiB of memory', async () => {
      const large = createLargestArchive()
      await platform.createProject({ slug: 'large' })
      await goesLive('large', 'before')
      expect(large.length).toBeGreaterThan(249 * mebibyte)
      expect(large.length).toBeLessThanOrEqual(250 * mebibyte)
      const before = memory('VmRSS')
      forgetPeak()
      const { status, id } = await upload('large', large)
      const peak = memory('VmHWM') - before
      expect(status).toBe(201)
      await platform.api('POST', `/v1/projects/large/deployments/${id}/cancel`)
      await settled('large')
      expect(peak).toBeLessThan(64)
    })

  fullTest('kill -9 during an upload leaves no deployment and no archive, and the next upload is 201', async () => {
    await platform.createProject({ slug: 'killed' })
    const bytes = createIncompressibleArchive(2)
    for (const part of extent.killed_at) {
      await sendPart('killed', bytes, part)
      await platform.kill()
      expect(names('quarantine').length).toBe(1)
      await start()
      expect(names('quarantine')).toEqual([])
      expect(await deployments('killed')).toEqual([])
    }
    const { id } = await platform.getProject('killed')
    expect(names(join('archives', id))).toEqual([])
    // As if the platform had died between the archive and its row.
    mkdirSync(join(data, 'archives', id), { recursive: true })
    writeFileSync(join(data, 'archives', id, 'dpl_orphan'), 'x')
    await platform.kill()
    await start()
    expect(names(join('archives', id))).toEqual([])
    await goesLive('killed', 'alive')
  })

  /** Sends a part of an archive and resolves when the platform has it on disk. */
  async function sendPart(slug: string, bytes: Buffer, part: number): Promise<void> {
    const { hostname, port } = new URL(platform.handle.api_url)
    const headers = { authorization: `Bearer ${platform.handle.instance.token}`, 'content-type': 'application/gzip', 'content-length': bytes.length }
    const sending = request({ hostname, port, path: `/v1/projects/${slug}/upload`, method: 'POST', headers })
    sending.on('error', () => {})
    const length = Math.floor(bytes.length * part)
    sending.write(bytes.subarray(0, length))
    await until(
      () => {
        const [name] = names('quarantine')
        return (name !== undefined && readFileSync(join(data, 'quarantine', name)).length === length) || undefined
      },
      { what: 'the part to lie on the disk' },
    )
  }
}

/** An incompressible .tar.gz of this size, with a page. */
function createIncompressibleArchive(mebibytes: number): Buffer {
  const seededRandom = createSeededRandom(mebibytes)
  const noise = Buffer.alloc(mebibytes * mebibyte)
  for (let at = 0; at < noise.length; at += 4) noise.writeUInt32LE(seededRandom.between(0, 0xffffffff), at)
  return gzipSync(createTar([...site('noise'), { name: 'site/noise', data: noise }]), { level: 1 })
}

/** The maximum size of an upload: concatenated gzip members. */
function createLargestArchive(): Buffer {
  const piece = gunzipSync(createIncompressibleArchive(10)).subarray(0, 10 * mebibyte)
  const header = createTar([{ name: 'noise', size: 24 * piece.length }]).subarray(0, 512)
  const packed = gzipSync(piece, { level: 1 })
  const all = Buffer.concat([gzipSync(header), ...Array.from({ length: 24 }, () => packed), gzipSync(createTar(site('large')))])
  const rest = 250 * mebibyte - all.length - 64 * 1024
  const filler = gunzipSync(createIncompressibleArchive(10)).subarray(0, rest - (rest % 512) - 4096)
  return Buffer.concat([
    gzipSync(header),
    ...Array.from({ length: 24 }, () => packed),
    gzipSync(createTar([...site('large'), { name: 'filler', data: filler }]), { level: 1 }),
  ])
}
