import { describe, expect, test } from 'vitest'
import { instanceIdOf, createDockerView } from '../support/docker.ts'
import { createDockerFaultProxy } from '../support/docker-fault-proxy.ts'
import { startTestPlatform, until } from '../support/platform.ts'
import { makeRepository } from '../support/repository.ts'
import { requires } from '../support/requirements.ts'
import { sleepingAppFiles, createSleepProbe } from '../support/sleeping-app.ts'
import { sleepSuite } from './sleep-suite.ts'

describe('sleep on process', () => sleepSuite('process', { crowd: 1_000 }))

describe.skipIf(!requires('docker').ok)('sleep on Docker', () => {
  sleepSuite('docker', { crowd: 1_000 })

  test('a request for a frozen app waits for an unavailable engine, and the same container resumes', async () => {
    const faultProxy = createDockerFaultProxy()
    await faultProxy.open()
    const repository = makeRepository(sleepingAppFiles())
    const platform = await startTestPlatform({ runtime: 'docker', docker_candidates: [faultProxy.address] })
    const { body } = await platform.api<{ user: { id: string } }>('GET', '/instance/session')
    const sleepProbe = createSleepProbe({ runtime: 'docker', data_dir: platform.data_dir, view: createDockerView(instanceIdOf(body.user.id)) })
    await platform.createProject({ slug: 'sleeper', repo_url: repository.url })
    const { id } = await platform.deploy('sleeper')
    expect(await platform.waitForEnd('sleeper', id)).toMatchObject({ status: 'ready', error: null })
    await platform.advance(901_000)
    await sleepProbe.waitForState(id, 'frozen')
    const container = await sleepProbe.findContainer(id)
    await faultProxy.close()
    let isAnswered = false
    const response = platform.fetchEdge('sleeper.localhost').finally(() => (isAnswered = true))
    // The app is waking: it neither sleeps through a request nor wakes without an engine.
    await until(async () => ((await platform.getProject('sleeper')).is_cold ? true : undefined), { what: 'the project to be read' })
    expect(isAnswered).toBe(false)
    await faultProxy.open()
    expect((await response).status).toBe(200)
    expect(await sleepProbe.findContainer(id)).toBe(container)
    await platform.remove()
    await faultProxy.remove()
    repository.remove()
  })
})
