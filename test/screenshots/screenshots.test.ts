import type { DomainEvent } from '../../server/contract/domain-events.ts'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createEventBus, type EventBus } from '../../server/lib/event-bus.ts'
import { silentLog } from '../../server/lib/log.ts'
import { createScreenshotService, type ScreenshotService, type ScreenshotTarget } from '../../server/screenshots/screenshot-service.ts'
import { fixedClock, type TestClock } from '../support/test-clock.ts'
import { until } from '../support/until.ts'
import { createFakeScreenshotter, type FakeScreenshotter } from './fake-screenshotter.ts'

let data_dir: string
let events: EventBus<DomainEvent>
let clock: TestClock
let camera: FakeScreenshotter
let screenshots: ScreenshotService
/** What serves, by name; `kind` is the kind of its route at the edge. */
let serving: Map<string, ScreenshotTarget & { kind: string }>
let openEndpoints: number
let isWanted: () => boolean
let isDeploying: boolean

const file = (id: string, variant: string, project = 'prj_shop') => join(data_dir, 'screenshots', project, `${id}-${variant}.png`)
const targetOf = (id: string) => [...serving.values()].find(({ deployment_id }) => deployment_id === id)

function start(): void {
  screenshots = createScreenshotService({
    store: {
      find: async (id) => targetOf(id),
      listCurrent: async () => [...serving.values()],
      isDeploying: async () => isDeploying,
      async insert({ deployment_id, variant }) {
        targetOf(deployment_id)?.taken.push(variant)
        return targetOf(deployment_id) !== undefined
      },
      list: async () => [...serving.values()].flatMap(({ taken, ...of }) => taken.map((variant) => ({ ...of, variant }))),
      async remove(id, variant) {
        const target = targetOf(id)
        if (target) target.taken = target.taken.filter((one) => one !== variant)
      },
      forget: async () => {},
    },
    screenshotter: camera,
    events,
    clock,
    log: silentLog,
    data_dir,
    isEnabled: () => isWanted(),
    findRoute: (host) => serving.get(host),
    getUrl: (host) => `http://${host}:4680/`,
    openEndpoint: async () => ({ host: '127.0.0.1', port: ++openEndpoints, close: async () => void openEndpoints-- }),
    probe_secret: 'sentinel',
  })
}

beforeEach(() => {
  data_dir = mkdtempSync(join(tmpdir(), 'homeport-screenshots-'))
  events = createEventBus<DomainEvent>()
  clock = fixedClock('2026-01-31T12:00:00.000Z')
  camera = createFakeScreenshotter()
  serving = new Map()
  openEndpoints = 0
  isWanted = () => true
  isDeploying = false
  start()
})
afterEach(async () => {
  await screenshots.close()
  expect(openEndpoints).toBe(0)
  rmSync(data_dir, { recursive: true })
})

/** A deployment becomes current, replacing the previous one. */
function deploy(id: string, { project = 'shop', kind = 'app' } = {}): void {
  const host = `${project}.localhost`
  const before = serving.get(host)?.deployment_id
  serving.set(host, {
    deployment_id: id,
    project_id: `prj_${project}`,
    target: 'production',
    branch: null,
    url: `http://${host}:1/`,
    taken: [],
    kind,
  })
  for (const name of [id, before]) if (name !== undefined) events.publish({ type: 'deployment_changed', id: name })
}

const taken = (id: string) =>
  until(() => targetOf(id)?.taken.length === 2 || undefined, { what: `both pictures of ${id}` }).then(() =>
    until(() => camera.open === 0 || undefined, { what: 'the end' }),
  )
const shotsOf = (project: string) => camera.shots.filter(({ url }) => url.includes(`//${project}.`)).map(({ variants }) => [...variants])
/** Once another project has its screenshots, the turn of everything before it is over. */
async function nextTurn(): Promise<void> {
  camera.failures = 0
  deploy('dpl_next', { project: 'next' })
  await taken('dpl_next')
  serving.delete('next.localhost')
}

test('deployments take precedence, before and during a capture, but only for so long', async () => {
  const change = (deploying: boolean) => {
    isDeploying = deploying
    events.publish({ type: 'deployment_changed', id: 'dpl_other' })
  }
  const release = camera.hold()
  deploy('dpl_1')
  await until(() => camera.open === 1 || undefined, { what: 'the first picture' })
  change(true)
  await until(() => camera.aborted === 1 || undefined, { what: 'the picture to be put off' })
  release()
  deploy('dpl_2', { project: 'blog' })
  change(false)
  await Promise.all([taken('dpl_1'), taken('dpl_2')])
  change(true)
  deploy('dpl_3')
  await until(
    async () => {
      await clock.advance(60_000)
      return targetOf('dpl_3')?.taken.length === 2 || undefined
    },
    { what: 'a screenshot during a deployment that does not end' },
  )
})

test('takes both screenshots of a deployment that became current, through an endpoint whose requests are not counted', async () => {
  const release = camera.hold()
  deploy('dpl_1')
  await until(() => camera.open === 1 || undefined, { what: 'the first picture' })
  expect(await screenshots.read({ id: 'dpl_1', project_id: 'prj_shop' }, 'desktop')).toBeUndefined()
  expect(camera.shots).toMatchObject([
    {
      url: 'http://shop.localhost:4680/',
      endpoint: { host: '127.0.0.1', port: 1 },
      headers: { 'x-homeport-probe': 'sentinel' },
      variants: ['desktop', 'mobile'],
    },
  ])
  release()
  await taken('dpl_1')
  for (const variant of ['desktop', 'mobile'] as const)
    expect(String(await screenshots.read({ id: 'dpl_1', project_id: 'prj_shop' }, variant))).toBe(`${variant} of http://shop.localhost:4680`)
})

test('takes one at a time; the newest of a project replaces waiting ones, and a deployment that no longer serves is canceled', async () => {
  const release = camera.hold()
  deploy('dpl_1')
  await until(() => camera.open === 1 || undefined, { what: 'the first picture' })
  deploy('dpl_other', { project: 'other' })
  deploy('dpl_2')
  await until(() => camera.aborted === 1 || undefined, { what: 'the first to be called off' })
  deploy('dpl_3')
  release()
  await taken('dpl_3')
  await taken('dpl_other')
  expect(camera.most).toBe(1)
  for (const id of ['dpl_1', 'dpl_2']) expect(existsSync(file(id, 'desktop'))).toBe(false)
})

test('retries once after 5 s, and not again', async () => {
  camera.failures = 9
  deploy('dpl_1')
  await until(() => (camera.shots.length === 1 && camera.open === 0) || undefined, { what: 'the first try' })
  await clock.advance(4_999)
  await nextTurn()
  expect(shotsOf('shop')).toHaveLength(1)
  camera.failures = 9
  await clock.advance(1)
  await until(() => shotsOf('shop').length === 2 || undefined, { what: 'the second try' })
  await clock.advance(60_000)
  events.publish({ type: 'deployment_changed', id: 'dpl_1' })
  await nextTurn()
  expect(shotsOf('shop')).toHaveLength(2)
})

test('the retry takes only what is missing', async () => {
  camera.failAfter = 1
  deploy('dpl_1')
  await until(() => (targetOf('dpl_1')?.taken.length === 1 && camera.open === 0) || undefined, { what: 'the first picture' })
  await until(async () => (await clock.advance(5_000), shotsOf('shop').length === 2 || undefined), { what: 'the second try' })
  await taken('dpl_1')
  expect(shotsOf('shop')).toEqual([['desktop', 'mobile'], ['mobile']])
})

test('does not wake a sleeping app, and captures it once its log says that it is awake', async () => {
  deploy('dpl_1', { kind: 'asleep' })
  await nextTurn()
  // Only waking up triggers another attempt.
  events.publish({ type: 'deployment_changed', id: 'dpl_1' })
  await clock.advance(60_000)
  await nextTurn()
  expect(shotsOf('shop')).toEqual([])
  serving.get('shop.localhost')!.kind = 'app'
  events.publish({ type: 'log_appended', id: 'prj_shop' })
  await taken('dpl_1')
})

test('waits a minute for an app that the edge does not route to yet', async () => {
  deploy('dpl_1', { kind: 'page' })
  await nextTurn()
  serving.get('shop.localhost')!.kind = 'app'
  await clock.advance(5_000)
  await taken('dpl_1')
})

test('takes none while the setting is off', async () => {
  const off = new Promise<void>((resolve) => {
    isWanted = () => {
      resolve()
      return false
    }
  })
  deploy('dpl_1')
  await off
  isWanted = () => true
  await nextTurn()
  expect(shotsOf('shop')).toEqual([])
})

test('a start takes missing ones and removes files of unknown deployments', async () => {
  deploy('dpl_1')
  await taken('dpl_1')
  await screenshots.close()
  rmSync(file('dpl_1', 'mobile'))
  mkdirSync(join(data_dir, 'screenshots', 'prj_gone'))
  for (const lost of [file('dpl_0', 'desktop'), file('dpl_0', 'desktop', 'prj_gone')]) writeFileSync(lost, 'png')
  camera.reset()
  start()
  await screenshots.start()
  await taken('dpl_1')
  expect(shotsOf('shop')).toEqual([['mobile']])
  for (const lost of [file('dpl_0', 'desktop'), file('dpl_0', 'desktop', 'prj_gone')]) expect(existsSync(lost)).toBe(false)
})

test('removes the screenshots of a deployment, or of a project', async () => {
  deploy('dpl_1')
  await taken('dpl_1')
  deploy('dpl_2')
  await taken('dpl_2')
  await screenshots.remove({ project_id: 'prj_shop', deployment_id: 'dpl_1' })
  expect(['dpl_1', 'dpl_2'].map((id) => existsSync(file(id, 'desktop')))).toEqual([false, true])
  await screenshots.remove({ project_id: 'prj_shop' })
  expect(existsSync(join(data_dir, 'screenshots', 'prj_shop'))).toBe(false)
})

test('close cancels the current capture', async () => {
  camera.hold()
  deploy('dpl_1')
  await until(() => camera.open === 1 || undefined, { what: 'the picture' })
  await screenshots.close()
  expect([camera.open, camera.aborted]).toEqual([0, 1])
})
