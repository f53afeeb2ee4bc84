import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runSuite, count, startSuiteServer, suiteTests, type Results } from '../http-cache/suite.ts'
import { printRows } from './compare.ts'
import { startNodeProgram, startPeers, stop, type Peer } from './peers.ts'
import type { BenchRow } from './row.ts'

/** The public suite for HTTP caches (cache-tests.fyi) against the edge, nginx and Varnish, in front of the same server: how many tests pass. */
export async function benchCacheSuite(): Promise<BenchRow[]> {
  const folder = mkdtempSync(join(tmpdir(), 'homeport-bench-suite-'))
  const server = await startSuiteServer()
  const started: { process: Peer['process'] }[] = []
  try {
    const ours = { name: 'homeport', ...(await startNodeProgram('edge-server.ts', String(server.port), 'cache')) }
    started.push(ours)
    const { peers, missing } = await startPeers(['nginx', 'varnish'], { folder, upstream: server.port, caching: true, is_stock: true, probe: '/' })
    started.push(...peers)
    const tests = await suiteTests()
    const results = new Map<string, Results>()
    for (const peer of [ours, ...peers]) results.set(peer.name, await runSuite(`http://app.localhost:${peer.port}`))
    return (['required', 'optimal'] as const).flatMap((kind): BenchRow[] => {
      const countOf = (name: string) => count(tests, results.get(name) ?? {}, kind)
      const { all } = countOf('homeport')
      const name = `cache suite, ${kind} (${all})`
      const best = Math.max(0, ...peers.map((peer) => countOf(peer.name).passed))
      const rows = [ours, ...peers].map((peer): BenchRow => ({ name, who: peer.name, value: countOf(peer.name).passed, unit: 'tests', ratios: {} }))
      const [row] = rows
      if (row)
        Object.assign(row, {
          bar: kind === 'optimal' ? 'at least 75, and above all' : 'above all',
          ok: countOf('homeport').passed > best && (kind === 'required' || countOf('homeport').passed >= 75),
        })
      return [...rows, ...missing.map((one): BenchRow => ({ name, who: one.name, value: null, unit: 'tests', ratios: {}, note: one.why }))]
    })
  } finally {
    for (const one of started.toReversed()) await stop(one.process)
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

// `node test/bench/cache-suite.ts`
if (import.meta.main) printRows(await benchCacheSuite())
