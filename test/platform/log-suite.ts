import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { DeploymentDetail } from '../../server/contract/deployments.ts'
import { limits } from '../../server/contract/limits.ts'
import { runCommand } from '../support/command.ts'
import { readEventStream, openStalledReader } from '../support/event-stream.ts'
import { startTestPlatform, type TestPlatform } from '../support/platform.ts'
import { makeRepository, type Repository } from '../support/repository.ts'
import { measureActiveTime } from '../support/active-time.ts'
import { until } from '../support/until.ts'
import { createSeededRandom } from '../support/seeded-random.ts'

/** Prints as fast as it is read, in chunks, like a tool whose pipe is full now and then. */
const printer = (count: number) => `
let n = 0
const more = () => {
  while (n < ${count}) {
    let text = ''
    for (let i = 0; i < 200; i++) text += 'line ' + ++n + ' ' + 'x'.repeat(n % 80) + '\\n'
    if (!process.stdout.write(text)) return process.stdout.once('drain', more)
  }
}
more()
`

const server = (count: number) => `
const http = require('node:http')
http.createServer((request, response) => {
  if (request.url === '/burst') (() => {${printer(count)}})()
  if (request.url === '/end') process.stdout.write('last words\\n', () => process.exit(3))
  response.end('ok')
}).listen(process.env.PORT, process.env.HOST)
`

interface LogSuiteSize {
  /** Lines of a build, and of each burst of an app. */
  count: number
  cuts: number
  seed: number
  /** The maximum memory growth of the platform while they are read. */
  memory_mb: number
  detail_ms: number
}

/** Assertions in bulk, because one per line would take vitest longer than the log. */
const isSequence = (numbers: number[], from: number, to: number) =>
  numbers.length === to - from + 1 && numbers.every((number, i) => number === from + i)

/** Many lines, from a build and from an app: every reader gets each once and in order. */
export function logSuite({ count, cuts, seed, memory_mb, detail_ms }: LogSuiteSize): void {
  let platform: TestPlatform
  let repository: Repository
  let built: DeploymentDetail

  beforeAll(async () => {
    platform = await startTestPlatform({ runtime: 'process' })
    const manifest = { name: 'wordy', private: true, scripts: { build: 'node print.js', start: 'node server.js' } }
    repository = makeRepository({ 'package.json': JSON.stringify(manifest), 'print.js': printer(count), 'server.js': server(count) })
    await platform.createProject({ slug: 'wordy', repo_url: repository.url })
  })
  afterAll(async () => {
    await platform.remove()
    repository.remove()
  })

  const residentMemory = (pid: number) => Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? NaN) / 1024

  /** The peak memory of the platform while something runs. */
  async function watchMemory<T>(work: Promise<T>): Promise<{ result: T; peak_mb: number }> {
    let peak_mb = residentMemory(platform.pid)
    const timer = setInterval(() => (peak_mb = Math.max(peak_mb, residentMemory(platform.pid))), 50)
    try {
      return { result: await work, peak_mb }
    } finally {
      clearInterval(timer)
    }
  }

  const buildLogUrl = (id: string) => `${platform.handle.api_url}/v1/projects/wordy/deployments/${id}/logs`

  /** The numbered lines of a build's stream to its end, and every event id that occurred twice. */
  async function follow(id: string, cutAfter: number[] = [], how: 'header' | 'query' = 'header') {
    const numbers: number[] = []
    const seqs: number[] = []
    const statuses: string[] = []
    let last: string | undefined
    let ended = false
    let left = [...cutAfter]
    while (!ended) {
      const resume = last === undefined || how === 'header' ? '' : `?last_event_id=${last}`
      for await (const event of readEventStream(buildLogUrl(id) + resume, {
        token: platform.handle.instance.token,
        last_event_id: how === 'header' ? last : undefined,
      })) {
        if (event.id !== undefined) last = event.id
        if (event.event === 'lagged') throw new Error(`the stream left something out: ${event.data}`)
        if (event.event === 'status') statuses.push((JSON.parse(event.data) as { status: string }).status)
        if (event.event === 'end') ended = true
        if (event.event !== 'log') continue
        const { seq, line, step } = JSON.parse(event.data) as { seq: number; line: string; step: string }
        seqs.push(seq)
        const number = step === 'build' ? /^line (\d+) /.exec(line)?.[1] : undefined
        if (number !== undefined) numbers.push(Number(number))
        if (left[0] !== undefined && seqs.length >= left[0]) {
          left = left.slice(1)
          break
        }
      }
    }
    return { numbers, seqs, statuses }
  }

  test(`a build of ${count} lines: a reader gets each once and in order while another stalls; memory stays flat`, async () => {
    const readWhileItBuilds = async () => {
      const { id } = await platform.deploy('wordy')
      const stalled = Array.from({ length: 5 }, () => openStalledReader(buildLogUrl(id), platform.handle.instance.token))
      const watched = await watchMemory(follow(id))
      for (const reader of stalled) reader.end()
      return { id, ...watched }
    }
    // The first run warms up: a second one of the same shape must not add memory.
    await platform.waitForEnd('wordy', (await readWhileItBuilds()).id)
    const before = residentMemory(platform.pid)
    const { id, result, peak_mb } = await readWhileItBuilds()
    built = await platform.waitForEnd('wordy', id)
    expect(built.status).toBe('ready')
    expect(result.numbers.length).toBe(count)
    expect(isSequence(result.numbers, 1, count)).toBe(true)
    expect(isSequence(result.seqs, 1, built.build_log_lines)).toBe(true)
    expect(result.statuses.at(-1)).toBe('ready')
    expect(peak_mb - before, `${before.toFixed(0)} MB before, ${peak_mb.toFixed(0)} MB at most`).toBeLessThan(memory_mb)
  })

  test.each(['header', 'query'] as const)(`${cuts} disconnects at random positions, resumed by %s: every line once and in order`, async (how) => {
    const seededRandom = createSeededRandom(seed)
    const cutPositions = Array.from({ length: cuts }, () => seededRandom.between(1, count)).sort((a, b) => a - b)
    const { numbers, seqs } = await follow(built.id, cutPositions, how)
    expect(isSequence(numbers, 1, count), `seed ${seed}`).toBe(true)
    expect(isSequence(seqs, 1, built.build_log_lines), `seed ${seed}`).toBe(true)
  })

  test(`${cuts} disconnects during the build: every line once and in order`, async () => {
    const seededRandom = createSeededRandom(seed + 1)
    const { id } = await platform.deploy('wordy')
    const cutPositions = Array.from({ length: cuts }, () => seededRandom.between(1, count)).sort((a, b) => a - b)
    const { numbers } = await follow(id, cutPositions)
    expect(isSequence(numbers, 1, count)).toBe(true)
    await platform.waitForEnd('wordy', id)
  })

  /** The numbers of the printed lines of a text, and how many other lines it has. */
  const numbersIn = (text: string) => text.split('\n').flatMap((line) => /(?:^|  )line (\d+) x*$/.exec(line)?.[1] ?? [])
  const command = (...words: string[]) => runCommand({ api_url: platform.handle.api_url, token: platform.handle.instance.token }, '/', words)
  const download = async (path: string) => {
    const response = await fetch(`${platform.handle.api_url}/instance/projects/wordy/${path}`, {
      headers: { authorization: `Bearer ${platform.handle.instance.token}` },
    })
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/plain'])
    return response.text()
  }
  const expectWhole = (text: string, from: number, to: number) => expect(isSequence(numbersIn(text).map(Number), from, to)).toBe(true)

  test('the whole build log is downloaded as text and as records, in bounded memory', async () => {
    const path = `deployments/${built.id}/build-log`
    await download(path)
    const before = residentMemory(platform.pid)
    const { result: text, peak_mb } = await watchMemory(download(path))
    expectWhole(text, 1, count)
    expect(peak_mb - before).toBeLessThan(memory_mb)
    expect(text.split('\n')[0]).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z  \S/)
    const records = (await download(`${path}?format=ndjson`))
      .trimEnd()
      .split('\n')
      .map((json) => JSON.parse(json) as { seq?: number; name?: string; status?: string })
    expect(
      isSequence(
        records.flatMap(({ seq }) => seq ?? []),
        1,
        built.build_log_lines,
      ),
    ).toBe(true)
    expect(records).toContainEqual(expect.objectContaining({ name: 'build', status: 'done' }))
    expectWhole((await command('logs', 'wordy', '--build', built.id, '--all')).out, 1, count)
  })

  test('an unknown event id returns the full history', async () => {
    const first = []
    for await (const event of readEventStream(buildLogUrl(built.id), { token: platform.handle.instance.token, last_event_id: 'dpl_of_another.5' })) {
      if (event.event === 'log') first.push((JSON.parse(event.data) as { seq: number }).seq)
      if (first.length === 3) break
    }
    expect(first).toEqual([1, 2, 3])
  })

  test('the deployment has at most the last MiB, marked as truncated', async () => {
    let detail = built
    expect(await measureActiveTime(async () => (detail = await platform.getDeployment('wordy', built.id)))).toBeLessThan(detail_ms)
    expect(detail.build_log_truncated).toBe(true)
    expect(detail.build_log_lines).toBeGreaterThan(count)
    expect(Buffer.byteLength(detail.build_log)).toBeLessThanOrEqual(limits.build_log_bytes)
    // Short lines are smaller than their stored metadata, and the bytes read for one response are limited.
    expect(Buffer.byteLength(detail.build_log)).toBeGreaterThan(limits.build_log_bytes / 2)
    expect(detail.build_log).toContain(`line ${count} `)
    expect(detail.build_log.startsWith('line ')).toBe(true)
  })

  test(`an app prints ${count} lines and exits: a reader gets each once and in order, across the restart`, async () => {
    const url = `${platform.handle.api_url}/v1/projects/wordy/runtime-logs?lines=20&format=json`
    const before = residentMemory(platform.pid)
    const numbers: number[] = []
    const seqs: number[] = []
    const states: string[] = []
    const read = async () => {
      for await (const event of readEventStream(url, { token: platform.handle.instance.token })) {
        if (event.event === 'lagged') throw new Error(`the stream left something out: ${event.data}`)
        if (event.event === 'state') states.push((JSON.parse(event.data) as { state: string }).state)
        if (event.event === 'log') {
          const { seq, line } = JSON.parse(event.data) as { seq: number; line: string }
          seqs.push(seq)
          const number = /^line (\d+) /.exec(line)?.[1]
          if (number !== undefined) numbers.push(Number(number))
        }
        if (numbers.length >= count * 2 && states.slice(states.indexOf('exited')).includes('running')) return
      }
    }
    const stalled = Array.from({ length: 5 }, () => openStalledReader(url, platform.handle.instance.token))
    const burst = async () => {
      // A later reader gets only the last 20 lines.
      await until(() => states.length + seqs.length || undefined, { what: 'the reader to be connected' })
      await platform.fetchEdge('wordy.localhost', '/burst')
      await until(() => (numbers.length >= count ? true : undefined), { what: 'the first burst' })
      await platform.fetchEdge('wordy.localhost', '/end').catch(() => {})
      await until(() => (states.slice(states.indexOf('exited') + 1).includes('running') && states.includes('exited') ? true : undefined), {
        what: 'the app to be back',
      })
      await platform.fetchEdge('wordy.localhost', '/burst')
    }
    const { peak_mb } = await watchMemory(Promise.all([read(), burst()]))
    for (const reader of stalled) reader.end()
    expect(isSequence(numbers.slice(0, count), 1, count)).toBe(true)
    expect(isSequence(numbers.slice(count), 1, count)).toBe(true)
    expect(isSequence(seqs, seqs[0] ?? 0, (seqs[0] ?? 0) + seqs.length - 1)).toBe(true)
    expect(peak_mb - before, `${before.toFixed(0)} MB before, ${peak_mb.toFixed(0)} MB at most`).toBeLessThan(memory_mb)
  })

  test('the whole runtime log is downloaded, with the states of the app, across the restart', async () => {
    const text = await download('runtime-log')
    const numbers = numbersIn(text).map(Number)
    // Two bursts of the full tier are more than a log may have. It loses its beginning, and says so.
    const kept = numbers.length - count
    expect(kept).toBeGreaterThan(0)
    expect(isSequence(numbers.slice(0, kept), count - kept + 1, count)).toBe(true)
    expect(isSequence(numbers.slice(kept), 1, count)).toBe(true)
    expect(/^--- \d+ records were removed, because the log was too large ---\n/.test(text)).toBe(kept < count)
    expect(text).toMatch(/Z {2}--- exited \(exit code 3\) ---\n/)
    const { out, err } = await command('logs', 'wordy', '--all')
    expect(numbersIn(out)).toEqual(numbersIn(text))
    expect(err).toContain('— exited (exit code 3) —')
    expect((await command('logs', 'wordy', '--all', '--json')).out.split('\n').length).toBeGreaterThan(numbers.length)
    expect(await command('logs', 'wordy', '--all', '--service', 'nobody')).toMatchObject({
      code: 1,
      err: expect.stringContaining('service_not_found'),
    })
    expect(await command('logs', 'wordy', '--all', '--follow')).toMatchObject({ code: 2 })
  })
}
