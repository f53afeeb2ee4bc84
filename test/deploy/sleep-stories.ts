import { once } from 'node:events'
import { request } from 'node:http'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Settings } from '../../server/contract/instance.ts'
import { type EngineView, instanceIdOf, viewEngine } from '../support/docker.ts'
import { readStream } from '../support/event-stream.ts'
import { startTestPlatform, until, type TestPlatform } from '../support/platform.ts'
import { makeRepository, type Repository } from '../support/repository.ts'
import { type Bed, readRuntimeLog, type Self, sleeper, watchBed } from '../support/sleeper.ts'

/** How apps sleep and wake, whatever runs them. */
export function sleepStories(runtime: 'process' | 'docker'): void {
  describe(`sleep on ${runtime}`, () => {
    let home: TestPlatform
    let view: EngineView
    let bed: Bed
    const repositories = new Map<string, Repository>()

    beforeAll(async () => {
      home = await startTestPlatform({ runtime })
      const { body } = await home.api<{ user: { id: string } }>('GET', '/instance/session')
      view = viewEngine(instanceIdOf(body.user.id))
      bed = watchBed({ runtime, data_dir: home.data_dir, view })
    })
    afterAll(async () => {
      await home.remove()
      for (const repository of repositories.values()) repository.remove()
    })

    const set = async (change: Partial<Settings>) => expect((await home.api('PATCH', '/instance/settings', change)).status).toBe(200)
    const deep = { sleep_after_s: 1, frozen_for_s: 0, frozen_budget_mb: 2048 }
    const light = { sleep_after_s: 1, frozen_for_s: 3600, frozen_budget_mb: 2048 }
    const awake = { sleep_after_s: 3600 }

    const live = async (slug: string, files = sleeper()) => {
      const repository = repositories.get(slug)
      if (repository) repository.commit(files)
      else {
        repositories.set(slug, makeRepository(files))
        await home.createProject({ slug, repo_url: repositories.get(slug)?.url ?? '' })
      }
      const { id } = await home.deploy(slug)
      expect(await home.ended(slug, id)).toMatchObject({ status: 'ready', error: null })
      return id
    }
    const ask = async (slug: string, path = '/'): Promise<Self> => {
      const answer = await home.edge(`${slug}.localhost`, path)
      expect(answer.status, answer.body).toBe(200)
      return JSON.parse(answer.body) as Self
    }
    const cold = (slug: string) =>
      until(async () => ((await home.project(slug)).is_cold ? true : undefined), { what: `${slug} to go cold` })
    const warm = (slug: string) =>
      until(async () => ((await home.project(slug)).is_cold ? undefined : true), { what: `${slug} to be warm` })

    const states = async (slug: string) => (await readRuntimeLog(home.platform.instance, slug)).states
    const statesOf = (slug: string) => expect.poll(() => states(slug), { timeout: 60_000 })
    const count = (list: string[], state: string) => list.filter((one) => one === state).length

    test('an app that nobody visits is frozen, and the next request finds it as it was', async () => {
      await set(awake)
      const id = await live('drowsy')
      const before = await ask('drowsy')
      await set(light)
      await cold('drowsy')
      await bed.reaches(id, 'frozen')
      expect(await home.project('drowsy')).toMatchObject({ status: 'live', is_cold: true })
      await statesOf('drowsy').toEqual(['starting', 'running', 'cold'])
      // Reading its log has not woken it.
      expect(await bed.depth(id)).toBe('frozen')

      const since = (await home.project('drowsy')).last_request_at ?? ''
      await set(awake)
      expect((await ask('drowsy')).born).toBe(before.born)
      await warm('drowsy')
      await until(async () => (((await home.project('drowsy')).last_request_at ?? '') > since ? true : undefined), { what: 'the visit to be noted' })
      await statesOf('drowsy').toEqual(['starting', 'running', 'cold', 'running'])
    })

    test('when its time is over it is stopped, and the next request starts it', async () => {
      await set(awake)
      const id = await live('sound')
      const before = await ask('sound')
      await set({ ...light, frozen_for_s: 1 })
      await cold('sound')
      await bed.reaches(id, 'none')
      expect(await home.project('sound')).toMatchObject({ status: 'live', is_cold: true })
      await set(awake)
      const after = await ask('sound')
      expect(after.born).not.toBe(before.born)
      await warm('sound')
      await statesOf('sound').toEqual(['starting', 'running', 'cold', 'starting', 'running'])
    })

    test.each([
      ['frozen', light, 'frozen', 1],
      ['stopped', deep, 'none', 2],
    ] as const)('1 000 requests at an app that is %s: one start, 1 000 answers', async (name, settings, at, starts) => {
      await set(awake)
      const slug = `crowd-${name}`
      const id = await live(slug)
      await set(settings)
      await cold(slug)
      await bed.reaches(id, at)
      await set(awake)
      const answers = await Promise.all(Array.from({ length: 1_000 }, () => home.edge(`${slug}.localhost`)))
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
      expect(new Set(answers.map(({ body }) => body)).size).toBe(1)
      await expect.poll(async () => count(await states(slug), 'starting'), { timeout: 60_000 }).toBe(starts)
    })

    test('a request in the very moment of falling asleep is answered, every time', async () => {
      await set(awake)
      const id = await live('moment')
      const first = await ask('moment')
      await set(light)
      const url = `${home.platform.api_url}/v1/projects/moment/runtime-logs?lines=20&format=json`
      let rounds = 0
      for await (const event of readStream(url, { token: home.platform.instance.token })) {
        if (event.event !== 'state' || !event.data.includes('"cold"')) continue
        const answers = await Promise.all([ask('moment'), ask('moment'), ask('moment')])
        expect(answers.map(({ born }) => born)).toEqual([first.born, first.born, first.born])
        if (++rounds === 5) break
      }
      await bed.reaches(id, 'frozen')
    })

    test('an open stream and an open WebSocket keep it awake, until they close', async () => {
      await set(awake)
      await live('streamed')
      await live('socketed')
      await live('quiet')
      const stream = await openStream(home, 'streamed')
      const socket = await openSocket(home, 'socketed')
      await set(light)
      // By the time that the quiet one has slept twice, the others would have too.
      for (let i = 0; i < 2; i++) {
        await ask('quiet')
        await cold('quiet')
      }
      expect(await home.project('streamed')).toMatchObject({ is_cold: false })
      expect(await home.project('socketed')).toMatchObject({ is_cold: false })
      expect(await states('streamed')).not.toContain('cold')
      expect(await states('socketed')).not.toContain('cold')
      stream.close()
      socket.close()
      await cold('streamed')
      await cold('socketed')
      // A WebSocket wakes as any request does.
      const again = await openSocket(home, 'socketed')
      await warm('socketed')
      again.close()
    })

    test('one that is always warm never sleeps, and one that is made so is woken', async () => {
      await set(awake)
      await live('watchful')
      await live('companion')
      await home.api('PATCH', '/v1/projects/watchful', { always_warm: true })
      await set(light)
      await cold('companion')
      expect(await home.project('watchful')).toMatchObject({ is_cold: false, always_warm: true })
      await home.api('PATCH', '/v1/projects/companion', { always_warm: true })
      await warm('companion')
      await home.api('PATCH', '/v1/projects/watchful', { always_warm: false })
      await cold('watchful')
      await statesOf('companion').toEqual(['starting', 'running', 'cold', 'running'])
    })

    test('an answer that is stored is a visit, and wakes nobody', async () => {
      await set(awake)
      const id = await live('stored')
      await ask('stored', '/kept')
      await set(light)
      await cold('stored')
      await bed.reaches(id, 'frozen')
      const since = (await home.project('stored')).last_request_at ?? ''
      const { status, headers } = await home.edge('stored.localhost', '/kept')
      expect({ status, cache: headers['x-cache'] }).toEqual({ status: 200, cache: 'HIT' })
      await until(async () => (((await home.project('stored')).last_request_at ?? '') > since ? true : undefined), { what: 'the visit to be noted' })
      expect(await bed.depth(id)).toBe('frozen')
      expect(await home.project('stored')).toMatchObject({ is_cold: true })
    })

    test('past the budget of frozen memory the one that sleeps longest is stopped', async () => {
      await set(awake)
      const heavy = sleeper('heavy', 'globalThis.kept = Buffer.alloc(80e6, 1)')
      const first = await live('first-heavy', heavy)
      const second = await live('second-heavy', heavy)
      await ask('first-heavy')
      await set({ ...light, frozen_budget_mb: 150 })
      await cold('first-heavy')
      await until(
        async () => {
          await ask('second-heavy')
          return (await home.project('first-heavy')).is_cold ? true : undefined
        },
        { what: 'the first to sleep longer' },
      )
      await cold('second-heavy')
      await bed.reaches(first, 'none')
      // That it sleeps is told before an engine has frozen it.
      await bed.reaches(second, 'frozen')
      expect(await home.project('first-heavy')).toMatchObject({ is_cold: true })
    })

    test('a deployment of a sleeping app takes over awake, and the old one is gone', async () => {
      await set(awake)
      const old = await live('renewed', sleeper('old'))
      await set(light)
      await cold('renewed')
      await bed.reaches(old, 'frozen')
      await set(awake)
      const fresh = await live('renewed', sleeper('new'))
      expect(await home.project('renewed')).toMatchObject({ is_cold: false })
      expect((await ask('renewed')).version).toBe('new')
      await bed.reaches(old, 'none')
      expect(await bed.depth(fresh)).toBe('running')
    })

    test('while a new version is built the one before is woken, and serves', async () => {
      await set(awake)
      const old = await live('between', sleeper('old'))
      await set(deep)
      await cold('between')
      await bed.reaches(old, 'none')
      await set(awake)
      const slow = {
        name: 'sleeper',
        private: true,
        scripts: { build: `node -e "console.log('begun'); setTimeout(() => {}, 4000)"`, start: 'node server.js' },
      }
      repositories.get('between')?.commit({ ...sleeper('new'), 'package.json': JSON.stringify(slow) })
      const { id } = await home.deploy('between')
      await until(async () => ((await home.deployment('between', id)).build_log.includes('begun') ? true : undefined), { what: 'the build to run' })
      expect((await ask('between')).version).toBe('old')
      expect(await home.ended('between', id)).toMatchObject({ status: 'ready' })
      expect((await ask('between')).version).toBe('new')
      await bed.reaches(old, 'none')
    })

    test.each(['stop', 'delete'] as const)('%s of a frozen app leaves nothing', async (way) => {
      await set(awake)
      const slug = `ended-by-${way}`
      const id = await live(slug)
      await set(light)
      await cold(slug)
      await bed.reaches(id, 'frozen')
      if (way === 'stop') {
        expect((await home.api('POST', `/v1/projects/${slug}/stop`)).status).toBe(200)
        expect(await home.project(slug)).toMatchObject({ status: 'inactive', is_cold: false })
        expect((await home.edge(`${slug}.localhost`)).status).toBe(503)
      } else {
        expect((await home.api('DELETE', `/v1/projects/${slug}`)).status).toBe(204)
        expect((await home.edge(`${slug}.localhost`)).status).toBe(404)
      }
      await bed.reaches(id, 'none')
    })

    test('what ends in its sleep is started by the next request', async () => {
      await set(awake)
      const id = await live('restless')
      const before = await ask('restless')
      await set(light)
      await cold('restless')
      await bed.reaches(id, 'frozen')
      await set(awake)
      if (runtime === 'process') {
        for (const pid of bed.leadersOf(id)) process.kill(-pid, 'SIGKILL')
        // Dead for its parent too: who asks in the very moment of its end may hear of that.
        await bed.reaches(id, 'none')
      } else {
        // What a restart of the engine leaves: it is there and has ended.
        await view.docker.getContainer((await bed.containerOf(id)) ?? '').stop({ t: 0 })
      }
      expect((await ask('restless')).born).not.toBe(before.born)
      await warm('restless')
      expect(await bed.depth(id)).toBe('running')
    })
  })
}

/** An event stream of an app that goes on until it is closed. */
function openStream(home: TestPlatform, slug: string): Promise<{ close(): void }> {
  const { port } = new URL(home.platform.edge_url)
  return new Promise((resolve, reject) => {
    const asking = request({ host: '127.0.0.1', port, path: '/stream', agent: false, headers: { host: `${slug}.localhost:${port}` } }, (answer) => {
      answer.once('data', () => resolve({ close: () => void asking.destroy() }))
      answer.on('error', () => {})
    })
    asking.on('error', reject)
    asking.end()
  })
}

/** A WebSocket, as far as the edge looks at it. */
async function openSocket(home: TestPlatform, slug: string): Promise<{ close(): void }> {
  const { port } = new URL(home.platform.edge_url)
  const socket = connect({ host: '127.0.0.1', port: Number(port) })
  const head = ['GET / HTTP/1.1', `Host: ${slug}.localhost:${port}`, 'Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13']
  socket.write(`${head.join('\r\n')}\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`)
  const [answer] = (await once(socket, 'data')) as [Buffer]
  expect(answer.toString()).toMatch(/^HTTP\/1\.1 101 /)
  return { close: () => void socket.destroy() }
}
