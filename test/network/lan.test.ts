/** Opening and closing, with the real edge on loopback addresses in place of network addresses. */
import { createServer, type AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createLanAccess, type LanAccess, type LanOptions, type LanProject } from '../../server/network/lan.ts'
import { createLog } from '../../server/lib/log.ts'
import { sendRequest } from '../support/http-request.ts'
import { routeOwner, startEdge, type TestEdge } from '../support/edge.ts'
import { requires } from '../support/requirements.ts'
import { createTestClock, type TestClock } from '../support/test-clock.ts'
import { until } from '../support/until.ts'

const near = '127.0.0.2'
const other = '127.0.0.3'

let edge: TestEdge
let lan: LanAccess
let clock: TestClock
let isWanted: boolean
let addresses: string[]
let projects: LanProject[]
let stored: Record<string, number>
let log: string[]

const named = (slug: string): LanProject => ({ id: `prj_${slug}`, slug, name: slug, host: `${slug}.localhost` })
const urls = () => Object.fromEntries(lan.status().projects.map(({ slug, urls: [url = ''] }) => [slug, url]))
const portOf = (slug: string) => Number(new URL(urls()[slug] ?? '').port)

const create = (more: Partial<LanOptions> = {}) =>
  createLanAccess({
    isEnabled: async () => isWanted,
    addresses: () => addresses,
    machine: 'Laptop.fritz.box',
    // A second listener of the edge replaces the API server, because these tests are about when, not what.
    api: { host: '127.0.0.1', port: edge.port + 1, open: edge.edge.listenOnNetwork },
    edge: { host: '127.0.0.1', port: edge.port, open: edge.edge.listenOnNetwork },
    projects: async () => projects,
    ports: { read: async () => stored, write: async (ports) => void (stored = ports) },
    clock,
    log: createLog((line) => log.push(line)),
    ...more,
  })

beforeEach(async () => {
  edge = await startEdge()
  clock = createTestClock({ frozen_at: '2026-01-31T12:00:00Z' })
  isWanted = true
  addresses = [near]
  projects = []
  stored = {}
  log = []
  lan = create()
})
afterEach(async () => {
  await lan.close()
  await edge.close()
})

describe.skipIf(!requires('loopback').ok)('local network access', () => {
  test('one update opens it and one closes it; concurrent updates open nothing twice', async () => {
    expect(lan.status()).toEqual({ open: false, warning: null, dashboard_urls: [], projects: [] })
    projects = [named('one')]
    await Promise.all(Array.from({ length: 20 }, () => lan.update()))
    expect(lan.status()).toMatchObject({ open: true, dashboard_urls: [`http://${near}:${edge.port + 1}/app/`] })
    expect(lan.hosts()).toEqual([`${near}:${edge.port + 1}`, `laptop.local:${edge.port + 1}`])
    expect(log).toEqual([])
    isWanted = false
    await lan.update()
    expect([lan.status().open, lan.hosts()]).toEqual([false, []])
    await expect(sendRequest(`http://${near}:${edge.port}/`)).rejects.toThrow('ECONNREFUSED')
  })

  test('a project keeps its port across openings and restarts, whatever projects come before it', async () => {
    projects = [named('one'), named('two')]
    await lan.update()
    const before = [portOf('one'), portOf('two')]
    isWanted = false
    await lan.update()
    isWanted = true
    projects = [named('three'), named('two'), named('one')]
    await lan.close()
    lan = create()
    await lan.update()
    expect([portOf('one'), portOf('two')]).toEqual(before)
    expect(before).not.toContain(portOf('three'))
  })

  test('at most a hundred projects, in order; one that no longer fits is closed', async () => {
    projects = Array.from({ length: 120 }, (_, i) => named(`p${i}`))
    await edge.edge.setRoute('p0.localhost', { ...routeOwner, kind: 'page', page: 'building' })
    await lan.update()
    expect(Object.keys(urls())).toEqual(projects.slice(0, 100).map(({ slug }) => slug))
    expect(new Set(Object.values(urls())).size).toBe(100)
    const first = urls().p0 ?? ''
    expect((await sendRequest(first)).status).toBe(503)
    projects = [...projects.slice(20), ...projects.slice(0, 20)]
    await lan.update()
    expect(Object.keys(urls())).toEqual(projects.slice(0, 100).map(({ slug }) => slug))
    await expect(sendRequest(first)).rejects.toThrow('ECONNREFUSED')
  })

  test('a port taken by another program is skipped; one taken by the platform’s own listener is reported', async () => {
    const taken = await Promise.all([edge.port + 1, edge.port + 100].map((port) => occupy(port)))
    projects = [named('one')]
    await lan.update()
    const port = portOf('one')
    expect(port).toBeGreaterThan(edge.port + 100)
    await lan.update()
    expect(lan.status()).toMatchObject({ dashboard_urls: [], warning: expect.stringContaining(`${near}:${edge.port + 1}`) })
    // Logged once, and not every ten seconds.
    expect(log.filter((line) => line.includes(`api ${near}`)).length).toBe(1)
    await Promise.all(taken.map((server) => new Promise((resolve) => server.close(resolve))))
    await lan.update()
    expect(lan.status().dashboard_urls.length).toBe(1)
    expect(portOf('one')).toBe(port)
  })

  test('an address that appears or disappears adds or removes its listeners', async () => {
    projects = [named('one')]
    await lan.update()
    addresses = [near, other]
    await lan.update()
    expect(lan.status().projects[0]?.urls.map((url) => new URL(url).hostname)).toEqual([near, other])
    expect((await sendRequest(`http://${other}:${edge.port}/`)).status).toBe(404)
    addresses = [other]
    await lan.update()
    await expect(sendRequest(`http://${near}:${edge.port}/`)).rejects.toThrow('ECONNREFUSED')
    expect((await sendRequest(`http://${other}:${edge.port}/`)).status).toBe(404)
  })

  test('updates regularly, and soon after a change', async () => {
    lan.scheduleUpdate()
    await clock.advance(10_000)
    expect(lan.status().open).toBe(false)
    await lan.update()
    addresses = [other]
    await clock.advance(10_000)
    await until(() => lan.status().dashboard_urls[0]?.includes(other) || undefined, { what: 'the other address' })
    projects = [named('one')]
    for (let i = 0; i < 10; i++) lan.scheduleUpdate()
    await clock.advance(100)
    await until(() => (lan.status().projects.length === 1 ? true : undefined), { what: 'the project' })
  })

  test('an address that the main listeners cover is not opened again', async () => {
    const opened: string[] = []
    const open: LanOptions['api']['open'] = async ({ address, port }) => {
      opened.push(`${address}:${port}`)
      return { close: async () => {} }
    }
    addresses = ['192.168.1.20', 'fd00::2']
    lan = create({ api: { host: '0.0.0.0', port: 4600, open }, edge: { host: '::', port: 4680, open } })
    expect(lan.status()).toMatchObject({
      open: true,
      dashboard_urls: [],
      warning: expect.stringContaining('--host 0.0.0.0'),
    })
    await lan.update()
    expect(opened).toEqual(['fd00::2:4600'])
    expect(lan.status().dashboard_urls).toEqual(['http://192.168.1.20:4600/app/', 'http://[fd00::2]:4600/app/'])
  })
})

async function occupy(port: number) {
  const server = createServer()
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, near, resolve))
  expect((server.address() as AddressInfo).port).toBe(port)
  return server
}
