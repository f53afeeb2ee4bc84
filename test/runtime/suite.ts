import { expect, test } from 'vitest'
import { runtimes } from '../../server/contract/runtimes.ts'
import { newId } from '../../server/lib/id.ts'
import { StartFailure, type ReplicaExit } from '../../server/runtime/runtime.ts'
import { commonTest } from '../support/full-test.ts'
import { isFullTier } from '../support/tier.ts'
import { waitForResponse, eventually, serverPlan, startApp, staticPlan } from '../support/runtime.ts'
import { buildTests } from './suite-builds.ts'
import { serviceTests } from './suite-services.ts'
import { createContext, hello, manifest, type Driver, type SuiteContext } from './suite-context.ts'

/** An app prints this number of lines and exits; each arrives once and in order. */
export async function expectLines(suite: SuiteContext, count: number, onThousand = () => {}): Promise<void> {
  let next = 0
  let wrong = 0
  const { exit } = await suite.run(
    `let n = 0; const more = () => { while (n < ${count}) { if (!process.stdout.write('line ' + n++ + ' of a log that is long enough to be one\\n')) return process.stdout.once('drain', more) } }; more()`,
    {
      onLine(line) {
        if (!line.startsWith(`line ${next++} `)) wrong++
        if (next % 1_000 === 0) onThousand()
      },
    },
  )
  expect(await exit).toMatchObject({ code: 0 })
  expect({ next, wrong }).toEqual({ next: count, wrong: 0 })
}

/** Requirements for every driver. */
export function runtimeSuite(driver: Driver): SuiteContext {
  const suite = createContext(driver)
  const { build, run } = suite

  test('it can work now', async () => {
    expect(await suite.runtime.probe()).toMatchObject({ available: true, reason: expect.stringMatching(/.+\.$/) })
  })

  test('a server without dependencies: built, started, responding, stopped by SIGTERM, removed', async () => {
    const { runtime } = suite
    const built = await build({ files: { 'server.js': hello, 'package.json': manifest() }, plan: serverPlan() })
    expect(built.artifact).toMatchObject({ bytes: expect.any(Number) })
    const { instance, lines, exit } = await startApp(runtime, built, { variables: { WHO: 'world' } })
    expect(await waitForResponse(instance)).toBe('hello world')
    // The response and the line arrive over different channels.
    await eventually(() => expect(lines).toEqual(['listening']))
    expect(await instance.getListeningPorts()).toContainEqual({
      port: instance.assigned_port,
      loopback_only: runtimes[suite.runtime.name].uses_host_network,
      is_exposed: !runtimes[suite.runtime.name].uses_host_network,
      endpoints: [{ host: instance.host, port: instance.port }],
    })
    expect(await runtime.list()).toMatchObject([{ id: instance.id, project_id: built.project_id, deployment_id: built.deployment_id, running: true }])

    await runtime.stop(instance.id, 30_000)
    expect(await exit).toEqual({ code: 3, signal: null, out_of_memory: false })
    expect(lines).toEqual(['listening', 'leaving'])
    expect(await runtime.list()).toEqual([])
    await runtime.stop(instance.id, 5_000)
    await runtime.discard(built.deployment_id, built.artifact)
    await runtime.discard(built.deployment_id, built.artifact)
    expect(await driver.leftovers(suite.options, built.deployment_id)).toEqual([])
  })

  buildTests(suite)
  serviceTests(suite)

  const lineCount = isFullTier ? 20_000 : 5_000
  test(`${lineCount} lines and an exit: all arrive in order`, () => expectLines(suite, lineCount))

  test('lines keep carriage returns, colors and broken characters; stderr is separate; a crash reports its exit code', async () => {
    const out: string[] = []
    const err: string[] = []
    const { exit } = await run(
      `process.stdout.write('10%\\r20%\\r\\n\\u001b[31mred\\u001b[0m\\nüñ'); process.stderr.write('bad\\n'); setTimeout(() => { process.stdout.write('içode'); process.exitCode = 7 }, 50)`,
      { onLine: (line, stream) => (stream === 'stdout' ? out : err).push(line) },
    )
    expect(await exit).toEqual({ code: 7, signal: null, out_of_memory: false })
    expect(out).toEqual(['10%\r20%\r', '\u001b[31mred\u001b[0m', 'üñiçode'])
    expect(err).toEqual(['bad'])
  })

  test('an app over its memory limit is killed, and the exit has the reason', async () => {
    const { exit } = await run(`const all = []; setInterval(() => all.push(Buffer.alloc(8e6, 1)), 20)`, { memory_mb: 64 })
    expect(await exit).toMatchObject({ out_of_memory: true })
  })

  commonTest(driver.tested_as)('an app that ignores SIGTERM is killed after the grace period', async () => {
    const { instance, exit, lines } = await run(`process.on('SIGTERM', () => console.log('no')); setInterval(() => {}, 1000); console.log('up')`)
    await eventually(() => expect(lines).toEqual(['up']))
    const stopping = suite.runtime.stop(instance.id, 2_000)
    await eventually(() => expect(lines).toEqual(['up', 'no']))
    if (!driver.has_own_grace) await suite.clock.advance(2_000)
    await stopping
    expect(await exit).toMatchObject({ code: 137, signal: 'SIGKILL' })
  })

  commonTest(driver.tested_as)('two versions of one project run side by side; the busy one uses more CPU', async () => {
    const { runtime, app } = suite
    const busy = `require('node:http').createServer((request, response) => response.end('busy')).listen(process.env.PORT); const burn = () => { const end = Date.now() + 40; while (Date.now() < end); setImmediate(burn) }; setImmediate(burn)`
    const one = await startApp(runtime, app, { variables: { SCRIPT: busy } })
    const two = await startApp(runtime, { ...app, deployment_id: newId('dpl') }, { variables: { SCRIPT: hello } })
    expect([await waitForResponse(one.instance), await waitForResponse(two.instance)]).toEqual(['busy', 'hello you'])
    const usage = () => Promise.all([one, two].map(({ instance }) => runtime.usage(instance.id)))
    await usage()
    await eventually(async () => {
      const [first, second] = await usage()
      expect(first!.cpu_percent).toBeGreaterThan(second!.cpu_percent + 5)
      for (const used of [first, second]) expect(used!.memory_mb).toBeGreaterThan(1)
    })
    await one.stop()
    expect(await runtime.usage(one.instance.id)).toBeNull()
    if (process.platform === 'linux') expect(await runtime.readAvailableMemory()).toBeGreaterThan(0)
    expect(await waitForResponse(two.instance)).toBe('hello you')
    await two.stop()
  })

  test('a small app runs in 64 MB; frozen it does not respond, and resumes its state once thawed', async () => {
    const { runtime } = suite
    const { instance, stop } = await run(hello, { memory_mb: 64 })
    await waitForResponse(instance)
    await runtime.freeze(instance.id)
    await runtime.freeze(instance.id)
    let hasAnswered = false
    const response = waitForResponse(instance).finally(() => (hasAnswered = true))
    // The same request to a running app gets a response before these do.
    for (let looks = 0; looks < 5; looks++) await runtime.usage(instance.id)
    expect(hasAnswered).toBe(false)
    await runtime.thaw(instance.id)
    expect(await response).toBe('hello you')
    await runtime.freeze(instance.id)
    await stop(30_000)
    await expect(runtime.thaw(instance.id)).rejects.toBeInstanceOf(StartFailure)
  })

  test('an app that cannot be started is reported', async () => {
    const { runtime } = suite
    const built = await build({ files: { 'package.json': manifest() }, plan: serverPlan({ start_command: ['no-such-program'] }) })
    // An engine may report it a moment later, as an exit with the code that shells use for it.
    const outcome = await startApp(runtime, built).then(
      async ({ exit }) => (await exit).code,
      (error: unknown) => error,
    )
    if (outcome !== 127) expect(outcome).toBeInstanceOf(StartFailure)
    await eventually(async () => expect(await runtime.list()).toEqual([]))
  })

  commonTest(driver.tested_as)('a path of the plan outside the source is refused', async () => {
    await expect(build({ files: { a: 'b' }, plan: staticPlan({ output_directory: '../..' }) })).rejects.toThrow()
  })

  test('processes that outlive the platform are adopted by the next one with their output and exit, or stopped', async () => {
    const first = driver.create(suite.options)
    const started = await startApp(first, suite.app, {
      variables: {
        SCRIPT: `let n = 0; require('http').createServer((q, r) => { console.log('line ' + n++); r.end() }).listen(process.env.PORT); process.on('SIGTERM', () => { console.log('last'); process.exit(5) })`,
      },
    })
    /** A line for each replica. Nothing is in flight while the time of the last one is recorded. */
    const say = async (times: number) => {
      for (let i = 0; i < times; i++) await waitForResponse(started.instance)
    }
    await say(4)
    await eventually(() => expect(started.lines).toContain('line 3'))
    const lastAt = Date.now()
    await first.close()
    const seen = started.lines.length
    // Output of that same millisecond may also be from before.
    await eventually(() => expect(Date.now()).toBeGreaterThan(lastAt))
    await say(3)

    const next = driver.create(suite.options)
    const [found, ...others] = await next.list()
    expect(others).toEqual([])
    const { project_id, deployment_id } = suite.app
    expect(found).toMatchObject({ id: started.instance.id, project_id, deployment_id, running: true, exit: null })
    const lines: string[] = []
    const exit = Promise.withResolvers<ReplicaExit>()
    const adopted = await next.adopt({ ...found!, last_line_at: lastAt }, { onLine: (_stream, line) => lines.push(line), onExit: exit.resolve })
    expect(adopted !== undefined).toBe(found!.adoptable)
    if (adopted) {
      expect(adopted).toMatchObject({ id: found!.id, host: started.instance.host, port: started.instance.port })
      await say(3)
      await eventually(() => expect(lines.length).toBeGreaterThan(5))
    }
    await next.stop(found!.id, 30_000)
    if (adopted) {
      expect(await exit.promise).toEqual({ code: 5, signal: null, out_of_memory: false })
      expect(lines.at(-1)).toBe('last')
      const numbers = lines.slice(0, -1).map((line) => Number(line.slice(5)))
      expect(Math.abs(numbers[0]! - seen)).toBeLessThanOrEqual(2)
      expect(numbers).toEqual(numbers.map((_, n) => numbers[0]! + n))
    }
    expect(await next.list()).toEqual([])
    await next.close()
  })

  return suite
}
