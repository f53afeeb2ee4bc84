import { describe, expect, test } from 'vitest'
import { instanceIdOf, viewEngine } from '../support/docker.ts'
import { createEngineGate } from '../support/engine-gate.ts'
import { startTestPlatform, until } from '../support/platform.ts'
import { makeRepository } from '../support/repository.ts'
import { requires } from '../support/requirements.ts'
import { sleeper, watchBed } from '../support/sleeper.ts'
import { sleepStories } from './sleep-stories.ts'

describe('sleep on process', () => sleepStories('process', { crowd: 1_000 }))

describe.skipIf(!requires('docker').ok)('sleep on Docker', () => {
  sleepStories('docker', { crowd: 1_000 })

  test('a request for a frozen app waits for an engine that is away, and the same container goes on', async () => {
    const gate = createEngineGate()
    await gate.open()
    const repository = makeRepository(sleeper())
    const home = await startTestPlatform({ runtime: 'docker', docker_candidates: [gate.address] })
    const { body } = await home.api<{ user: { id: string } }>('GET', '/instance/session')
    const bed = watchBed({ runtime: 'docker', data_dir: home.data_dir, view: viewEngine(instanceIdOf(body.user.id)) })
    await home.createProject({ slug: 'sleeper', repo_url: repository.url })
    const { id } = await home.deploy('sleeper')
    expect(await home.ended('sleeper', id)).toMatchObject({ status: 'ready', error: null })
    await home.advance(901_000)
    await bed.reaches(id, 'frozen')
    const container = await bed.containerOf(id)
    await gate.shut()
    let isAnswered = false
    const answer = home.edge('sleeper.localhost').finally(() => (isAnswered = true))
    // The app is waking: it neither sleeps through a request nor wakes without an engine.
    await until(async () => ((await home.project('sleeper')).is_cold ? true : undefined), { what: 'the project to be read' })
    expect(isAnswered).toBe(false)
    await gate.open()
    expect((await answer).status).toBe(200)
    expect(await bed.containerOf(id)).toBe(container)
    await home.remove()
    await gate.remove()
    repository.remove()
  })
})
