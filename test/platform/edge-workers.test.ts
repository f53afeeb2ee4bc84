import { Agent, request } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fullTest } from '../support/full-test.ts'
import { startTestPlatform, type TestPlatform, until } from '../support/platform.ts'
import { findChildren, isProcessRunning } from '../support/processes.ts'
import { makeRepository, type Repository, tinyServer } from '../support/repository.ts'
import { isFullTier } from '../support/tier.ts'

let platform: TestPlatform
let repository: Repository
const agent = new Agent({ keepAlive: true })

beforeAll(async () => {
  platform = await startTestPlatform({ runtime: 'process', edge_workers: 2 })
  repository = makeRepository(tinyServer('one'))
  await platform.createProject({ slug: 'served', repo_url: repository.url })
})
afterAll(async () => {
  agent.destroy()
  repository.remove()
  await platform.remove()
})

const deploy = async () => {
  const { id } = await platform.deploy('served')
  expect((await platform.waitForEnd('served', id)).status).toBe('ready')
}

/** A request on one of the connections of the agent, which stay open. */
const get = () =>
  new Promise<string>((resolve, reject) => {
    const url = new URL(platform.handle.edge_url)
    request({ host: url.hostname, port: url.port, agent, headers: { host: 'served.localhost' } }, (response) => {
      let text = `${response.statusCode} `
      response.on('data', (bytes) => (text += String(bytes))).on('end', () => resolve(text))
    })
      .on('error', reject)
      .end()
  })

test('versions change without a failed request, and are logged', async () => {
  await deploy()
  const answers = new Map<string, number>()
  let isOver = false
  const visitors = Array.from({ length: 8 }, async () => {
    while (!isOver) {
      const answer = await get()
      answers.set(answer, (answers.get(answer) ?? 0) + 1)
    }
  })
  for (const version of isFullTier ? ['two', 'three'] : ['two']) {
    repository.commit(tinyServer(version))
    await deploy()
    await until(() => answers.get(`200 ${version}`), { what: `answers of version ${version}` })
  }
  isOver = true
  await Promise.all(visitors)
  expect([...answers.keys()].toSorted()).toEqual(isFullTier ? ['200 one', '200 three', '200 two'] : ['200 one', '200 two'])
  const { body } = await platform.api<{ requests: { status: number; host: string }[] }>('GET', '/instance/projects/served/requests?limit=20')
  expect(body.requests).toHaveLength(20)
  expect(new Set(body.requests.map(({ status, host }) => `${status} ${host}`))).toEqual(new Set(['200 served.localhost']))
})

fullTest('an idle app falls asleep, and a request wakes it', async () => {
  await until(
    async () => {
      await platform.advanceInSteps(60_000)
      return (await platform.getProject('served')).is_cold || undefined
    },
    { what: 'the app to sleep' },
  )
  expect(await platform.fetchEdge('served.localhost')).toMatchObject({ status: 200, body: 'three' })
  expect((await platform.getProject('served')).is_cold).toBe(false)
})

test.for(isFullTier ? (['stop', 'SIGKILL'] as const) : (['SIGKILL'] as const))('the workers end with the platform: %s', async (end) => {
  const ending = await startTestPlatform({ runtime: 'process', edge_workers: 1 })
  const workers = findChildren(ending.pid, 'edge-worker.js')
  expect(workers).toHaveLength(1)
  await (end === 'SIGKILL' ? ending.kill() : ending.handle.stop())
  await until(() => (workers.some(isProcessRunning) ? undefined : true), { what: 'the worker to end' })
  await ending.remove()
})
