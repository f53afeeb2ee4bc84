import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DockerView } from './docker.ts'
import { until } from './until.ts'

/** The response of the app. */
export interface AppIdentity {
  /** Identifies the process: unchanged after a frozen sleep, different after each start. */
  born: string
  version: string
}

/** An app that identifies itself, with a stream (`/stream`), a WebSocket and a cacheable response (`/kept`). */
export const sleepingAppFiles = (version = 'one', extra = ''): Record<string, string> => ({
  'package.json': JSON.stringify({ name: 'sleeper', private: true, scripts: { start: 'node server.js' } }),
  'server.js': `
const born = process.hrtime.bigint().toString()
const server = require('node:http').createServer((request, response) => {
  if (request.url === '/stream') {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    return response.write('data: here\\n\\n')
  }
  response.setHeader('cache-control', request.url === '/kept' ? 's-maxage=86400' : 'no-store')
  response.end(JSON.stringify({ born, version: '${version}' }))
})
server.on('upgrade', (request, socket) => {
  socket.write('HTTP/1.1 101 Switching Protocols\\r\\nUpgrade: websocket\\r\\nConnection: Upgrade\\r\\n\\r\\n')
  socket.on('data', (bytes) => socket.write(bytes))
  socket.on('error', () => {})
})
${extra}
server.listen(process.env.PORT, process.env.HOST, () => console.log('listens'))
process.on('SIGTERM', () => { console.log('asked to end'); process.exit(0) })
`,
})

export type SleepState = 'none' | 'frozen' | 'running'

/** The state of a deployment's app on this machine, independent of the runtime. */
export interface SleepProbe {
  getState(deploymentId: string): Promise<SleepState>
  waitForState(deploymentId: string, getState: SleepState): Promise<true>
  /** Its container, or the processes that were started for it, as far as they were observed. */
  findContainer(deploymentId: string): Promise<string | undefined>
  findGroupLeaders(deploymentId: string): Set<number>
}

export function createSleepProbe(options: { runtime: 'process' | 'docker'; data_dir: string; view: DockerView }): SleepProbe {
  const { view } = options
  const leaders = new Map<string, Set<number>>()

  const containerOf = async (id: string) => (await view.containers()).find((one) => one.role === 'app' && one.deployment_id === id)?.id

  const leadersOf = (id: string): Set<number> => {
    const known = leaders.get(id) ?? new Set()
    leaders.set(id, known)
    const folder = join(options.data_dir, 'processes')
    for (const name of readdirSync(folder).filter((one) => one.endsWith('.json'))) {
      const record = readRecord(join(folder, name))
      if (record?.deployment_id === id) known.add(record.pid)
    }
    return known
  }

  const depth = async (id: string): Promise<SleepState> => {
    if (options.runtime === 'process') {
      const states = readGroupStates(leadersOf(id))
      return states.length === 0 ? 'none' : states.every((state) => state.startsWith('T')) ? 'frozen' : 'running'
    }
    const container = await containerOf(id)
    const found = container === undefined ? undefined : await view.docker.getContainer(container).inspect()
    return found?.State.Paused ? 'frozen' : found?.State.Running ? 'running' : 'none'
  }

  return {
    getState: depth,
    findContainer: containerOf,
    findGroupLeaders: leadersOf,
    waitForState: (id, wanted) =>
      until(
        async (): Promise<true> => {
          const state = await depth(id)
          if (state !== wanted) throw new Error(state)
          return true
        },
        { what: `${id} to be ${wanted}` },
      ),
  }
}

/** Undefined if it has ended since the folder was read. */
function readRecord(path: string): { deployment_id: string; pid: number } | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as { deployment_id: string; pid: number }
  } catch {
    return undefined
  }
}

/** The states of all processes in some groups, as reported by `ps`: T is stopped, Z has ended. */
function readGroupStates(leaders: Set<number>): string[] {
  return execFileSync('ps', ['-eo', 'pgid=,stat='], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([group, state]) => leaders.has(Number(group)) && !state?.startsWith('Z'))
    .map(([, state]) => state ?? '')
}
