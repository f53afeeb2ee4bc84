import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { instanceIdOf, viewEngine, type EngineView } from '../support/docker.ts'
import { newFolder, serve, type RunningInstance } from '../support/instance-process.ts'
import { createClient, until, type Client } from '../support/platform.ts'
import { makeRepository, type Repository } from '../support/repository.ts'
import { requires } from '../support/requirements.ts'
import { type Bed, readRuntimeLog, type Self, sleeper, watchBed } from '../support/sleeper.ts'

describe.skipIf(!requires('docker').ok)('with a Docker engine', () => restartStories('docker'))
restartStories('process')

/** What sleeps when the platform ends, in order or by force, and when it is there again. */
function restartStories(runtime: 'process' | 'docker'): void {
  describe(`sleep over the end of the platform, on ${runtime}`, () => {
    let folder: ReturnType<typeof newFolder>
    let repository: Repository
    let instance: RunningInstance
    let client: Client
    let view: EngineView
    let bed: Bed
    let id: string
    let before: Self

    const start = async () => {
      instance = await serve({ data: folder.path, args: ['--port', '0', '--edge-port', '0', '--runtime', runtime] })
      client = createClient(instance.instance)
      await client.api('PATCH', '/instance/settings', { rate_limit_authenticated: 1_000_000 })
    }
    const set = async (change: object) => expect((await client.api('PATCH', '/instance/settings', change)).status).toBe(200)
    const ask = async (): Promise<Self> => {
      const answer = await client.edge('sleeper.localhost')
      expect(answer.status, answer.body).toBe(200)
      return JSON.parse(answer.body) as Self
    }
    const log = () => readRuntimeLog(instance.instance, 'sleeper')
    const isCold = (wanted: boolean) =>
      until(async () => ((await client.project('sleeper')).is_cold === wanted ? true : undefined), { what: `is_cold to be ${wanted}` })

    beforeEach(async () => {
      folder = newFolder('sleep')
      repository = makeRepository(sleeper())
      await start()
      const { body } = await client.api<{ user: { id: string } }>('GET', '/instance/session')
      view = viewEngine(instanceIdOf(body.user.id))
      bed = watchBed({ runtime, data_dir: folder.path, view })
      await client.createProject({ slug: 'sleeper', repo_url: repository.url })
      id = (await client.deploy('sleeper')).id
      expect(await client.ended('sleeper', id)).toMatchObject({ status: 'ready', error: null })
      before = await ask()
      await set({ sleep_after_s: 1 })
      await isCold(true)
      await bed.reaches(id, 'frozen')
    })
    afterEach(async () => {
      await client.api('DELETE', '/v1/projects/sleeper')
      await bed.reaches(id, 'none')
      await instance.end()
      if (runtime === 'docker') await view.removeAll()
      repository.remove()
      folder.remove()
    })

    test('killed by force while it is frozen: it sleeps on, and wakes', async () => {
      const container = runtime === 'docker' ? await bed.containerOf(id) : undefined
      expect((await instance.run('projects')).out).toMatch(/sleeper\s+live, cold/)
      await instance.end('SIGKILL')
      await start()
      // A frozen container stays as it is; a frozen process of a platform that is gone can only be ended.
      await bed.reaches(id, runtime === 'docker' ? 'frozen' : 'none')
      expect(await client.project('sleeper')).toMatchObject({ status: 'live', is_cold: true })
      await set({ sleep_after_s: 3600 })
      const after = await ask()
      await isCold(false)
      if (runtime === 'docker') {
        expect(after.born).toBe(before.born)
        expect(await bed.containerOf(id)).toBe(container)
      } else expect(after.born).not.toBe(before.born)
      await expect
        .poll(async () => (await log()).states, { timeout: 60_000 })
        .toEqual(runtime === 'docker' ? ['starting', 'running', 'cold', 'running'] : ['starting', 'running', 'cold', 'starting', 'running'])
    })

    test('an end in order that stops the apps: a frozen one gets its SIGTERM, and sleeps after the restart', async () => {
      await set({ on_exit: 'stop' })
      const ran = await instance.end()
      expect(ran.code).toBe(0)
      expect(await bed.depth(id)).toBe('none')
      await start()
      expect(await client.project('sleeper')).toMatchObject({ status: 'live', is_cold: true })
      await set({ sleep_after_s: 3600 })
      // Nothing has woken it: its first visitor does.
      expect(await bed.depth(id)).toBe('none')
      expect((await ask()).born).not.toBe(before.born)
      await isCold(false)
      // What it prints may come after what it answers.
      await expect.poll(log, { timeout: 60_000 }).toEqual({
        lines: ['listens', 'asked to end', 'listens'],
        states: ['starting', 'running', 'cold', 'stopped', 'starting', 'running'],
      })
    })
  })
}
