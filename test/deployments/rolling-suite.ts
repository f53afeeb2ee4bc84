import { Agent, request } from 'node:http'
import { expect, test } from 'vitest'
import type { Service } from '../../server/contract/services.ts'
import { findProcessesByCommand } from '../support/processes.ts'
import { collectText } from '../support/replica-answers.ts'
import { until } from '../support/until.ts'
import { isFullTier } from '../support/tier.ts'
import type { DeploymentContext } from './deployment-suite.ts'

const program = 'rolling-server.js'

/** Answers with the version and the identity of its process. */
export const identityServer = (version: string, first = '') => ({
  'package.json': JSON.stringify({ private: true, scripts: { start: `node ${program}` } }),
  [program]: `${first}
const id = require('node:crypto').randomUUID()
require('node:http').createServer((incoming, response) => {
  incoming.resume().on('end', () => response.end('${version} ' + id))
}).listen(process.env.PORT, process.env.HOST)
`,
})
/**
 * A deployment of several replicas on a machine whose memory does not hold both sets. The context's platform has 100 MB left. `failing`: a version whose
 * second start fails; null if the runtime allows none.
 */
export function rollingSuite(context: DeploymentContext, failing: ((version: string) => Record<string, string>) | null): void {
  const replicasOf = async (slug: string) =>
    (await context.platform.api<{ services: Service[] }>('GET', `/instance/projects/${slug}/services`)).body.services[0]?.replicas ?? []
  const answersOf = (slug: string, count: number) => collectText(async () => (await context.platform.fetchEdge(`${slug}.localhost`)).body, count)

  /** Sends GET and POST over connections that stay open until it is stopped. Returns what failed, and how many did not. */
  const startLoad = (slug: string): (() => Promise<{ failures: string[]; answered: number; versions: Set<string> }>) => {
    const { port } = new URL(context.platform.handle.edge_url)
    const agent = new Agent({ keepAlive: true })
    const result = { failures: [] as string[], answered: 0, versions: new Set<string>() }
    let isStopped = false
    const sendOne = (method: string) =>
      new Promise<void>((resolve) => {
        const fail = (reason: string) => (result.failures.push(`${method}: ${reason}`), resolve())
        const sent = request({ port, path: '/', method, agent, headers: { host: `${slug}.localhost` } }, (response) => {
          let text = ''
          response.setEncoding('utf8').on('data', (part: string) => (text += part))
          response.on('error', (error) => fail(error.message))
          response.on('end', () => {
            if (response.statusCode !== 200) return fail(`status ${response.statusCode}`)
            result.answered++
            result.versions.add(text.split(' ')[0] ?? '')
            resolve()
          })
        })
        sent.on('error', (error) => fail(error.message))
        sent.end(method === 'POST' ? 'body' : undefined)
      })
    const loops = ['GET', 'POST', 'GET', 'POST'].map(async (method) => {
      while (!isStopped) await sendOne(method)
    })
    return async () => {
      isStopped = true
      await Promise.all(loops)
      agent.destroy()
      return result
    }
  }

  test('the replicas are replaced one by one without a failed request, and a failed replacement restores the live version', async () => {
    const repository = await context.projectWith('rolling', identityServer('one'))
    await context.platform.api('PATCH', '/instance/projects/rolling/settings', { replicas: 3 })
    // The first version replaces nothing.
    expect((await context.deployReady('rolling')).build_log).toContain('Starting 2 more replicas.')
    expect(await answersOf('rolling', 3)).toHaveLength(3)

    const perReplica = findProcessesByCommand(program).length / 3
    repository.commit(identityServer('two'))
    const stop = startLoad('rolling')
    let most = 0
    const deploying = context.deployReady('rolling')
    let isOver = false
    void deploying.then(
      () => (isOver = true),
      () => (isOver = true),
    )
    await until(() => ((most = Math.max(most, findProcessesByCommand(program).length)), isOver || undefined), { what: 'the end of the deployment' })
    const { build_log } = await deploying
    // Never more than one in addition.
    expect(most).toBeLessThanOrEqual(4 * perReplica)
    for (const line of [
      'The replicas are replaced one by one. The other 2 of 3 replicas may need 1024 MB next to the live version, and 100 MB are available.',
      '1 of 3 replicas replaced; 2 of the live version run.',
      '2 of 3 replicas replaced; 1 of the live version runs.',
    ])
      expect(build_log).toContain(line)
    await until(async () => (await context.platform.fetchEdge('rolling.localhost')).body.startsWith('two ') || undefined, { what: 'the new version' })
    const replaced = await stop()
    expect(replaced.failures).toEqual([])
    expect([...replaced.versions]).toEqual(['one', 'two'])
    const two = await answersOf('rolling', 3)
    expect(two.every((text) => text.startsWith('two '))).toBe(true)

    if (failing === null || !isFullTier) return
    repository.commit(failing('three'))
    const stopAgain = startLoad('rolling')
    const failed = await context.deployAndWait('rolling')
    expect(failed.status).toBe('failed')
    expect(failed.build_log).toContain('1 of 3 replicas replaced; 2 of the live version run.')
    expect(failed.build_log).toContain('The live version keeps the traffic, and its stopped replicas are started again.')
    await until(
      async () => {
        const replicas = await replicasOf('rolling')
        return (replicas.length === 3 && replicas.every(({ status, in_flight }) => status === 'running' && in_flight !== null)) || undefined
      },
      { what: 'three replicas of the version before' },
    )
    const restored = await stopAgain()
    expect(restored.failures).toEqual([])
    const after = await answersOf('rolling', 3)
    expect(after.every((text) => text.startsWith('two '))).toBe(true)
    // Two of them never stopped.
    expect(after.filter((text) => two.includes(text))).toHaveLength(2)
    for (let i = 0; i < 10; i++) expect((await context.platform.fetchEdge('rolling.localhost')).body).toMatch(/^two /)
  })
}
