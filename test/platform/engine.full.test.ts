import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import Docker from 'dockerode'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { instanceIdOf, removeNetwork, createDockerView, type DockerView } from '../support/docker.ts'
import { createDockerFaultProxy, type DockerFaultProxy } from '../support/docker-fault-proxy.ts'
import { startTestPlatform, type TestPlatform } from '../support/platform.ts'
import { makeRepository, tinyServer, type Repository } from '../support/repository.ts'
import { dockerSocket, requires } from '../support/requirements.ts'
import { until } from '../support/until.ts'

/** The platform uses the machine's real engine through a proxy, which can be closed, hang and be opened again. */
describe.skipIf(!requires('docker').ok)('an engine that becomes unavailable and returns', () => {
  let dockerProxy: DockerFaultProxy
  let platform: TestPlatform
  let view: DockerView
  let canary: Canary
  const repositories: Record<string, Repository> = {}

  const built = (version: string, work: string) => ({
    ...tinyServer(version),
    'package.json': JSON.stringify({
      name: 'slow',
      private: true,
      scripts: { build: `node -e "console.log('begun'); ${work}"`, start: 'node server.js' },
    }),
  })
  /** Runs an action in the middle of an operation, however long the machine takes to get there. */
  const endlessBuild = (version: string) => built(version, 'setInterval(() => {}, 1000)')
  const slowBuild = (version: string) => built(version, 'setTimeout(() => {}, 4000)')
  const project = async (slug: string, files: Record<string, string>) => {
    repositories[slug] = makeRepository(files)
    await platform.createProject({ slug, repo_url: repositories[slug].url })
  }
  const building = (slug: string, id: string) =>
    until(async () => ((await platform.getDeployment(slug, id)).build_log.includes('begun') ? true : undefined), {
      what: 'the build to run',
    })
  const answersWith = (slug: string, text: string) =>
    until(
      async () => {
        const { status, body } = await platform.fetchEdge(`${slug}.localhost`)
        return status === 200 && body === text ? true : undefined
      },
      { what: `${slug} to answer ${text}` },
    )

  beforeAll(async () => {
    canary = await createCanary()
    dockerProxy = createDockerFaultProxy()
    platform = await startTestPlatform({ runtime: 'docker', docker_candidates: [dockerProxy.address] })
    const { body } = await platform.api<{ user: { id: string } }>('GET', '/instance/session')
    view = createDockerView(instanceIdOf(body.user.id))
    await platform.api('PATCH', '/instance/settings', { build_concurrency: 1 })
  })
  afterAll(async () => {
    await dockerProxy.close()
    await dockerProxy.open()
    await platform.remove()
    await dockerProxy.remove()
    for (const repository of Object.values(repositories)) repository.remove()
    await canary.remove()
  })

  test('without an engine deployments wait, and run in order once it is available', async () => {
    for (const slug of ['first', 'second', 'third']) await project(slug, tinyServer(slug))
    const ids: Record<string, string> = {}
    for (const slug of ['first', 'second', 'third']) ids[slug] = (await platform.deploy(slug)).id
    for (const [position, slug] of ['first', 'second', 'third'].entries()) {
      expect(await platform.getDeployment(slug, ids[slug] ?? '')).toMatchObject({ status: 'queued', queue_position: position + 1, error: null })
    }
    const { body } = await platform.api<{ checks: { name: string; status: string; hint: string | null }[] }>('GET', '/instance/doctor')
    expect(body.checks.some((check) => check.status === 'failed' && check.hint !== null)).toBe(true)

    await dockerProxy.open()
    const ended = await Promise.all(['first', 'second', 'third'].map((slug) => platform.waitForEnd(slug, ids[slug] ?? '')))
    expect(ended.map(({ status }) => status)).toEqual(['ready', 'ready', 'ready'])
    const begun = ended.map(({ started_at }) => started_at ?? '')
    expect(begun).toEqual([...begun].sort())
    for (const slug of ['first', 'second', 'third']) await answersWith(slug, slug)
  })

  test('an engine that fails during a build: the deployment fails with the reason, and the next one works', async () => {
    await project('cut', endlessBuild('cut'))
    const { id } = await platform.deploy('cut')
    await building('cut', id)
    await dockerProxy.close()
    const failed = await platform.waitForEnd('cut', id)
    expect(failed.status).toBe('failed')
    expect(failed.error?.code).toBe('runtime_unavailable')
    expect(failed.error?.hint).not.toBe('')
    // Serving apps keep serving: the edge reaches the container without the engine.
    await answersWith('first', 'first')

    repositories.cut?.commit(slowBuild('cut'))
    const waiting = await platform.deploy('cut')
    await dockerProxy.open()
    const next = await platform.waitForEnd('cut', waiting.id)
    expect(next.error).toBeNull()
    await answersWith('cut', 'cut')
    await until(async () => ((await view.containers()).every((one) => one.role === 'app') ? true : undefined), {
      what: 'the container of the build that was cut to go',
    })
  })

  test('an engine that hangs during a build: the deployment can be canceled, and resumes otherwise', async () => {
    await project('hung', endlessBuild('hung'))
    const first = await platform.deploy('hung')
    await building('hung', first.id)
    dockerProxy.hang()
    await answersWith('first', 'first')
    const canceled = platform.api('POST', `/v1/projects/hung/deployments/${first.id}/cancel`)
    await delay(1_500)
    dockerProxy.resume()
    expect((await canceled).status).toBe(200)
    expect((await platform.getDeployment('hung', first.id)).status).toBe('canceled')

    repositories.hung?.commit(slowBuild('hung'))
    const second = await platform.deploy('hung')
    await building('hung', second.id)
    dockerProxy.hang()
    await delay(4_500)
    dockerProxy.resume()
    expect((await platform.waitForEnd('hung', second.id)).status).toBe('ready')
    await answersWith('hung', 'hung')
  })

  test('after an outage apps are monitored again, and one that ended is restarted', async () => {
    const app = await appOf('first')
    await dockerProxy.close()
    await answersWith('first', 'first')
    await dockerProxy.open()
    await view.docker.getContainer(app.id).kill()
    await until(async () => ((await appOf('first').catch(() => app)).id === app.id ? undefined : true), {
      what: 'another container',
    })
    await answersWith('first', 'first')
  })

  test('a container removed externally is started again', async () => {
    const app = await appOf('second')
    await view.docker.getContainer(app.id).remove({ force: true })
    await until(async () => ((await appOf('second').catch(() => app)).id === app.id ? undefined : true), {
      what: 'another container',
    })
    await answersWith('second', 'second')
    expect((await platform.getProject('second')).status).toBe('live')
  })

  test('the platform starts while the engine is unavailable: apps return once it responds, in the same containers', async () => {
    const before = await appOf('third')
    await platform.handle.stop()
    await dockerProxy.close()
    platform = await startTestPlatform({ runtime: 'docker', data_dir: platform.data_dir, docker_candidates: [dockerProxy.address] })
    // Requests wait, and are served once the app is back.
    const visitor = platform.fetchEdge('third.localhost')
    const waiting = await platform.deploy('first')
    expect((await platform.getDeployment('first', waiting.id)).status).toBe('queued')
    await dockerProxy.open()
    expect(await visitor).toMatchObject({ status: 200, body: 'third' })
    expect(await appOf('third')).toEqual(before)
    expect((await platform.waitForEnd('first', waiting.id)).status).toBe('ready')
  })

  test('a container paused externally is resumed', async () => {
    const app = await appOf('first')
    await view.docker.getContainer(app.id).pause()
    await answersWith('first', 'first')
    // The app responds before the engine's list says that it runs.
    await until(async () => ((await appOf('first').catch(() => undefined))?.id === app.id ? true : undefined), { what: 'the same container' })
  })

  test('a project stopped during an outage is stopped, and its container is removed afterwards', async () => {
    const app = await appOf('third')
    await dockerProxy.close()
    expect((await platform.api('POST', '/v1/projects/third/stop')).body).toEqual({ ok: true, status: 'inactive' })
    expect((await platform.fetchEdge('third.localhost')).body).not.toBe('third')
    await dockerProxy.open()
    await until(async () => ((await view.containers()).some((one) => one.id === app.id) ? undefined : true), {
      what: 'its container to go',
    })
    await answersWith('first', 'first')
  })

  test('foreign containers are untouched', async () => {
    expect(await canary.look()).toEqual(canary.before)
  })

  const appOf = async (slug: string) => {
    const { body } = await platform.api<{ deployments: { id: string; is_current: boolean }[] }>('GET', `/v1/projects/${slug}/deployments`)
    const current = body.deployments.find((one) => one.is_current)
    const app = current && (await view.findApp(current.id))
    if (!app) throw new Error(`${slug} has no container`)
    return app
  }
})

interface Canary {
  before: unknown
  look(): Promise<unknown>
  remove(): Promise<void>
}

/** A foreign container, image, volume and network, with labels that are similar to ours. */
async function createCanary(): Promise<Canary> {
  const docker = new Docker({ socketPath: dockerSocket })
  const name = `canary-of-somebody-${randomBytes(4).toString('hex')}`
  const Labels = { 'homeport.instance': name, somebody: 'else' }
  await docker.createVolume({ Name: name, Labels })
  const network = await docker.createNetwork({ Name: name, Labels })
  const container = await docker.createContainer({
    name,
    Image: 'node:24-bookworm-slim',
    Cmd: ['node', '-e', 'setInterval(() => {}, 1000)'],
    Labels,
    HostConfig: { Init: true, NetworkMode: name, Mounts: [{ Type: 'volume', Source: name, Target: '/data' }] },
  })
  await container.start()
  const { Id: image } = await container.commit({ repo: name, tag: 'kept' })
  const look = async () => {
    const { State, RestartCount, Id } = await container.inspect()
    return {
      container: { id: Id, running: State.Running, started_at: State.StartedAt, restarts: RestartCount },
      image: (await docker.getImage(`${name}:kept`).inspect()).Id,
      volume: (await docker.getVolume(name).inspect()).Name,
      network: (await network.inspect()).Id,
    }
  }
  return {
    before: await look(),
    look,
    async remove() {
      await container.remove({ force: true })
      await docker.getImage(image).remove({ force: true })
      await docker.getVolume(name).remove()
      await removeNetwork(network)
    },
  }
}
