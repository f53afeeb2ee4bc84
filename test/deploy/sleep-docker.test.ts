import { describe, expect, test } from 'vitest'
import { startPlatform } from '../../server/index.ts'
import { readOptions } from '../../server/options.ts'
import { instanceIdOf, viewEngine } from '../support/docker.ts'
import { createEngineGate } from '../support/engine-gate.ts'
import { newFolder } from '../support/instance-process.ts'
import { createClient } from '../support/platform.ts'
import { makeRepository } from '../support/repository.ts'
import { requires } from '../support/requirements.ts'
import { sleeper, watchBed } from '../support/sleeper.ts'
import { until } from '../support/until.ts'
import { sleepStories } from './sleep-stories.ts'

describe.skipIf(!requires('docker').ok)('with a Docker engine', () => {
  sleepStories('docker')

  test('an engine that is away when a frozen app is asked for: the request waits, and the same container goes on', async () => {
    const gate = createEngineGate()
    await gate.open()
    const folder = newFolder('sleep-engine')
    const repository = makeRepository(sleeper())
    const options = readOptions({ data: folder.path, port: '0', 'edge-port': '0', runtime: 'docker' })
    const platform = await startPlatform(options, { docker_candidates: [gate.address] })
    const client = createClient(platform.instance)
    const { body } = await client.api<{ user: { id: string } }>('GET', '/instance/session')
    const view = viewEngine(instanceIdOf(body.user.id))
    const bed = watchBed({ runtime: 'docker', data_dir: folder.path, view })
    try {
      await client.api('PATCH', '/instance/settings', { rate_limit_authenticated: 1_000_000, sleep_after_s: 1 })
      await client.createProject({ slug: 'sleeper', repo_url: repository.url })
      const { id } = await client.deploy('sleeper')
      expect(await client.ended('sleeper', id)).toMatchObject({ status: 'ready', error: null })
      await bed.reaches(id, 'frozen')
      const container = await bed.containerOf(id)
      await gate.shut()
      let answered = false
      const answer = client.edge('sleeper.localhost').finally(() => {
        answered = true
      })
      // It is waking: nobody sleeps through a request, and nobody is awake without an engine.
      await until(async () => ((await client.project('sleeper')).is_cold ? true : undefined), { what: 'a look at it' })
      expect(answered).toBe(false)
      await gate.open()
      expect((await answer).status).toBe(200)
      expect(await bed.containerOf(id)).toBe(container)
    } finally {
      await client.api('DELETE', '/v1/projects/sleeper')
      await until(async () => ((await view.containers()).length === 0 ? true : undefined), { what: 'its container to go' })
      await platform.stop()
      await view.removeAll()
      await gate.remove()
      repository.remove()
      folder.remove()
    }
  })
})
