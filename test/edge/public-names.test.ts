import { afterEach, describe, expect, test } from 'vitest'
import { createEdgeWorkers } from '../../server/edge/workers/edge-workers.ts'
import type { Edge } from '../../server/edge/edge.ts'
import { silentLog } from '../../server/lib/log.ts'
import { toLocalName, toPublicName } from '../../server/lib/apps-domain.ts'
import { edgePaths, get, routeOwner, startApp, startEdge, upstreamRoute } from '../support/edge.ts'
import { buildProgram } from '../support/programs.ts'
import { createTestAuthority, getHttps, openTlsSocket } from '../support/tls.ts'

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
})

const apps_domain = 'apps.example.com'
const challenge = '/.well-known/acme-challenge/'

type StartedEdge = { edge: Edge; port: number }
const kinds: { name: string; start(options: { getTlsCredentials?: ReturnType<typeof createTestAuthority>['identityFor'] }): Promise<StartedEdge> }[] =
  [
    ...edgePaths.map(({ name, fast_path }) => ({
      name,
      async start(options: object) {
        const started = await startEdge({ ...options, apps_domain, fast_path })
        cleanups.push(() => started.close())
        return started
      },
    })),
    {
      name: 'workers',
      async start(options) {
        const program = { node_path: process.execPath, script: await buildProgram('edge-worker'), env: {} }
        const edge = createEdgeWorkers({ log: silentLog, program, workers: 2, apps_domain, ...options })
        cleanups.push(() => edge.close())
        return { edge, ...(await edge.listen({ host: '127.0.0.1', port: 0 })) }
      },
    },
  ]

async function startEcho(): Promise<number> {
  const app = await startApp((incoming, response) => {
    incoming.resume()
    response.end(`app ${incoming.headers.host} ${incoming.url}`)
  })
  cleanups.push(() => app.close())
  return app.port
}

describe.each(kinds)('public names at the edge, $name', ({ start }) => {
  test('a project answers below the apps domain, with the host that the client sent', async () => {
    const { edge, port } = await start({})
    await edge.setRoute('shop.localhost', upstreamRoute(await startEcho()))
    for (const host of ['shop.localhost', 'shop.apps.example.com', 'SHOP.apps.example.com'])
      expect(await get(port, '/x', { host })).toMatchObject({ status: 200, text: `app ${host} /x` })
    for (const host of ['other.apps.example.com', 'apps.example.com', 'shopapps.example.com', 'shop.apps.example.com.org', 'shop.example.com'])
      expect((await get(port, '/', { host })).status, host).toBe(404)
    expect(edge.getRoute('shop.apps.example.com')).toMatchObject({ project_id: routeOwner.project_id })
    await edge.removeRoute('shop.localhost', { drain_ms: 0 })
    expect((await get(port, '/', { host: 'shop.apps.example.com' })).status).toBe(404)
  })

  test('a custom domain cannot take the name of a project over', async () => {
    const { edge, port } = await start({})
    await edge.setRoute('shop.localhost', upstreamRoute(await startEcho()))
    await edge.setRoute('thief.localhost', { ...routeOwner, kind: 'page', page: 'stopped', project_id: 'prj_thief' })
    edge.setAliases('thief.localhost', ['shop.apps.example.com', 'www.example.org'])
    expect((await get(port, '/', { host: 'shop.apps.example.com' })).status).toBe(200)
    expect(edge.getRoute('shop.apps.example.com')?.project_id).toBe(routeOwner.project_id)
    expect(edge.getRoute('www.example.org')?.project_id).toBe('prj_thief')
  })

  test('the edge answers challenges of a host name under order, and the app all others', async () => {
    const { edge, port } = await start({})
    await edge.setRoute('shop.localhost', upstreamRoute(await startEcho()))
    const host = 'shop.apps.example.com'
    await edge.setChallenges(host, { token: 'token.thumbprint' })
    expect(await get(port, `${challenge}token`, { host })).toMatchObject({ status: 200, text: 'token.thumbprint' })
    expect((await get(port, `${challenge}other`, { host })).status).toBe(404)
    expect(await get(port, '/page', { host })).toMatchObject({ text: `app ${host} /page` })
    // Another host name, even of the same project.
    expect(await get(port, `${challenge}token`, { host: 'shop.localhost' })).toMatchObject({ text: `app shop.localhost ${challenge}token` })
    await edge.setChallenges(host, {})
    expect(await get(port, `${challenge}token`, { host })).toMatchObject({ text: `app ${host} ${challenge}token` })
  })

  test('a certificate is asked for names with a route alone', async () => {
    const authority = createTestAuthority()
    const asked = new Set<string>()
    const { edge } = await start({
      getTlsCredentials(host) {
        asked.add(host)
        return authority.identityFor(host)
      },
    })
    const { port } = await edge.listenSecure({ host: '127.0.0.1', port: 0 })
    await edge.setRoute('shop.localhost', upstreamRoute(await startEcho()))
    const ca = (await authority.ensure()).certificate
    expect(await getHttps(port, '/', { ca, servername: 'shop.apps.example.com' })).toMatchObject({ status: 200 })
    await expect(openTlsSocket(port, { servername: 'unknown.apps.example.com' })).rejects.toThrow()
    expect([...asked].toSorted()).toEqual(['127.0.0.1', 'shop.apps.example.com'])
  })
})

test('names below the apps domain are those below localhost', () => {
  for (const [local, name] of [
    ['shop.localhost', 'shop.apps.example.com'],
    ['api--shop.localhost', 'api--shop.apps.example.com'],
  ] as const) {
    expect(toPublicName(local, apps_domain)).toBe(name)
    expect(toLocalName(name, apps_domain)).toBe(local)
    expect([toPublicName(local, null), toLocalName(name, null)]).toEqual([local, name])
  }
  for (const other of ['www.example.com', 'apps.example.com', 'xapps.example.com', ''])
    expect([toPublicName(other, apps_domain), toLocalName(other, apps_domain)]).toEqual([other, other])
})
