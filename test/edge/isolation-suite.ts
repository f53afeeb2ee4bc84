import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createSeededRandom, waitEventLoopTurns } from '../support/seeded-random.ts'
import { routeOwner, edgePaths, startEdge, type TestEdge } from '../support/edge.ts'
import { bodies, cacheKinds, readOrigin, startIsolationApp, variantOf, type IsolationApp, type ResponseOrigin } from '../support/isolation-apps.ts'
import { RawHttpClient, type RawHttpResponse } from '../support/raw-http-client.ts'

/**
 * No client gets another's bytes: projects with a production host and two previews each, whose apps change, are replaced and
 * purged under load. Every response identifies its origin, and is checked against its client and the guarantees at its start.
 * `requests`: on both request paths together.
 */
export function isolationSuite({ requests, projects, seed }: { requests: number; projects: number; seed: number }): void {
  describe.each(edgePaths)(`${requests / 2} requests over ${projects} projects, seed ${seed}, $name`, ({ fast_path }) => {
    const seededRandom = createSeededRandom(seed + Number(fast_path))
    const directory = mkdtempSync(join(tmpdir(), 'homeport-isolation-'))
    const names: IsolationApp[] = []
    const retired: IsolationApp[] = []
    const mistakes: string[] = []
    const results = new Map<string, number>()
    /** The minimum that a request starting now must get: the deployment of a host, the generation of a URL. */
    const versions = new Map<string, number>()
    const generations = new Map<string, number>()
    const off = new Set<string>()
    /** The newest ETag that a visitor received for a URL. */
    const lastSeen = new Map<string, string>()
    let edge: TestEdge
    let sent = 0
    let events = 0

    beforeAll(async () => {
      edge = await startEdge({ fast_path, cache: { directory, memory_bytes: () => 4 * 2 ** 20, disk_bytes: () => 64 * 2 ** 20 } })
      for (let project = 0; project < projects; project++) {
        for (const host of [`p${project}.localhost`, `a--p${project}.localhost`, `b--p${project}.localhost`]) {
          const one = await startIsolationApp(seededRandom, `prj_${project}`, host, 1)
          names.push(one)
          await edge.edge.setRoute(host, routeTo(one))
        }
      }
    })
    afterAll(async () => {
      await edge.close()
      for (const one of [...names, ...retired]) await one.app.close()
      rmSync(directory, { recursive: true, force: true })
    })

    test('each client gets its own response', async () => {
      const lanes = Array.from({ length: 48 }, runLane)
      await Promise.all([...lanes, disturb()])
      console.log(
        `isolation: seed ${seed}, ${sent} requests, ${events} purges and swaps, ${[...results].map(([name, count]) => `${name} ${count}`).join(', ')}`,
      )
      expect(mistakes.slice(0, 10)).toEqual([])
      expect(sent).toBeGreaterThanOrEqual(requests / 2)
      expect(results.get('HIT')).toBeGreaterThan(sent / 20)
    })

    async function runLane(): Promise<void> {
      let client = new RawHttpClient(edge.port)
      while (sent < requests / 2) {
        if (client.closed) client = new RawHttpClient(edge.port)
        const many = seededRandom.chance(0.1) ? seededRandom.between(2, 4) : 1
        await Promise.all(Array.from({ length: many }, () => askOne(client)))
        if (client.unexpected_bytes !== '') mistakes.push(`bytes that nobody asked for: ${client.unexpected_bytes.slice(0, 80)}`)
      }
      client.destroy()
    }

    async function askOne(client: RawHttpClient): Promise<void> {
      sent++
      // Some are requested much more than others, so that many responses come from the cache.
      const one = seededRandom.chance(0.5) ? seededRandom.pick(names.slice(0, 9)) : seededRandom.pick(names)
      const kind = seededRandom.chance(0.5) ? seededRandom.pick(['open', 'vary']) : seededRandom.pick(cacheKinds)
      const target = `/${kind}/${seededRandom.between(0, seededRandom.chance(0.7) ? 2 : 11)}${seededRandom.chance(0.2) ? `?q=${seededRandom.between(0, 1)}` : ''}`
      const method = seededRandom.chance(0.02) ? 'POST' : seededRandom.chance(0.05) ? 'HEAD' : 'GET'
      const headers: Record<string, string> = {}
      if (kind === 'vary' || seededRandom.chance(0.1)) headers['accept-language'] = seededRandom.pick(['en', 'de', 'fr'])
      if (kind === 'private' || kind === 'cookie' || seededRandom.chance(0.1)) headers.cookie = `user=${seededRandom.between(1, 500)}`
      if (kind === 'auth') headers.authorization = `Bearer ${seededRandom.between(1, 500)}`
      const known = seededRandom.chance(0.1) ? lastSeen.get(one.host + target) : undefined
      if (known !== undefined && method === 'GET') headers['if-none-match'] = known
      if (method === 'GET' && known === undefined && seededRandom.chance(0.1))
        headers.range = `bytes=${seededRandom.between(0, 40)}-${seededRandom.between(41, 90)}`
      if (seededRandom.chance(0.02)) headers['x-forwarded-host'] = 'evil.example'
      // An unusual byte: not on the fast path, but with the same response.
      if (seededRandom.chance(0.05)) headers['x-odd'] = '\xe4'
      const host = seededRandom.pick([
        one.host,
        one.host,
        one.host,
        `${one.host}:${edge.port}`,
        `${one.host.toUpperCase()}:${edge.port}`,
        `${one.host}:81`,
      ])
      const lines = Object.entries({ ...headers, ...(method === 'POST' ? { 'content-length': '0' } : {}) }).map(
        ([name, value]) => `${name}: ${value}\r\n`,
      )
      const least = { version: versions.get(one.host) ?? 1, generation: generations.get(one.host + target) ?? 0, was_off: off.has(one.project) }
      const response = await client.request(`${method} ${target} HTTP/1.1\r\n${lines.join('')}Host: ${host}`)
      const result = response.headers.get('x-cache') ?? 'none'
      results.set(result, (results.get(result) ?? 0) + 1)
      const variant = variantOf(kind, headers)
      lastSeen.set(one.host + target, response.headers.get('etag') ?? '"none"')
      const wrong = fault(response, method, headers, { project: one.project, host: one.host, target, variant, asked_host: host, ...least }, result)
      if (wrong !== undefined) {
        const got = readOrigin(response.body)
        mistakes.push(
          `${method} ${host}${target} ${JSON.stringify(headers)}: ${wrong}; ${response.status} ${result} ${JSON.stringify(got ?? response.body.toString('latin1', 0, 100))}`,
        )
      }
      if (method === 'POST' && response.status === 200) raiseTo(generations, one.host + target, readOrigin(response.body)?.generation ?? 0)
    }

    function fault(
      response: RawHttpResponse,
      method: string,
      headers: Record<string, string>,
      want: ResponseOrigin & { asked_host: string; was_off: boolean },
      result: string,
    ): string | undefined {
      if (!response.whole) return 'cut'
      if (![200, 206, 304].includes(response.status)) return 'not an answer of the app'
      const etag = response.headers.get('etag') ?? ''
      const sent = bodies.get(etag)
      if (!sent) return `no app has sent ${etag}`
      // An app may build links from it, so another visitor's port or spelling must not be in the response.
      const seen = response.headers.get('x-seen-host') ?? ''
      if (![want.host, `${want.host}:${edge.port}`, want.asked_host].includes(seen)) return `the app was told it is ${seen}`
      if (response.headers.has('surrogate-key')) return 'its tags are told'
      const { origin, body } = sent
      for (const name of ['project', 'host', 'target', 'variant'] as const) if (origin[name] !== want[name]) return `not my ${name}: ${origin[name]}`
      if (origin.version < want.version) return `of deployment ${origin.version}, when ${want.version} served alone`
      // A response that may be stale need not be the newest; every other one must be.
      if (origin.generation < want.generation && !want.target.startsWith('/short'))
        return `generation ${origin.generation}, when ${want.generation} was told already`
      if (['private', 'cookie', 'auth', 'none'].some((kind) => want.target.startsWith(`/${kind}/`)) && /HIT|STALE/.test(result)) return 'stored'
      if (want.was_off && off.has(want.project) && /HIT|STALE/.test(result)) return 'from a cache that is off'
      if (method === 'HEAD' || response.status === 304) return undefined
      if (response.status === 206) {
        const [, from, to, all] = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(response.headers.get('content-range') ?? '') ?? []
        const isAsked = headers.range === `bytes=${from}-${to}` || Number(to) === body.length - 1
        return isAsked && Number(all) === body.length && body.subarray(Number(from), Number(to) + 1).equals(response.body)
          ? undefined
          : 'not the range that was asked for'
      }
      return response.body.equals(body) && readOrigin(response.body) ? undefined : 'not the bytes that the app sent'
    }

    /** Changes during the load: content and its purge by tag or URL, deployments, turning the cache off and on. */
    async function disturb(): Promise<void> {
      while (sent < requests / 2) {
        const before = sent
        events++
        const one = seededRandom.pick(names)
        const what = seededRandom.pick(['tag', 'tag', 'url', 'url', 'swap', 'all', 'switch'])
        if (what === 'swap') await swap(one)
        else if (what === 'switch') await turnOffAndOn(one)
        else await purge(one, what)
        // The minimum number of requests between two changes, so that something is stored again.
        while (sent < Math.min(before + 100, requests / 2)) await waitEventLoopTurns(1)
      }
    }

    async function purge(one: IsolationApp, what: string): Promise<void> {
      const kind = seededRandom.pick(cacheKinds)
      const number = seededRandom.between(0, 3)
      const targets = [0, 4, 8].map((more) => `/${kind}/${number + more}`).slice(0, what === 'url' ? 1 : 3)
      const changed = targets.map((target) => [one.host + target, one.change(target)] as const)
      const urls = [`http://${one.host}${targets[0]}`]
      await edge.edge.cache.purge(one.project, what === 'all' ? { all: true } : what === 'tag' ? { tags: [`${kind}-${number}`] } : { urls })
      for (const [key, generation] of changed) raiseTo(generations, key, generation)
    }

    async function swap(one: IsolationApp): Promise<void> {
      const next = await startIsolationApp(seededRandom, one.project, one.host, one.version + 1, one)
      names[names.indexOf(one)] = next
      retired.push(one)
      // A running request is not cut off on a busy machine.
      void edge.edge.setRoute(one.host, routeTo(next), { drain_ms: 60_000 })
      await edge.edge.cache.purge(one.project, { all: true })
      raiseTo(versions, one.host, next.version)
    }

    async function turnOffAndOn(one: IsolationApp): Promise<void> {
      edge.edge.cache.setEnabled(one.project, false)
      off.add(one.project)
      const before = sent
      while (sent < Math.min(before + 50, requests / 2)) await waitEventLoopTurns(1)
      off.delete(one.project)
      edge.edge.cache.setEnabled(one.project, true)
    }
  })
}

const routeTo = (one: IsolationApp) => ({ ...routeOwner, project_id: one.project, kind: 'upstream' as const, host: '127.0.0.1', port: one.app.port })

function raiseTo(map: Map<string, number>, key: string, value: number): void {
  map.set(key, Math.max(map.get(key) ?? 0, value))
}
