import { expect, test } from 'vitest'
import type { OriginalResponse, ReplayedResponse } from '../../server/contract/request-captures.ts'
import { fullTest } from '../support/full-test.ts'
import { tinyServer } from '../support/repository.ts'
import { until } from '../support/until.ts'
import type { DeploymentContext } from './deployment-suite.ts'

interface Replay {
  original: OriginalResponse
  replayed: ReplayedResponse
}

const start = { 'package.json': JSON.stringify({ name: 'app', private: true, scripts: { start: 'node server.js' } }) }

/** Asks its service, and has a variable. */
const pair = (version: string): Record<string, string> => ({
  ...start,
  'homeport.yaml': 'services:\n  web: { build: ., command: node server.js, port: 3000 }\n  api: { build: ., command: node api.js, port: 4000 }\n',
  'server.js': `
require('node:http').createServer(async (request, response) => {
  const api = request.url === '/' ? '' : await fetch(process.env.HOMEPORT_SERVICE_API_URL).then((r) => r.text(), String)
  response.end('${version} ' + api + ' ' + process.env.REGION)
}).listen(process.env.PORT, process.env.HOST)`,
  'api.js': `require('node:http').createServer((request, response) => response.end('api ${version}')).listen(process.env.PORT, process.env.HOST)`,
})

/** Replays to versions that do not serve, on every runtime. */
export function temporaryVersionsSuite(context: DeploymentContext, isRunning: (deploymentId: string) => Promise<boolean>): void {
  const api = <Body>(method: string, path: string, body?: unknown) => context.platform.api<Body>(method, path, body)
  const captureRequest = async (slug: string, path: string): Promise<string> => {
    await api('PUT', `/instance/projects/${slug}/request-capture`, {})
    const { headers } = await context.platform.fetchEdge(`${slug}.localhost`, path)
    const id = String(headers['x-request-id'])
    await until(async () => (await api('GET', `/instance/requests/${id}`)).status === 200 || undefined, { what: 'the request' })
    return id
  }
  /** Deploys a change, and waits until the earlier version is stopped. */
  const replace = async (slug: string, earlier: string, commit: () => void) => {
    commit()
    await context.deployReady(slug)
    await until(async () => !(await isRunning(earlier)) || undefined, { what: 'the end of the earlier version' })
  }
  /** Which deploys the project again. */
  const setRegion = async (slug: string) => {
    const { body } = await api<{ deployment_id: string }>('POST', `/v1/projects/${slug}/env-vars`, { key: 'REGION', value: 'north' })
    await context.platform.waitForEnd(slug, body.deployment_id)
  }
  const replayTo = (slug: string, request: string, id: string) =>
    api<Replay & { error?: string; message?: string }>('POST', `/instance/projects/${slug}/requests/${request}/replay`, {
      target: { kind: 'deployment', id },
    })

  test('an earlier version runs for a replay, with the variables and services of now', async () => {
    const repository = await context.projectWith('pair', pair('one'))
    const first = await context.deployReady('pair')
    await setRegion('pair')
    await replace('pair', first.id, () => repository.commit(pair('two')))
    const request = await captureRequest('pair', '/order')
    const { status, body: answer } = await replayTo('pair', request, first.id)
    expect([status, answer]).toMatchObject([
      200,
      { original: { body: 'two api two north' }, replayed: { body: 'one api two north', deployment_id: first.id } },
    ])
    expect(await isRunning(first.id)).toBe(false)
    expect((await context.platform.fetchEdge(answer.replayed.host)).status).toBe(404)
    expect((await context.platform.fetchEdge('pair.localhost', '/order')).body).toBe('two api two north')
  })

  fullTest('an earlier static version answers from its files', async () => {
    const repository = await context.projectWith('page', { 'index.html': '<h1>one</h1>' })
    const first = await context.deployReady('page')
    await replace('page', first.id, () => repository.commit({ 'index.html': '<h1>two</h1>' }))
    const request = await captureRequest('page', '/')
    expect((await replayTo('page', request, first.id)).body).toMatchObject({
      original: { body: expect.stringContaining('two') },
      replayed: { status: 200, body: expect.stringContaining('one') },
    })
  })

  fullTest('409 with the reason when it does not start, and nothing stays behind', async () => {
    const repository = await context.projectWith('fragile', {
      ...start,
      'server.js': `if (process.env.REGION) process.exit(3)\n${tinyServer('one')['server.js']}`,
    })
    const first = await context.deployReady('fragile')
    await replace('fragile', first.id, () => repository.commit(tinyServer('two')))
    await setRegion('fragile')
    const request = await captureRequest('fragile', '/')
    const { status, body } = await replayTo('fragile', request, first.id)
    expect([status, body]).toMatchObject([
      409,
      { error: 'replay_not_possible', message: expect.stringMatching(/^This deployment did not start\. .*code 3/) },
    ])
    expect(await isRunning(first.id)).toBe(false)
  })

  fullTest('a stopped project ends it', async () => {
    const hanging = {
      ...start,
      'server.js': `require('node:http').createServer((request, response) => { if (request.url === '/') response.end('one'); else console.log('it hangs') }).listen(process.env.PORT, process.env.HOST)`,
    }
    const repository = await context.projectWith('hanging', hanging)
    const first = await context.deployReady('hanging')
    await replace('hanging', first.id, () => repository.commit(tinyServer('two')))
    const replaying = replayTo('hanging', await captureRequest('hanging', '/hang'), first.id)
    await until(async () => (await isRunning(first.id)) || undefined, { what: 'the earlier version' })
    expect((await replayTo('hanging', await captureRequest('hanging', '/again'), first.id)).body.message).toMatch(/^Another replay/)
    expect((await api('POST', '/v1/projects/hanging/stop')).status).toBeLessThan(300)
    // It was starting, or its request was cut off.
    const { status, body } = await replaying
    expect(status === 200 ? body.replayed.status : status).toBeGreaterThanOrEqual(409)
    expect(await isRunning(first.id)).toBe(false)
  })

  fullTest('409 when its volume is in use by the live version', async () => {
    const files = {
      ...tinyServer('one'),
      'homeport.yaml': 'services:\n  web: { build: ., command: node server.js, port: 3000, volumes: ["state:/app/state"] }\nvolumes: { state: {} }\n',
    }
    const repository = await context.projectWith('stateful', files)
    const first = await context.deployReady('stateful')
    await replace('stateful', first.id, () => repository.commit(tinyServer('two')))
    const { status, body } = await replayTo('stateful', await captureRequest('stateful', '/'), first.id)
    expect([status, body.message]).toEqual([409, expect.stringMatching(/^This deployment has a volume/)])
  })
}
