import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Settings } from '../../server/contract/instance.ts'
import type { Backup } from '../../server/contract/maintenance.ts'
import type { CronRun, Service } from '../../server/contract/services.ts'
import type { Volume, VolumeEntry, VolumeSnapshot } from '../../server/contract/volumes.ts'
import { restore } from '../maintenance/forged-backups.ts'
import { fullTest } from '../support/full-test.ts'
import { commitToBranch, waitForFirstCheck, waitForPreview } from '../support/git-branches.ts'
import { startTestPlatform, until, type TestPlatform } from '../support/platform.ts'
import { makeRepository, type Repository } from '../support/repository.ts'
import { shop } from './services-suite.ts'

interface Services {
  services: Service[]
  release_command: string | null
}

/** The environment of a project as a whole: sleep, waking, restarts of the platform, cron. */
export function environmentSuite(runtime: 'process' | 'docker'): void {
  const repositories: Repository[] = []
  let platform: TestPlatform
  beforeAll(async () => {
    platform = await startTestPlatform({ runtime })
  })
  afterAll(async () => {
    await platform.remove()
    for (const repository of repositories) repository.remove()
  })

  const live = async (slug: string, files: Record<string, string>) => {
    const repository = makeRepository(files)
    repositories.push(repository)
    await platform.createProject({ slug, repo_url: repository.url })
    const { id } = await platform.deploy(slug)
    expect(await platform.waitForEnd(slug, id)).toMatchObject({ status: 'ready', error: null })
    return repository
  }
  const listServices = async (slug: string, query = '') => (await platform.api<Services>('GET', `/instance/projects/${slug}/services${query}`)).body
  const readHome = async (slug: string) => JSON.parse((await platform.fetchEdge(`${slug}.localhost`)).body) as Record<string, string>

  test('services are listed with status and address, have separate logs, and are restarted individually', async () => {
    await live('listed', shop('one'))
    const { services, release_command } = await listServices('listed')
    expect(release_command).toBe('node release.js')
    const port = new URL(platform.handle.edge_url).port
    expect(services.map(({ name, kind, status, is_main, url }) => ({ name, kind, status, is_main, url }))).toEqual([
      { name: 'web', kind: 'web', status: 'running', is_main: true, url: `http://listed.localhost:${port}` },
      { name: 'api', kind: 'web', status: 'running', is_main: false, url: `http://api--listed.localhost:${port}` },
      { name: 'worker', kind: 'worker', status: 'running', is_main: false, url: null },
    ])
    expect((await platform.api('POST', '/instance/projects/listed/services/worker/restart')).status).toBe(200)
    await until(async () => (await readHome('listed')).worker === 'hello one;hello one;' || undefined, { what: 'the worker to run again' })
    expect((await platform.api('POST', '/instance/projects/listed/services/web/restart')).status).toBe(409)
    expect((await platform.api('POST', '/instance/projects/listed/services/other/restart')).status).toBe(404)
  })

  fullTest('the environment sleeps as a whole, and a request to any of its addresses wakes it', async () => {
    await live('tired', shop('one'))
    await readHome('tired')
    const setSleepAfter = (sleep_after_s: number) => platform.api('PATCH', '/instance/settings', { sleep_after_s })
    const { settings } = (await platform.api<{ settings: Settings }>('GET', '/instance/settings')).body
    await setSleepAfter(60)
    await until(
      async () => {
        await platform.advanceInSteps(60_000)
        return (await platform.getProject('tired')).is_cold || undefined
      },
      { what: 'the environment to sleep' },
    )
    await setSleepAfter(settings.sleep_after_s)
    expect((await listServices('tired')).services.map(({ status }) => status)).toEqual(['asleep', 'asleep', 'asleep'])
    expect(await platform.fetchEdge('api--tired.localhost')).toMatchObject({ status: 200, body: 'api one' })
    expect((await platform.getProject('tired')).is_cold).toBe(false)
    expect(await readHome('tired')).toMatchObject({ api: 'api one' })
  })

  test('a cron service runs when due and on demand, never twice at once, and reports how it ended', async () => {
    // In five minutes, and then not for an hour: the clock of the platform also runs in real time.
    const minute = (new Date(await platform.now()).getUTCMinutes() + 5) % 60
    const atMinute = expect.stringMatching(new RegExp(`:${String(minute).padStart(2, '0')}:00\\.000Z$`)) as string
    const cron = (script: string) => ({
      ...shop('one'),
      'job.js': script,
      'homeport.yaml': `
services:
  web: { build: ., command: node server.js, port: 3000, volumes: ["state:/app/state"] }
  job: { build: ., command: node job.js, schedule: "${minute} * * * *", volumes: ["state:/app/state"] }
volumes: { state: {} }
`,
    })
    const repository = await live(
      'clock',
      cron(
        `require('node:fs').appendFileSync('state/worker', 'run;'); if (require('node:fs').readFileSync('state/worker', 'utf8').length > 10) process.exit(9)`,
      ),
    )
    const runs = async () => (await platform.api<{ runs: CronRun[] }>('GET', '/instance/projects/clock/services/job/runs')).body.runs
    const statuses = async () => (await runs()).map(({ trigger, status, exit_code }) => [trigger, status, exit_code])
    const job = async () => (await listServices('clock')).services.find(({ name }) => name === 'job')
    expect(await job()).toMatchObject({
      kind: 'cron',
      status: 'scheduled',
      next_run_at: atMinute,
      last_run: null,
    })

    expect((await platform.api<{ run: CronRun }>('POST', '/instance/projects/clock/services/job/runs')).body.run).toMatchObject({
      status: 'running',
      trigger: 'manual',
    })
    await until(async () => (await statuses())[0]?.[1] === 'succeeded' || undefined, { what: 'the first run to end' })
    expect((await readHome('clock')).worker).toBe('run;')
    await until(
      async () => {
        await platform.advanceInSteps(60_000)
        return (await statuses()).length >= 2 || undefined
      },
      { what: 'the time of the schedule to come' },
    )
    await until(async () => (await statuses()).every(([, status]) => status !== 'running') || undefined, { what: 'the second run to end' })
    const scheduled = (await runs())[0]
    expect(scheduled).toMatchObject({ trigger: 'schedule', status: 'succeeded', scheduled_at: atMinute })
    await platform.api('POST', '/instance/projects/clock/services/job/runs')
    await until(async () => (await statuses())[0]?.[1] !== 'running' || undefined, { what: 'the third run to end' })
    expect((await runs())[0]).toMatchObject({ trigger: 'manual', status: 'failed', exit_code: 9, message: 'It exited with code 9.' })

    // A preview has the service, but does not run it.
    await platform.api('PATCH', '/instance/projects/clock/watching', { previews: true })
    await waitForFirstCheck(platform, 'clock')
    await waitForPreview(platform, 'clock', 'topic', commitToBranch(repository.folder, 'topic', { 'note.txt': 'topic' }))
    const { services } = await listServices('clock', '?branch=topic')
    expect(services.find(({ name }) => name === 'job')).toMatchObject({ status: 'stopped', next_run_at: null, last_run: null })
  })

  fullTest('a volume is listed with its size, saved, restored and downloaded; a restore saves the current files first', async () => {
    await live('kept', shop('one'))
    const base = '/instance/projects/kept/volumes'
    const list = async () => (await platform.api<{ volumes: Volume[] }>('GET', base)).body.volumes
    await until(async () => (await readHome('kept')).worker === 'hello one;' || undefined, { what: 'the worker' })
    expect(await list()).toEqual([
      {
        name: 'state',
        size_bytes: expect.any(Number),
        used_by: [
          { service: 'web', path: '/app/state', is_read_only: true },
          { service: 'worker', path: '/app/state', is_read_only: false },
        ],
        snapshots: [],
        added: null,
      },
    ])
    const { status, body } = await platform.api<{ snapshot: VolumeSnapshot }>('POST', `${base}/state/snapshots`)
    expect([status, body.snapshot.reason]).toEqual([201, 'manual'])
    await platform.api('POST', '/instance/projects/kept/services/worker/restart')
    await until(async () => (await readHome('kept')).worker === 'hello one;hello one;' || undefined, { what: 'the worker to write again' })
    const restored = await platform.api<{ before: VolumeSnapshot }>('POST', `${base}/state/restore`, { snapshot_id: body.snapshot.id })
    expect([restored.status, restored.body.before.reason]).toEqual([200, 'before_restore'])
    // The worker starts once more, on the files of the snapshot.
    await until(async () => (await readHome('kept')).worker === 'hello one;hello one;' || undefined, { what: 'the environment to be back' })
    expect((await list())[0]!.snapshots.map(({ id, reason }) => [id, reason])).toEqual([
      [restored.body.before.id, 'before_restore'],
      [body.snapshot.id, 'manual'],
    ])
    const { api_url, instance } = platform.handle
    const download = await fetch(`${api_url}${base}/state/download.tar.gz?snapshot=${body.snapshot.id}`, {
      headers: { authorization: `Bearer ${instance.token}` },
    })
    expect(gunzipSync(Buffer.from(await download.arrayBuffer())).toString('latin1')).toContain('hello one;\0')
    expect((await platform.api('POST', `${base}/state/restore`, { snapshot_id: 'snp_none' })).status).toBe(404)
    expect((await platform.api('POST', `${base}/other/snapshots`)).status).toBe(404)
    expect((await platform.api('DELETE', `${base}/state/snapshots/${body.snapshot.id}`)).status).toBe(204)
    expect((await list())[0]!.snapshots).toHaveLength(1)

    expect((await platform.api<{ entries: VolumeEntry[] }>('GET', `${base}/state/files`)).body.entries.map(({ name }) => name)).toContain('worker')
    const file = await fetch(`${api_url}${base}/state/files/content?path=worker`, { headers: { authorization: `Bearer ${instance.token}` } })
    expect([file.headers.get('content-type'), await file.text()]).toEqual(['application/octet-stream', 'hello one;hello one;'])
    for (const path of ['none', 'worker/none']) expect((await platform.api('GET', `${base}/state/files?path=${path}`)).status).toBe(404)
    for (const path of ['..', '../other', '/etc/passwd', 'a/../..', '.', 'a%00b'])
      for (const operation of ['files', 'files/content'])
        expect((await platform.api('GET', `${base}/state/${operation}?path=${path}`)).status, path).toBe(400)
    for (const name of ['..', '%2e%2e%2fstate', 'other']) expect((await platform.api('GET', `${base}/${name}/files`)).status, name).toBe(404)
  })

  fullTest('a volume that the live version no longer uses is deleted after a snapshot, which can be restored', async () => {
    const repository = await live('former', shop('one'))
    await until(async () => (await readHome('former')).worker === 'hello one;' || undefined, { what: 'the worker' })
    const base = '/instance/projects/former/volumes'
    expect((await platform.api<{ error: string }>('DELETE', `${base}/state`)).body.error).toBe('volume_in_use')
    repository.commit({ 'homeport.yaml': 'services:\n  web: { build: ., command: node server.js, port: 3000 }\n' })
    expect(await platform.waitForEnd('former', (await platform.deploy('former')).id)).toMatchObject({ status: 'ready', error: null })
    const list = async () => (await platform.api<{ volumes: Volume[] }>('GET', base)).body.volumes
    expect(await list()).toMatchObject([{ name: 'state', used_by: [] }])
    // The version that used it may still be draining.
    const { before } = await until(
      async () => {
        const { status, body } = await platform.api<{ before: VolumeSnapshot }>('DELETE', `${base}/state`)
        if (status === 409) await platform.advanceInSteps(10_000)
        return status === 200 ? body : undefined
      },
      { what: 'the volume to be deleted' },
    )
    const snapshots = async () => (await list()).map(({ size_bytes, snapshots }) => [size_bytes, snapshots.map(({ id, reason }) => [id, reason])])
    expect(await snapshots()).toEqual([[0, [[before.id, 'before_delete']]]])
    expect((await platform.api('DELETE', `${base}/state`)).status).toBe(404)
    expect((await platform.api('POST', `${base}/state/restore`, { snapshot_id: before.id })).body).toEqual({ before: null })
    expect((await platform.api<{ entries: VolumeEntry[] }>('GET', `${base}/state/files`)).body.entries.map(({ name }) => name)).toContain('worker')
  })

  fullTest('a new preview starts with a snapshot of production’s volumes if the project says so, and diverges from there', async () => {
    const repository = makeRepository(shop('one'))
    repositories.push(repository)
    await platform.createProject({ slug: 'origin', repo_url: repository.url, pushes: true })
    await waitForFirstCheck(platform, 'origin')
    expect(await platform.waitForEnd('origin', (await platform.deploy('origin')).id)).toMatchObject({ status: 'ready', error: null })
    await until(async () => (await readHome('origin')).worker === 'hello one;' || undefined, { what: 'the worker' })
    const push = async (branch: string, text: string) =>
      waitForPreview(platform, 'origin', branch, commitToBranch(repository.folder, branch, { 'note.txt': text }))
    const waitForWorker = (branch: string, lines: string) =>
      until(async () => (await readHome(`${branch}--origin`)).worker === lines || undefined, { what: `the worker of ${branch}` })
    await push('empty', 'one')
    await waitForWorker('empty', 'hello one;')

    expect((await platform.api('PATCH', '/instance/projects/origin/settings', { preview_volumes: 'snapshot' })).status).toBe(200)
    await push('copied', 'one')
    await waitForWorker('copied', 'hello one;hello one;')
    // The next version of the preview keeps its files, separate from production's.
    await push('copied', 'two')
    await waitForWorker('copied', 'hello one;hello one;hello one;')
    expect((await readHome('origin')).worker).toBe('hello one;')
  })

  fullTest('a backup has every volume, and a restored instance starts with its files', async () => {
    await live('saved', shop('one'))
    await until(async () => (await readHome('saved')).worker === 'hello one;' || undefined, { what: 'the worker' })
    const { status, body } = await platform.api<{ backup: Backup; left_out: string[] }>('POST', '/instance/backups')
    expect([status, body.left_out.filter((sentence) => sentence.includes('volume'))]).toEqual([201, []])
    const folder = mkdtempSync(join(tmpdir(), 'homeport-restored-'))
    const into = join(folder, 'data')
    await restore(body.backup.path, into, { key_file: join(platform.data_dir, 'master.key') })
    const again = await startTestPlatform({ runtime, data_dir: into })
    try {
      // Images are rebuilt; the worker of the new instance appends one line.
      await until(
        async () => {
          const response = await again.fetchEdge('saved.localhost')
          return (response.status === 200 && (JSON.parse(response.body) as { worker: string }).worker === 'hello one;hello one;') || undefined
        },
        { what: 'the restored environment' },
      )
    } finally {
      await again.remove()
      rmSync(folder, { recursive: true, force: true })
    }
  })

  fullTest('after the platform was killed, every service is restored', async () => {
    await live('killed', shop('one'))
    const { data_dir } = platform
    await platform.kill()
    platform = await startTestPlatform({ runtime, data_dir })
    await until(
      async () => {
        const { services } = await listServices('killed')
        return (services.length === 3 && services.every(({ status }) => status === 'running')) || undefined
      },
      { what: 'the services to run again' },
    )
    // Docker's containers survived the platform; processes were started again.
    const worker = runtime === 'docker' ? 'hello one;' : 'hello one;hello one;'
    await until(async () => (await readHome('killed')).worker === worker || undefined, { what: 'the worker' })
    expect(await readHome('killed')).toMatchObject({ version: 'one', api: 'api one' })
    expect((await platform.fetchEdge('api--killed.localhost')).body).toBe('api one')
  })
}
