import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { processorTime_us, startInstance } from './instance.ts'
import { load } from './load.ts'
import { median, type BenchRow } from './row.ts'
import { bigProject } from './store.ts'

const pageLimit = 50

/**
 * Lists and single reads over 10 000 projects and 200 000 deployments: the whole pipeline compared with node:http and prepared
 * statements on the same rows and the same JSON, in interleaved rounds.
 */
export async function benchApi(data: string, options: { rounds?: number; seconds?: number; far_page?: number } = {}): Promise<BenchRow[]> {
  const deepPage = options.far_page ?? 4_000
  const rounds = options.rounds ?? 5
  const seconds = options.seconds ?? 2
  const instance = await startInstance({ runtime: 'process', data })
  const raw = spawn(process.execPath, [join(import.meta.dirname, 'raw-server.ts'), data], { stdio: ['ignore', 'pipe', 'inherit'] })
  try {
    const [line] = (await once(raw.stdout, 'data')) as [Buffer]
    const peers = [
      { who: 'homeport', pid: instance.pid, port: Number(new URL(instance.instance.api_url).port), token: instance.instance.token },
      { who: 'raw', pid: raw.pid ?? 0, port: Number(line.toString()), token: '' },
    ]
    const deepCursor = await findCursorOfPage(instance.client.api, deepPage)
    const measures: { name: string; path: string; least?: number }[] = [
      { name: 'API list of projects', path: '/v1/projects', least: 0.6 },
      { name: 'API get', path: '/v1/projects/project-5000' },
      { name: 'API list of deployments, page 1', path: `/v1/projects/${bigProject}/deployments?limit=${pageLimit}`, least: 0.6 },
      {
        name: `API list of deployments, page ${deepPage}`,
        path: `/v1/projects/${bigProject}/deployments?limit=${pageLimit}&cursor=${deepCursor}`,
        least: 0.6,
      },
    ]
    for (const { path } of measures) for (const peer of peers) await load({ ...peer, path, connections: 16, seconds: 0.5 })

    const rates = new Map<string, number[]>()
    const costs = new Map<string, number[]>()
    const note = (of: Map<string, number[]>, key: string, value: number) => of.set(key, [...(of.get(key) ?? []), value])
    // All measures in each round, so that a change of the machine's load affects all of them.
    for (let round = 0; round < rounds; round++) {
      for (const { name, path } of measures) {
        for (const peer of peers) {
          const before = processorTime_us(peer.pid)
          const reading = await load({ ...peer, path, connections: 16, seconds })
          note(rates, `${name} ${peer.who}`, reading.per_second)
          note(costs, `${name} ${peer.who}`, (processorTime_us(peer.pid) - before) / reading.requests)
        }
      }
    }
    const rate = (key: string) => median(rates.get(key) ?? [])
    const cost = (key: string) => median(costs.get(key) ?? [])
    const rows = measures.flatMap(({ name, least }): BenchRow[] => {
      // In CPU time: both have one thread, and other work on the machine does not change it.
      const ratio = cost(`${name} raw`) / cost(`${name} homeport`)
      const of = (who: string): BenchRow => ({ name, who, value: rate(`${name} ${who}`), unit: 'req/s', ratios: {}, cpu_us: cost(`${name} ${who}`) })
      const bar = least === undefined ? {} : { bar: `at least ${least} x raw, by processor time`, ok: ratio >= least }
      return [{ ...of('homeport'), ratios: { raw: ratio }, ...bar }, of('raw')]
    })
    const even = cost(`${measures[2]?.name} homeport`) / cost(`${measures[3]?.name} homeport`)
    rows.push({
      name: `API page ${deepPage} against page 1`,
      who: 'homeport',
      value: even,
      unit: 'x',
      ratios: {},
      bar: 'at least 0.9 x, by processor time',
      ok: even >= 0.9,
    })

    const single = await load({ ...peers[0]!, path: '/v1/projects/project-5000', connections: 1, seconds })
    rows.push({
      name: 'API get, p50',
      who: 'homeport',
      value: single.latency(0.5),
      unit: 'ms',
      ratios: {},
      bar: 'under 1 ms',
      ok: single.latency(0.5) < 1,
    })
    return rows
  } finally {
    raw.kill('SIGTERM')
    await instance.stop()
  }
}

/** Reads page by page like a client, with the maximum page size of 100. */
async function findCursorOfPage(api: (method: string, path: string) => Promise<{ body: Record<string, unknown> }>, page: number): Promise<string> {
  let cursor = ''
  for (let left = (page - 1) * pageLimit; left > 0; left -= 100) {
    const { body } = await api('GET', `/v1/projects/${bigProject}/deployments?limit=${Math.min(left, 100)}${cursor && `&cursor=${cursor}`}`)
    if (typeof body.next_cursor !== 'string') throw new Error(`the store has no page ${page}`)
    cursor = body.next_cursor
  }
  return cursor
}
