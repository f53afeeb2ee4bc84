import { expect, test } from 'vitest'
import type { Service } from '../../server/contract/services.ts'
import { commitToBranch, waitForFirstCheck, waitForPreview } from '../support/git-branches.ts'
import { fullTest } from '../support/full-test.ts'
import type { Repository } from '../support/repository.ts'
import { until } from '../support/until.ts'
import { isFullTier } from '../support/tier.ts'
import type { DeploymentContext } from './deployment-suite.ts'

/** Answers on PORT and on each of these additional ports with the name and the port. */
const server = (name: string, ...ports: number[]) =>
  [undefined, ...ports]
    .map((port) => {
      const variable = port === undefined ? 'PORT' : `PORT_${port}`
      return `require('node:http').createServer((request, response) => response.end('${name} ${port ?? 'main'}')).listen(process.env.${variable}, process.env.HOST)`
    })
    .join('\n')

const manifest = JSON.stringify({ private: true, scripts: { start: 'node server.js' } })

/** Additional ports of apps and services, on every runtime. */
export function portsSuite(context: DeploymentContext): void {
  const listServices = async (slug: string, query = '') =>
    (await context.platform.api<{ services: Service[] }>('GET', `/instance/projects/${slug}/services${query}`)).body.services
  const setPorts = (slug: string, public_ports: number[]) => context.platform.api('PATCH', `/instance/projects/${slug}/settings`, { public_ports })
  const read = async (host: string) => {
    const { status, body } = await context.platform.fetchEdge(`${host}.localhost`)
    return status === 200 ? body : status
  }

  test('an additional port of an app has its own address, which wakes the app and is removed with the setting', async () => {
    const { platform } = context
    const files = { 'package.json': manifest, 'server.js': server('app', 9090) }
    const repository = await context.projectWith('ported', files)
    await platform.api('PATCH', '/instance/projects/ported/watching', { previews: true })
    await setPorts('ported', [9090, 9091])
    const { build_log } = await context.deployReady('ported')
    expect(await read('ported')).toBe('app main')
    expect(await read('web-9090--ported')).toBe('app 9090')
    expect(build_log).toContain('nothing is listening on the additional port 9091')
    expect(build_log).not.toContain('listens on port 9090')
    expect(await read('web-9091--ported')).toBe(502)
    for (const host of ['web-80--ported', '9090--ported', 'web--ported', 'other-9090--ported']) expect(await read(host), host).toBe(404)
    const { port } = new URL(platform.handle.edge_url)
    expect(await listServices('ported')).toMatchObject([
      {
        name: 'web',
        is_main: true,
        ports: [
          { port: 9090, url: `http://web-9090--ported.localhost:${port}`, variable: 'PORT_9090' },
          { port: 9091, url: `http://web-9091--ported.localhost:${port}`, variable: 'PORT_9091' },
        ],
        health_check: { path: '/', timeout_s: 60 },
      },
    ])

    if (!isFullTier) return

    await waitForFirstCheck(platform, 'ported')
    await waitForPreview(platform, 'ported', 'topic', commitToBranch(repository.folder, 'topic', { 'server.js': server('topic', 9090) }))
    expect(await read('web-9090--topic--ported')).toBe('topic 9090')
    expect(await listServices('ported', '?branch=topic')).toMatchObject([
      { ports: [{ url: `http://web-9090--topic--ported.localhost:${port}` }, {}] },
    ])
    // The preview of a branch keeps its address, whatever the label of a port would be.
    await waitForPreview(platform, 'ported', 'web-9091', commitToBranch(repository.folder, 'web-9091', { 'server.js': server('branch') }))
    expect(await read('web-9091--ported')).toBe('branch main')
    expect(await listServices('ported')).toMatchObject([{ ports: [{}, { port: 9091, url: null }] }])

    await platform.api('PATCH', '/instance/settings', { sleep_after_s: 60 })
    await until(
      async () => {
        await platform.advanceInSteps(60_000)
        return (await platform.getProject('ported')).is_cold || undefined
      },
      { what: 'the app to sleep' },
    )
    expect(await read('web-9090--ported')).toBe('app 9090')
    expect((await platform.getProject('ported')).is_cold).toBe(false)

    await setPorts('ported', [])
    await context.deployReady('ported')
    expect([await read('ported'), await read('web-9090--ported'), await read('web-9091--ported')]).toEqual(['app main', 404, 'branch main'])
    expect(await listServices('ported')).toEqual([])
  })

  const file = (timeout: string) => `
services:
  web: { build: ., command: node server.js, port: 3000, ports: [9090] }
  api: { build: ., command: node api.js, port: 4000, ports: [9090], healthcheck: { path: /ready, timeout: ${timeout}, interval: 1s } }
`
  const api = (status: number) =>
    `require('node:http').createServer((q, r) => { if (q.url === '/ready') console.log('asked'); r.statusCode = ${status}; r.end('api ready') }).listen(process.env.PORT, process.env.HOST)\n`
  let repository: Repository

  fullTest('services of homeport.yaml can have additional ports, and a health check with its own timeout', async () => {
    repository = await context.projectWith('ported-services', {
      'package.json': manifest,
      'server.js': server('web', 9090),
      'api.js': api(200) + server('api', 9090).split('\n')[1]!,
      'homeport.yaml': file('7s'),
    })
    await context.deployReady('ported-services')
    expect(await read('web-9090--ported-services')).toBe('web 9090')
    expect(await read('api-9090--ported-services')).toBe('api 9090')
    expect(await read('api--ported-services')).toBe(404)
    expect(await listServices('ported-services')).toMatchObject([
      { name: 'web', ports: [{ port: 9090 }], health_check: { path: '/', timeout_s: 60 } },
      { name: 'api', url: null, ports: [{ port: 9090 }], health_check: { path: '/ready', timeout_s: 7 } },
    ])
  })

  fullTest('a service fails by its own health check and timeout, and the live version stays', async () => {
    repository.commit({ 'api.js': api(503) })
    const failed = await context.deployAndWait('ported-services')
    expect(failed.error).toMatchObject({
      code: 'health_check_failed',
      message: expect.stringMatching(/Service “api”: .*GET \/ready with 503 for 7 s/),
      hint: expect.stringMatching(/raise health_timeout_s .* timeout under healthcheck/),
    })
    expect(await read('api-9090--ported-services')).toBe('api 9090')
  })
}
