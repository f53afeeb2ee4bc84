import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { askSuite, count, startSuiteServer, suiteTests, type Results } from '../http-cache/suite.ts'
import { print } from './compare.ts'
import { startNode, startPeers, stop, type Peer } from './peers.ts'
import type { Row } from './row.ts'

/** The public suite for HTTP caches (cache-tests.fyi) against the edge, nginx and Varnish, in front of the same server: how many tests each passes. */
export async function benchCacheSuite(): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'homeport-bench-suite-'))
  const server = await startSuiteServer()
  const started: { process: Peer['process'] }[] = []
  try {
    const ours = { name: 'homeport', ...(await startNode('edge-server.ts', String(server.port), 'cache')) }
    started.push(ours)
    const { peers, missing } = await startPeers(['nginx', 'varnish'], { folder, upstream: server.port, caching: true, is_stock: true, probe: '/' })
    started.push(...peers)
    const tests = await suiteTests()
    const results = new Map<string, Results>()
    for (const peer of [ours, ...peers]) results.set(peer.name, await askSuite(`http://app.localhost:${peer.port}`))
    return (['required', 'optimal'] as const).flatMap((kind): Row[] => {
      const of = (name: string) => count(tests, results.get(name) ?? {}, kind)
      const { all } = of('homeport')
      const name = `cache suite, ${kind} (${all})`
      const best = Math.max(0, ...peers.map((peer) => of(peer.name).passed))
      const rows = [ours, ...peers].map((peer): Row => ({ name, who: peer.name, value: of(peer.name).passed, unit: 'tests', ratios: {} }))
      const [row] = rows
      if (row)
        Object.assign(row, {
          bar: kind === 'optimal' ? 'at least 75, and above all' : 'above all',
          ok: of('homeport').passed > best && (kind === 'required' || of('homeport').passed >= 75),
        })
      return [...rows, ...missing.map((one): Row => ({ name, who: one.name, value: null, unit: 'tests', ratios: {}, note: one.why }))]
    })
  } finally {
    for (const one of started.toReversed()) await stop(one.process)
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

// `node test/bench/cachesuite.ts`
if (import.meta.main) print(await benchCacheSuite())
