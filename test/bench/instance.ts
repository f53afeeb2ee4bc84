import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readInstanceFile, type InstanceFile } from '../../server/lib/instance-file.ts'
import { createClient, type Client } from '../support/platform.ts'
import { until } from '../support/until.ts'

const cliPath = join(import.meta.dirname, '../../server/cli/homeport.mjs')

/** A platform as a user runs it: the built bundle in a separate process. */
export interface BenchInstance {
  client: Client
  instance: InstanceFile
  pid: number
  data: string
  /** From the start of the process to `instance.json`. */
  ready_ms: number
  stop(): Promise<void>
  /** Ends it as a crash does. */
  kill(): Promise<void>
  /** Ends it and removes its folder. */
  remove(): Promise<void>
}

/** `on_exit: stop` is set, so that no deployed app outlives the benchmark; the rate limit is effectively off. */
export async function startInstance(options: {
  runtime: 'docker' | 'process'
  data?: string
  node_flags?: string[]
  /** Further options of `homeport serve`. */
  flags?: string[]
}): Promise<BenchInstance> {
  const data = options.data ?? mkdtempSync(join(tmpdir(), 'homeport-bench-'))
  const begun = performance.now()
  const child = spawn(
    process.execPath,
    [
      ...(options.node_flags ?? []),
      cliPath,
      ...`serve --no-open --port 0 --edge-port 0 --runtime ${options.runtime} --data`.split(' '),
      data,
      ...(options.flags ?? []),
    ],
    {
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  )
  const instance = await waitUntilReady(child, data)
  const ready_ms = performance.now() - begun
  const client = createClient(instance)
  await client.api('PATCH', '/instance/settings', { rate_limit_authenticated: 1_000_000, on_exit: 'stop' })
  const end = async (signal: NodeJS.Signals = 'SIGTERM') => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const gone = once(child, 'exit')
    child.kill(signal)
    await gone
  }
  return {
    client,
    instance,
    pid: instance.pid,
    data,
    ready_ms,
    stop: () => end(),
    kill: () => end('SIGKILL'),
    async remove() {
      await end()
      rmSync(data, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

/** Deploys a repository and waits until its address answers. */
export async function deployApp({ client }: BenchInstance, slug: string, repo_url: string): Promise<void> {
  await client.createProject({ slug, repo_url })
  await client.waitForEnd(slug, (await client.deploy(slug)).id)
  await until(async () => (await client.fetchEdge(`${slug}.localhost`)).status === 200 || undefined, { what: slug })
}

async function waitUntilReady(child: ChildProcess, data: string): Promise<InstanceFile> {
  const seen = await until(
    () => {
      const instance = readInstanceFile(data)
      return instance?.pid === child.pid ? instance : (child.exitCode ?? undefined)
    },
    { what: 'instance.json', every_ms: 5 },
  )
  if (typeof seen === 'number') throw new Error(`homeport serve ended with ${seen} before it was ready`)
  return seen
}

/** Resident memory of a process in MB (Linux). */
export function residentMemory_mb(pid: number): number {
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? NaN) / 1024
}

/** CPU time of a process so far, in microseconds (Linux). */
export function processorTime_us(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
  // Fields 14 and 15 of proc(5), in hundredths of a second.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10_000
}
