import { once } from 'node:events'
import { request } from 'node:http'
import { connect } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Settings } from '../../server/contract/instance.ts'
import { type DockerView, instanceIdOf, createDockerView } from '../support/docker.ts'
import { fullTest } from '../support/full-test.ts'
import { followRuntimeLog, readEventStream } from '../support/event-stream.ts'
import { startTestPlatform, until, type TestPlatform } from '../support/platform.ts'
import { makeRepository, type Repository } from '../support/repository.ts'
import { type SleepProbe, type AppIdentity, sleepingAppFiles, createSleepProbe } from '../support/sleeping-app.ts'
import { isFullTier } from '../support/tier.ts'

const sleep_after_s = 30
const defaultSettings: Partial<Settings> = { sleep_after_s, frozen_for_s: 36_000, frozen_budget_mb: 2048 }

/** How apps sleep and wake, on either runtime. Idle time passes with `advance`. */
export function sleepSuite(runtime: 'process' | 'docker', { crowd }: { crowd: number }): void {
  let platform: TestPlatform
  let view: DockerView
  let sleepProbe: SleepProbe
  const repositories = new Map<string, Repository>()

  const set = async (change: Partial<Settings>) => expect((await platform.api('PATCH', '/instance/settings', change)).status).toBe(200)
  beforeAll(async () => {
    platform = await startTestPlatform({ runtime })
    await set(defaultSettings)
    const { body } = await platform.api<{ user: { id: string } }>('GET', '/instance/session')
    view = createDockerView(instanceIdOf(body.user.id))
    sleepProbe = createSleepProbe({ runtime, data_dir: platform.data_dir, view })
  })
  afterAll(async () => {
    await platform.remove()
    for (const repository of repositories.values()) repository.remove()
  })

  const live = async (slug: string, files = sleepingAppFiles()) => {
    const repository = repositories.get(slug)
    if (repository) repository.commit(files)
    else {
      repositories.set(slug, makeRepository(files))
      await platform.createProject({ slug, repo_url: repositories.get(slug)?.url ?? '', previews: false })
    }
    const { id } = await platform.deploy(slug)
    expect(await platform.waitForEnd(slug, id)).toMatchObject({ status: 'ready', error: null })
    return id
  }
  const ask = async (slug: string, path = '/'): Promise<AppIdentity> => {
    const response = await platform.fetchEdge(`${slug}.localhost`, path)
    expect(response.status, response.body).toBe(200)
    return JSON.parse(response.body) as AppIdentity
  }
  const pass = (seconds: number) => platform.advance(seconds * 1_000)
  const cold = (slug: string) =>
    until(
      async () => {
        if ((await platform.getProject(slug)).is_cold) return true
        // The edge may not know yet that the client has closed its connection.
        await pass(10)
        return undefined
      },
      { what: `${slug} to be cold` },
    )
  const warm = (slug: string) => until(async () => ((await platform.getProject(slug)).is_cold ? undefined : true), { what: `${slug} to be warm` })
  /** Sends no request until it sleeps. */
  const idle = async (slug: string) => {
    await pass(sleep_after_s + 1)
    await cold(slug)
  }
  const follow = (slug: string) => followRuntimeLog(platform.handle.instance, slug)
  const hasStates = (log: { states: string[] }, wanted: string[]) =>
    until(() => expect(log.states).toEqual(wanted) ?? true, { what: 'the states of the app' })
  const waitForRecordedRequest = (slug: string, since: string | null) =>
    until(async () => ((await platform.getProject(slug)).last_request_at ?? '') > (since ?? '') || undefined, { what: 'the visit to be noted' })

  test('an app without visits is frozen; a cached response does not wake it, and the next request finds its state intact', async () => {
    const id = await live('drowsy')
    const log = follow('drowsy')
    const before = await ask('drowsy')
    await ask('drowsy', '/kept')
    await idle('drowsy')
    await sleepProbe.waitForState(id, 'frozen')
    expect(await platform.getProject('drowsy')).toMatchObject({ status: 'live', is_cold: true })
    await hasStates(log, ['starting', 'running', 'cold'])

    const first = (await platform.getProject('drowsy')).last_request_at
    const { status, headers } = await platform.fetchEdge('drowsy.localhost', '/kept')
    expect({ status, cache: headers['x-cache'] }).toEqual({ status: 200, cache: 'HIT' })
    await waitForRecordedRequest('drowsy', first)
    // Neither that nor a reader of its log has woken it.
    expect(await sleepProbe.getState(id)).toBe('frozen')
    expect(await platform.getProject('drowsy')).toMatchObject({ is_cold: true })

    const second = (await platform.getProject('drowsy')).last_request_at
    expect((await ask('drowsy')).born).toBe(before.born)
    await warm('drowsy')
    await waitForRecordedRequest('drowsy', second)
    await hasStates(log, ['starting', 'running', 'cold', 'running'])
    log.close()
  })

  test('a frozen app is stopped after its frozen time, and the next request starts it', async () => {
    await set({ frozen_for_s: 300 })
    const id = await live('sound')
    const log = follow('sound')
    const before = await ask('sound')
    await idle('sound')
    await sleepProbe.waitForState(id, 'frozen')
    await pass(301)
    await sleepProbe.waitForState(id, 'none')
    expect(await platform.getProject('sound')).toMatchObject({ status: 'live', is_cold: true })
    await set(defaultSettings)
    expect((await ask('sound')).born).not.toBe(before.born)
    await warm('sound')
    await hasStates(log, ['starting', 'running', 'cold', 'starting', 'running'])
    log.close()
  })

  fullTest(`${crowd} requests to a frozen app wake it once, and ${crowd} to a stopped one start it once`, async () => {
    const id = await live('crowd')
    const log = follow('crowd')
    const request = async () => {
      const answers = await Promise.all(Array.from({ length: crowd }, () => platform.fetchEdge('crowd.localhost')))
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
      expect(new Set(answers.map(({ body }) => body)).size).toBe(1)
    }
    await idle('crowd')
    await sleepProbe.waitForState(id, 'frozen')
    await request()
    await set({ frozen_for_s: 0 })
    await warm('crowd')
    await idle('crowd')
    await sleepProbe.waitForState(id, 'none')
    await request()
    await hasStates(log, ['starting', 'running', 'cold', 'running', 'cold', 'starting', 'running'])
    await set(defaultSettings)
    log.close()
  })

  fullTest('a request at the moment of freezing is always answered', async () => {
    const id = await live('moment')
    const first = await ask('moment')
    const url = `${platform.handle.api_url}/v1/projects/moment/runtime-logs?lines=20&format=json`
    let rounds = 0
    const slept = [pass(sleep_after_s + 1)]
    for await (const event of readEventStream(url, { token: platform.handle.instance.token })) {
      if (event.event !== 'state' || !event.data.includes('"cold"')) continue
      const answers = await Promise.all([ask('moment'), ask('moment'), ask('moment')])
      expect(answers.map(({ born }) => born)).toEqual([first.born, first.born, first.born])
      if (++rounds === 5) break
      await warm('moment')
      slept.push(pass(sleep_after_s + 1))
    }
    await Promise.all(slept)
    await warm('moment')
    await idle('moment')
    await sleepProbe.waitForState(id, 'frozen')
  })

  test('an open stream and an open WebSocket keep an app awake until they close', async () => {
    for (const slug of ['streamed', 'socketed', 'quiet']) await live(slug)
    const logs = [follow('streamed'), follow('socketed')]
    const stream = await openStream(platform, 'streamed')
    const socket = await openSocket(platform, 'socketed')
    await set({ sleep_after_s: 5 })
    // By the time that the idle one has slept twice, the others would have too.
    for (let i = 0; i < 2; i++) {
      await ask('quiet')
      await pass(6)
      await cold('quiet')
    }
    for (const slug of ['streamed', 'socketed']) expect(await platform.getProject(slug)).toMatchObject({ is_cold: false })
    for (const log of logs) await hasStates(log, ['starting', 'running'])
    stream.close()
    socket.close()
    await set(defaultSettings)
    await idle('streamed')
    await cold('socketed')
    // A WebSocket wakes as any request does.
    const again = await openSocket(platform, 'socketed')
    await warm('socketed')
    again.close()
    for (const log of logs) log.close()
  })

  fullTest('an app that is always warm never sleeps, and setting it wakes a sleeping one', async () => {
    await live('watchful')
    await live('companion')
    const log = follow('companion')
    await platform.api('PATCH', '/v1/projects/watchful', { always_warm: true })
    await idle('companion')
    expect(await platform.getProject('watchful')).toMatchObject({ is_cold: false, always_warm: true })
    await platform.api('PATCH', '/v1/projects/companion', { always_warm: true })
    await warm('companion')
    await platform.api('PATCH', '/v1/projects/watchful', { always_warm: false })
    await idle('watchful')
    await hasStates(log, ['starting', 'running', 'cold', 'running'])
    log.close()
  })

  fullTest('over the budget of frozen memory the app that has slept longest is stopped', async () => {
    const heavy = sleepingAppFiles('heavy', 'globalThis.kept = Buffer.alloc(80e6, 1)')
    const first = await live('first-heavy', heavy)
    const second = await live('second-heavy', heavy)
    await set({ frozen_budget_mb: 150 })
    await ask('first-heavy')
    await idle('first-heavy')
    // It sleeps before the second one can, however often the clock had to move.
    await ask('second-heavy')
    await idle('second-heavy')
    await sleepProbe.waitForState(first, 'none')
    // The state is recorded before the engine has frozen it.
    await sleepProbe.waitForState(second, 'frozen')
    expect(await platform.getProject('first-heavy')).toMatchObject({ is_cold: true })
    await set(defaultSettings)
  })

  fullTest('a deployment of a sleeping app starts awake, and the old version is removed', async () => {
    const old = await live('renewed', sleepingAppFiles('old'))
    await idle('renewed')
    await sleepProbe.waitForState(old, 'frozen')
    const fresh = await live('renewed', sleepingAppFiles('new'))
    expect(await platform.getProject('renewed')).toMatchObject({ is_cold: false })
    expect((await ask('renewed')).version).toBe('new')
    await sleepProbe.waitForState(old, 'none')
    expect(await sleepProbe.getState(fresh)).toBe('running')
  })

  fullTest('a request during a build wakes the old version', async () => {
    await set({ frozen_for_s: 0 })
    const old = await live('between', sleepingAppFiles('old'))
    await idle('between')
    await sleepProbe.waitForState(old, 'none')
    await set(defaultSettings)
    const endless = {
      name: 'sleeper',
      private: true,
      scripts: { build: `node -e "console.log('begun'); setInterval(() => {}, 1000)"`, start: 'node server.js' },
    }
    repositories.get('between')?.commit({ 'package.json': JSON.stringify(endless) })
    const { id } = await platform.deploy('between')
    await until(async () => ((await platform.getDeployment('between', id)).build_log.includes('begun') ? true : undefined), {
      what: 'the build to run',
    })
    expect((await ask('between')).version).toBe('old')
    await platform.api('POST', `/v1/projects/between/deployments/${id}/cancel`)
    await live('between', sleepingAppFiles('new'))
    expect((await ask('between')).version).toBe('new')
    await sleepProbe.waitForState(old, 'none')
  })

  test.each(isFullTier ? (['stop', 'delete'] as const) : (['delete'] as const))('%s of a frozen app leaves nothing behind', async (way) => {
    const slug = way === 'stop' ? 'drowsy' : 'moment'
    const id = await live(slug)
    await idle(slug)
    await sleepProbe.waitForState(id, 'frozen')
    if (way === 'stop') {
      expect((await platform.api('POST', `/v1/projects/${slug}/stop`)).status).toBe(200)
      expect(await platform.getProject(slug)).toMatchObject({ status: 'inactive', is_cold: false })
      expect((await platform.fetchEdge(`${slug}.localhost`)).status).toBe(503)
    } else {
      expect((await platform.api('DELETE', `/v1/projects/${slug}`)).status).toBe(204)
      expect((await platform.fetchEdge(`${slug}.localhost`)).status).toBe(404)
    }
    await sleepProbe.waitForState(id, 'none')
  })

  fullTest('an app that exits while frozen is started by the next request', async () => {
    const id = await live('crowd')
    const before = await ask('crowd')
    await idle('crowd')
    await sleepProbe.waitForState(id, 'frozen')
    if (runtime === 'process') {
      for (const pid of sleepProbe.findGroupLeaders(id)) process.kill(-pid, 'SIGKILL')
      // Until the exit is noticed a request may be sent to the dead process.
      await sleepProbe.waitForState(id, 'none')
    } else {
      // As after a restart of the engine: the container exists and has exited.
      await view.docker.getContainer((await sleepProbe.findContainer(id)) ?? '').stop({ t: 0 })
    }
    expect((await ask('crowd')).born).not.toBe(before.born)
    await warm('crowd')
    expect(await sleepProbe.getState(id)).toBe('running')
  })

  fullTest('an app that was asleep when the platform was killed stays asleep, and wakes on request', async () => {
    // The other apps need not be restored.
    for (const slug of repositories.keys()) if (slug !== 'crowd') await platform.api('DELETE', `/v1/projects/${slug}`)
    const id = await live('crowd')
    const before = await ask('crowd')
    await idle('crowd')
    await sleepProbe.waitForState(id, 'frozen')
    const container = runtime === 'docker' ? await sleepProbe.findContainer(id) : undefined
    await platform.kill()
    platform = await startTestPlatform({ runtime, data_dir: platform.data_dir })
    // A frozen container is kept; a frozen process of a dead platform can only be killed.
    await sleepProbe.waitForState(id, runtime === 'docker' ? 'frozen' : 'none')
    expect(await platform.getProject('crowd')).toMatchObject({ status: 'live', is_cold: true })
    const after = await ask('crowd')
    await warm('crowd')
    expect(after.born === before.born).toBe(runtime === 'docker')
    if (runtime === 'docker') expect(await sleepProbe.findContainer(id)).toBe(container)
  })

  fullTest('an orderly stop sends a frozen app SIGTERM; it is asleep after the restart', async () => {
    const id = await live('orderly')
    const before = await ask('orderly')
    await idle('orderly')
    await sleepProbe.waitForState(id, 'frozen')
    await set({ on_exit: 'stop' })
    await platform.handle.stop()
    expect(await sleepProbe.getState(id)).toBe('none')
    platform = await startTestPlatform({ runtime, data_dir: platform.data_dir })
    expect(await platform.getProject('orderly')).toMatchObject({ status: 'live', is_cold: true })
    // Its first visitor wakes it.
    expect(await sleepProbe.getState(id)).toBe('none')
    expect((await ask('orderly')).born).not.toBe(before.born)
    await warm('orderly')
    const log = follow('orderly')
    await until(() => expect(log.lines).toEqual(['listens', 'asked to end', 'listens']) ?? true, { what: 'its lines' })
    await hasStates(log, ['starting', 'running', 'cold', 'stopped', 'starting', 'running'])
    log.close()
  })
}

/** An event stream of an app that stays open until it is closed. */
function openStream(platform: TestPlatform, slug: string): Promise<{ close(): void }> {
  const { port } = new URL(platform.handle.edge_url)
  return new Promise((resolve, reject) => {
    const asking = request({ host: '127.0.0.1', port, path: '/stream', agent: false, headers: { host: `${slug}.localhost:${port}` } }, (response) => {
      response.once('data', () => resolve({ close: () => void asking.destroy() }))
      response.on('error', () => {})
    })
    asking.on('error', reject)
    asking.end()
  })
}

/** A WebSocket, as far as the edge handles it. */
async function openSocket(platform: TestPlatform, slug: string): Promise<{ close(): void }> {
  const { port } = new URL(platform.handle.edge_url)
  const socket = connect({ host: '127.0.0.1', port: Number(port) })
  const head = ['GET / HTTP/1.1', `Host: ${slug}.localhost:${port}`, 'Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13']
  socket.write(`${head.join('\r\n')}\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`)
  const [response] = (await once(socket, 'data')) as [Buffer]
  expect(response.toString()).toMatch(/^HTTP\/1\.1 101 /)
  return { close: () => void socket.destroy() }
}
