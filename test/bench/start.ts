import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { residentMemory_mb, startInstance } from './instance.ts'
import { median, type BenchRow } from './row.ts'

const bare = "require('node:http').createServer((_, response) => response.end()).listen(0, '127.0.0.1', () => console.log('listening'))"
const settle_ms = 3_000
/** On the machine where the bar of one second was set, a bare Node listens after 0.13 s. */
const timesBare = 7.5

/** Start to ready and idle memory, on a store of several years, compared with a bare Node server. */
export async function benchStart(data: string, options: { rounds?: number } = {}): Promise<BenchRow[]> {
  const rounds = options.rounds ?? 5
  const starts: Record<'homeport' | 'node', number[]> = { homeport: [], node: [] }
  const memory: Record<'homeport' | 'node', number[]> = { homeport: [], node: [] }
  // The first start builds what changed and fills the compile cache, so it is not counted.
  await (await startInstance({ runtime: 'process', data })).stop()
  for (let round = 0; round < rounds; round++) {
    const instance = await startInstance({ runtime: 'process', data })
    starts.homeport.push(instance.ready_ms)
    // Garbage of the start is collected, and timers have run.
    await delay(settle_ms)
    memory.homeport.push(residentMemory_mb(instance.pid))
    await instance.stop()

    const begun = performance.now()
    const node = spawn(process.execPath, ['--eval', bare], { stdio: ['ignore', 'pipe', 'inherit'] })
    await once(node.stdout, 'data')
    starts.node.push(performance.now() - begun)
    memory.node.push(residentMemory_mb(node.pid ?? 0))
    const gone = once(node, 'exit')
    node.kill('SIGTERM')
    await gone
  }
  const ready = median(starts.homeport)
  const resident = median(memory.homeport)
  return [
    {
      name: 'start to ready',
      who: 'homeport',
      value: ready,
      unit: 'ms',
      ratios: { node: ready / median(starts.node) },
      bar: `under 1 s; where a bare Node is slow to start, under ${timesBare} x it`,
      ok: ready < 1_000 || ready / median(starts.node) < timesBare,
    },
    { name: 'start to ready', who: 'node', value: median(starts.node), unit: 'ms', ratios: {} },
    {
      name: 'memory at idle',
      who: 'homeport',
      value: resident,
      unit: 'MB',
      ratios: { node: resident / median(memory.node) },
      bar: 'under 110 MB',
      ok: resident < 110,
    },
    { name: 'memory at idle', who: 'node', value: median(memory.node), unit: 'MB', ratios: {} },
  ]
}
