import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readEventStream } from '../support/event-stream.ts'
import { instanceIdOf, createDockerView } from '../support/docker.ts'
import { makeRepository } from '../support/repository.ts'
import { requires } from '../support/requirements.ts'
import { startInstance } from './instance.ts'
import { median, type BenchRow } from './row.ts'

const count = 100_000

/**
 * A build that works for some seconds and prints 100 000 lines as fast as they are read. It measures its own duration, from its
 * first line to its last, without the time it waited for a CPU (on Linux), which is other work on the machine. A log that is read
 * too slowly blocks its writes.
 */
const build = `
const { createHash } = require('crypto')
const { readFileSync } = require('fs')
const queued = () => { try { return Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')[1]) } catch { return 0 } }
const queuedBefore = queued()
const begun = process.hrtime.bigint()
let n = 0
const block = Buffer.alloc(24000, 'x')
function more() {
  while (n < ${count}) {
    let text = ''
    for (let i = 0; i < 50; i++) text += 'compiled module ' + ++n + ' of a large application\\n'
    for (let i = 0; i < 120; i++) createHash('sha256').update(block).digest()
    if (!process.stdout.write(text)) return process.stdout.once('drain', more)
  }
  process.stdout.write('took ' + (Number(process.hrtime.bigint() - begun) - (queued() - queuedBefore)) / 1e6 + ' ms\\n')
}
more()
`
const server = `
const http = require('http')
let burst = 0
http.createServer((request, response) => {
  response.end('ok')
  if (request.url !== '/burst') return
  burst++
  let n = 0
  const more = () => {
    while (n < ${count}) {
      let text = ''
      for (let i = 0; i < 100; i++) text += 'burst ' + burst + ' line ' + ++n + '\\n'
      if (!process.stdout.write(text)) return process.stdout.once('drain', more)
    }
  }
  more()
}).listen(process.env.PORT, '0.0.0.0')
`
const app = {
  'package.json': JSON.stringify({ name: 'wordy', private: true, scripts: { build: 'node build.js', start: 'node server.js' } }),
  'build.js': build,
  'server.js': server,
}

export async function benchLogs(options: { rounds?: number } = {}): Promise<BenchRow[]> {
  const rounds = options.rounds ?? 5
  return [...(await benchBuildLog(rounds)), ...(await benchBurst(rounds))]
}

/** The same command alone with its output discarded, alternating with a deployment whose log is followed. */
async function benchBuildLog(rounds: number): Promise<BenchRow[]> {
  const instance = await startInstance({ runtime: 'process' })
  const { client } = instance
  const repository = makeRepository(app)
  const alone: number[] = []
  const deployed: number[] = []
  let isComplete = true
  try {
    await client.createProject({ slug: 'wordy', repo_url: repository.url })
    for (let round = -1; round < rounds; round++) {
      const one = await runBuildAlone(repository.folder)
      const { id } = await client.deploy('wordy')
      const lines: number[] = []
      let took = NaN
      for await (const event of readEventStream(`${instance.instance.api_url}/v1/projects/wordy/deployments/${id}/logs`, {
        token: instance.instance.token,
      })) {
        if (event.event !== 'log') continue
        const number = /compiled module (\d+) of/.exec(event.data)?.[1]
        if (number !== undefined) lines.push(Number(number))
        else took = Number(/took ([\d.]+) ms/.exec(event.data)?.[1] ?? took)
      }
      isComplete &&= lines.length === count && lines.every((number, i) => number === i + 1)
      // The first round warms up.
      if (round < 0) continue
      alone.push(one)
      deployed.push(took)
    }
    const ratio = median(deployed) / median(alone)
    const name = 'build that prints 100 000 lines'
    return [
      {
        name,
        who: 'homeport',
        value: median(deployed),
        unit: 'ms',
        ratios: { alone: ratio },
        bar: 'slowed under 5 %, every line streamed once and in order',
        ok: ratio < 1.05 && isComplete,
      },
      { name, who: 'alone', value: median(alone), unit: 'ms', ratios: {} },
    ]
  } finally {
    await instance.remove()
    repository.remove()
  }
}

async function runBuildAlone(folder: string): Promise<number> {
  const child = spawn(process.execPath, ['build.js'], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] })
  let tail = ''
  child.stdout.on('data', (chunk: Buffer) => (tail = (tail + chunk.toString('latin1')).slice(-100)))
  await once(child, 'close')
  return Number(/took ([\d.]+) ms/.exec(tail)?.[1])
}

/** From the request that starts it to the last of 100 000 lines, at a client of the API and at `docker logs --follow`. */
async function benchBurst(rounds: number): Promise<BenchRow[]> {
  const name = 'burst of 100 000 lines to a client'
  const docker = requires('docker')
  if (!docker.ok) return [{ name, who: 'homeport', value: null, unit: 'ms', ratios: {}, note: docker.reason }]
  const instance = await startInstance({ runtime: 'docker' })
  const { client } = instance
  const repository = makeRepository({
    ...app,
    'package.json': JSON.stringify({ name: 'wordy', private: true, scripts: { start: 'node server.js' } }),
  })
  const { body } = await client.api<{ user: { id: string } }>('GET', '/instance/session')
  const view = createDockerView(instanceIdOf(body.user.id))
  try {
    await client.createProject({ slug: 'wordy', repo_url: repository.url })
    const { id } = await client.deploy('wordy')
    const { error } = await client.waitForEnd('wordy', id)
    if (error) throw new Error(JSON.stringify(error))
    const container = (await view.findApp(id))?.id ?? ''
    const ours: number[] = []
    const theirs: number[] = []
    let burst = 0
    const play = async (follow: (last: string) => { ready: Promise<unknown>; done: Promise<unknown> }) => {
      burst++
      const { ready, done } = follow(`burst ${burst} line ${count}`)
      await ready
      const begun = performance.now()
      await client.fetchEdge('wordy.localhost', '/burst')
      await done
      return performance.now() - begun
    }
    for (let round = -1; round < rounds; round++) {
      const one = await play((last) =>
        followByApi(`${instance.instance.api_url}/v1/projects/wordy/runtime-logs?lines=20`, instance.instance.token, last),
      )
      const other = await play((last) => followByDocker(container, last))
      if (round < 0) continue
      ours.push(one)
      theirs.push(other)
    }
    const ratio = median(ours) / median(theirs)
    return [
      {
        name,
        who: 'homeport',
        value: median(ours),
        unit: 'ms',
        ratios: { 'docker logs': ratio },
        bar: 'at most 0.6 x docker logs --follow',
        ok: ratio <= 0.6,
      },
      { name, who: 'docker logs', value: median(theirs), unit: 'ms', ratios: {} },
    ]
  } finally {
    await client.api('DELETE', '/v1/projects/wordy')
    await instance.remove()
    await view.removeAll()
    repository.remove()
  }
}

function followByApi(url: string, token: string, last: string): { ready: Promise<unknown>; done: Promise<unknown> } {
  const ready = Promise.withResolvers<void>()
  const controller = new AbortController()
  const read = async () => {
    const response = await fetch(url, { headers: { authorization: `Bearer ${token}` }, signal: controller.signal })
    ready.resolve()
    const decoder = new TextDecoder()
    let tail = ''
    for await (const piece of response.body ?? []) {
      tail = tail.slice(-100) + decoder.decode(piece, { stream: true })
      if (tail.includes(`${last}\n`)) break
    }
    controller.abort()
  }
  return { ready: ready.promise, done: read() }
}

function followByDocker(container: string, last: string): { ready: Promise<unknown>; done: Promise<unknown> } {
  const child = spawn('docker', ['logs', '--follow', '--tail', '20', container], { stdio: ['ignore', 'pipe', 'inherit'] })
  const done = new Promise<void>((resolve) => {
    let tail = ''
    child.stdout.on('data', (chunk: Buffer) => {
      tail = tail.slice(-100) + chunk.toString('latin1')
      if (!tail.includes(`${last}\n`)) return
      child.kill('SIGTERM')
      resolve()
    })
  })
  return { ready: once(child.stdout, 'data'), done }
}
