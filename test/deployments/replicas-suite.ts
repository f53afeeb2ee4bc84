import { expect, test } from 'vitest'
import { fullTest } from '../support/full-test.ts'
import type { Deployment } from '../../server/contract/deployments.ts'
import type { Service } from '../../server/contract/services.ts'
import { get } from '../support/edge.ts'
import { startTestPlatform } from '../support/platform.ts'
import { findProcessesByCommand } from '../support/processes.ts'
import { collectText } from '../support/replica-answers.ts'
import { until } from '../support/until.ts'
import type { DeploymentContext } from './deployment-suite.ts'

/** Answers with the version and the identity of its process. `/exit` ends it. */
const server = (version: string) => ({
  'package.json': JSON.stringify({ private: true, scripts: { start: 'node server.js' } }),
  'server.js': `
const id = require('node:crypto').randomUUID()
console.log('started ' + id)
require('node:http').createServer((request, response) => {
  if (request.url === '/exit') process.exit(1)
  response.end('${version} ' + id)
}).listen(process.env.PORT, process.env.HOST)
`,
})

/** Several replicas of an app and of its services, on every runtime. */
export function replicasSuite(context: DeploymentContext): void {
  const scale = (slug: string, replicas: number) => context.platform.api('PATCH', `/instance/projects/${slug}/settings`, { replicas })
  const listServices = async (slug: string) =>
    (await context.platform.api<{ services: Service[] }>('GET', `/instance/projects/${slug}/services`)).body.services
  const statusesOf = async (slug: string, name = 'web') =>
    ((await listServices(slug)).find((one) => one.name === name)?.replicas ?? []).map(({ replica, status }) => [replica, status])
  const runs = (slug: string, count: number) =>
    until(
      async () => {
        const statuses = await statusesOf(slug)
        return (statuses.length === (count === 1 ? 0 : count) && statuses.every(([, status]) => status === 'running')) || undefined
      },
      { what: `${count} running replicas of ${slug}` },
    )
  const read = (slug: string) => async () => (await context.platform.fetchEdge(`${slug}.localhost`)).body
  /** The different answers of the replicas. */
  const answersOf = (slug: string, count: number) => collectText(read(slug), count)

  test('the number of replicas applies to the live version at once, up and down, and to the next version', async () => {
    const { platform } = context
    const repository = await context.projectWith('scaled', server('one'))
    await context.deployReady('scaled')
    const [first = ''] = await answersOf('scaled', 1)
    expect((await scale('scaled', 3)).status).toBe(200)
    await runs('scaled', 3)
    const three = await answersOf('scaled', 3)
    expect(three).toContain(first)
    expect((await listServices('scaled'))[0]?.replicas).toMatchObject([
      { replica: 1, in_flight: 0, restarts: 0, is_ejected: false },
      { replica: 2, in_flight: 0 },
      { replica: 3, in_flight: 0 },
    ])

    repository.commit(server('two'))
    const { build_log } = await context.deployReady('scaled')
    expect(build_log).toContain('Starting 2 more replicas.')
    expect(build_log).toMatch(/2 of 3 replicas ready\.[^]*3 of 3 replicas ready\./)
    const next = await answersOf('scaled', 3)
    expect(next.every((text) => text.startsWith('two '))).toBe(true)

    await scale('scaled', 1)
    await runs('scaled', 1)
    const [rest] = await answersOf('scaled', 1)
    for (let i = 0; i < 10; i++) expect(await read('scaled')()).toBe(rest)
    expect((await platform.api('PATCH', '/instance/projects/scaled/settings', { replicas: 21 })).status).toBe(400)
  })

  fullTest('a replica that exits is restarted while the others serve', async () => {
    await context.projectWith('robust', server('one'))
    await scale('robust', 2)
    await context.deployReady('robust')
    const before = await answersOf('robust', 2)
    // Each exit ends whichever replica gets the request, the first one too.
    for (let exit = 1; exit <= 2; exit++) {
      // A POST, because a GET without an answer is repeated on another replica.
      await get(Number(new URL(context.platform.handle.edge_url).port), '/exit', { host: 'robust.localhost', method: 'POST' }).catch(() => undefined)
      for (let i = 0; i < 10; i++) expect(await read('robust')()).toMatch(/^one /)
      await until(
        async () => {
          await context.platform.advance(1_000)
          const replicas = (await listServices('robust'))[0]?.replicas ?? []
          // Until the exit is noticed, both still count as running.
          const restarts = replicas.reduce((sum, one) => sum + one.restarts, 0)
          return (restarts === exit && replicas.every(({ status }) => status === 'running')) || undefined
        },
        { what: `restart ${exit}` },
      )
    }
    const after = await answersOf('robust', 2)
    expect(after).not.toEqual(before)
  })

  fullTest('replicas sleep and wake together', async () => {
    await context.projectWith('drowsy', server('one'))
    await scale('drowsy', 2)
    await context.deployReady('drowsy')
    const before = await answersOf('drowsy', 2)
    await until(
      async () => {
        await context.platform.advanceInSteps(60_000)
        return (await context.platform.getProject('drowsy')).is_cold || undefined
      },
      { what: 'the app to sleep' },
    )
    expect(await statusesOf('drowsy')).toEqual([
      [1, 'asleep'],
      [2, 'asleep'],
    ])
    expect(await answersOf('drowsy', 2)).toEqual(before)
    expect((await context.platform.api('POST', '/v1/projects/drowsy/stop')).status).toBe(200)
    expect((await context.platform.fetchEdge('drowsy.localhost')).status).toBe(503)
    await context.deployReady('drowsy')
    expect(await answersOf('drowsy', 2)).toHaveLength(2)
  })

  fullTest('a configuration file gives web services and workers their replicas, whose log lines name them', async () => {
    await context.projectWith('listed-replicas', {
      ...server('one'),
      'worker.js': `console.log('at work'); setInterval(() => {}, 1000)`,
      'homeport.yaml': `
services:
  web: { command: node server.js, replicas: 2 }
  worker: { command: node worker.js, replicas: 2 }
`,
    })
    await context.deployReady('listed-replicas')
    expect(await answersOf('listed-replicas', 2)).toHaveLength(2)
    expect(await statusesOf('listed-replicas', 'worker')).toEqual([
      [1, 'running'],
      [2, 'running'],
    ])
    const { api_url, instance } = context.platform.handle
    const readLog = async () => {
      const url = new URL('/instance/projects/listed-replicas/runtime-log?format=ndjson&service=worker', api_url)
      const records = (await (await fetch(url, { headers: { authorization: `Bearer ${instance.token}` } })).text()).trim().split('\n')
      return records.map((record) => JSON.parse(record) as { line?: string; replica?: number }).filter(({ line }) => line === 'at work')
    }
    const lines = await until(async () => ((await readLog()).length === 2 ? readLog() : undefined), { what: 'a line of each worker' })
    expect(new Set(lines.map(({ replica }) => replica ?? 1))).toEqual(new Set([1, 2]))
    // The file has its own number.
    await scale('listed-replicas', 5)
    expect(await statusesOf('listed-replicas')).toHaveLength(2)
  })

  test('with sticky sessions a cookie leads to the same replica', async () => {
    const { platform } = context
    await context.projectWith('sticky', server('one'))
    await platform.api('PATCH', '/instance/projects/sticky/settings', { replicas: 2, sticky_sessions: true })
    await context.deployReady('sticky')
    const { port } = new URL(platform.handle.edge_url)
    const first = await get(Number(port), '/', { host: 'sticky.localhost' })
    const [cookie = ''] = first.headers['set-cookie']?.[0]?.split(';') ?? []
    for (let i = 0; i < 10; i++) expect((await get(Number(port), '/', { host: 'sticky.localhost', headers: { cookie } })).text).toBe(first.text)
  })

  fullTest('a rollback starts as many replicas as the project has now', async () => {
    const { platform } = context
    const repository = await context.projectWith('returned', server('one'))
    await scale('returned', 2)
    const first = await context.deployReady('returned')
    repository.commit(server('two'))
    await context.deployReady('returned')
    await scale('returned', 3)
    await runs('returned', 3)
    const { status, body } = await platform.api<{ deployment: Deployment }>('POST', `/v1/projects/returned/deployments/${first.id}/rollback`)
    expect(status).toBe(201)
    const back = await platform.waitForEnd('returned', body.deployment.id)
    expect(back).toMatchObject({ status: 'ready', trigger: 'rollback' })
    const answers = await answersOf('returned', 3)
    expect(answers.every((text) => text.startsWith('one '))).toBe(true)
    expect(await statusesOf('returned')).toHaveLength(3)
  })

  fullTest('an app with a volume runs once, whatever its number', async () => {
    await context.projectWith('writer', server('one'))
    await scale('writer', 3)
    await context.deployReady('writer')
    await runs('writer', 3)
    const added = await context.platform.api<{ deployment_id: string }>('POST', '/instance/projects/writer/volumes', { path: 'uploads' })
    expect(added.status).toBe(200)
    const { status, build_log } = await context.platform.waitForEnd('writer', added.body.deployment_id)
    expect(status).toBe('ready')
    expect(build_log).toContain('Warning: web runs once and not as 3 replicas, because replicas would write to its volume at the same time.')
    await runs('writer', 1)
    const [only] = await answersOf('writer', 1)
    for (let i = 0; i < 10; i++) expect(await read('writer')()).toBe(only)
  })

  fullTest('after the platform was killed all replicas serve: none is started twice, and none is left over', async () => {
    const { runtime, data_dir } = context.platform
    const file = `adopted-${runtime}.js`
    await context.projectWith('adopted', {
      'package.json': JSON.stringify({ private: true, scripts: { start: `node ${file}` } }),
      [file]: server('one')['server.js'],
    })
    await scale('adopted', 3)
    await context.deployReady('adopted')
    await runs('adopted', 3)
    const before = await answersOf('adopted', 3)
    const countProcesses = () => findProcessesByCommand(file).length
    const running = countProcesses()
    const countStarts = async () => {
      const { api_url, instance } = context.platform.handle
      const url = new URL('/instance/projects/adopted/runtime-log?format=ndjson', api_url)
      const records = await (await fetch(url, { headers: { authorization: `Bearer ${instance.token}` } })).text()
      return records.split('\n').filter((record) => record.includes('"started ')).length
    }
    await until(async () => (await countStarts()) === 3 || undefined, { what: 'three starts in the log' })
    await context.platform.kill()
    context.platform = await startTestPlatform({ runtime, data_dir })
    await runs('adopted', 3)
    const after = await answersOf('adopted', 3)
    // Containers outlive the platform. Processes are started again.
    if (runtime === 'docker') expect(after).toEqual(before)
    else expect(after.filter((text) => before.includes(text))).toEqual([])
    await until(async () => (await countStarts()) === (runtime === 'docker' ? 3 : 6) || undefined, { what: 'the starts in the log' })
    await until(() => countProcesses() === running || undefined, { what: 'as many processes as before' })
    for (let i = 0; i < 20; i++) expect(after).toContain(await read('adopted')())
  })
}
