import { afterAll, beforeAll, expect, test } from 'vitest'
import { newId } from '../../server/lib/id.ts'
import { StartFailure, type Exit, type Runtime } from '../../server/runtime/runtime.ts'
import { answerOf, buildApp, eventually, runtimeOptions, serverPlan, startApp, staticPlan } from '../support/runtime.ts'
import { buildTests, manifest, type Driver } from './suite-builds.ts'

export type { Driver }

const hello = `
const http = require('node:http')
http.createServer((request, response) => response.end('hello ' + (process.env.WHO ?? 'you'))).listen(process.env.PORT, process.env.HOST, () => console.log('listening'))
process.on('SIGTERM', () => { console.log('leaving'); process.exit(3) })
`

/** What every driver must do. */
export function runtimeSuite(driver: Driver): void {
  let options: Awaited<ReturnType<typeof runtimeOptions>>
  let runtime: Runtime
  beforeAll(async () => {
    options = await runtimeOptions()
    runtime = driver.create(options)
  })
  afterAll(async () => {
    await driver.cleanUp(options, runtime)
    await runtime.close()
    await options.remove()
  })
  const build = (more: Parameters<typeof buildApp>[2]) => buildApp(runtime, options, more)
  const app = (script: string) => build({ files: { 'server.js': script, 'package.json': manifest() }, plan: serverPlan() })

  test('it can work now', async () => {
    expect(await runtime.probe()).toMatchObject({ available: true, reason: expect.stringMatching(/.+\.$/) })
  })

  test('a server without dependencies: built, started, answering, stopped by SIGTERM, gone', async () => {
    const built = await app(hello)
    expect(built.log.steps).toEqual(['skip install', 'skip build'])
    expect(built.artifact).toMatchObject({ bytes: expect.any(Number) })
    const { instance, lines, exit } = await startApp(runtime, built, { variables: { WHO: 'world' } })
    expect(await answerOf(instance)).toBe('hello world')
    // The answer and the line come by different ways.
    await eventually(() => expect(lines).toEqual(['listening']))
    expect(await instance.listeningPorts()).toContainEqual({ port: instance.port, loopback_only: false })
    expect(await runtime.list()).toMatchObject([{ id: instance.id, project_id: built.project_id, deployment_id: built.deployment_id, running: true }])

    await runtime.stop(instance.id, 30_000)
    expect(await exit).toEqual({ code: 3, signal: null, out_of_memory: false })
    expect(lines).toEqual(['listening', 'leaving'])
    expect(await runtime.list()).toEqual([])
    await runtime.stop(instance.id, 5_000)
    await runtime.discard(built.deployment_id, built.artifact)
    await runtime.discard(built.deployment_id, built.artifact)
    expect(await driver.leftovers(options, built.deployment_id)).toEqual([])
  })

  buildTests({
    driver,
    get options() {
      return options
    },
    get runtime() {
      return runtime
    },
    build,
  })

  test('100 000 lines and an exit: all come, in order, and memory stays flat', async () => {
    const built = await app(
      `let n = 0; const more = () => { while (n < 100000) { if (!process.stdout.write('line ' + n++ + ' of a log that is long enough to be one\\n')) return process.stdout.once('drain', more) } }; more()`,
    )
    let next = 0
    let wrong = 0
    const before = process.memoryUsage().rss
    let most = before
    const { exit } = await startApp(runtime, built, {
      onLine(line) {
        if (!line.startsWith(`line ${next++} `)) wrong++
        if (next % 10_000 === 0) most = Math.max(most, process.memoryUsage().rss)
      },
    })
    expect(await exit).toMatchObject({ code: 0 })
    expect({ next, wrong }).toEqual({ next: 100_000, wrong: 0 })
    expect(most - before).toBeLessThan(80 * 1024 * 1024)
    await runtime.discard(built.deployment_id, built.artifact)
  }, 60_000)

  test('lines keep carriage returns, colours and broken characters; the last one needs no end; stderr is told apart', async () => {
    const built = await app(
      `process.stdout.write('10%\\r20%\\r\\n\\u001b[31mred\\u001b[0m\\nüñ'); process.stderr.write('bad\\n'); setTimeout(() => process.stdout.write('içode'), 50)`,
    )
    const out: string[] = []
    const err: string[] = []
    const { exit } = await startApp(runtime, built, { onLine: (line, stream) => (stream === 'stdout' ? out : err).push(line) })
    await exit
    expect(out).toEqual(['10%\r20%\r', '\u001b[31mred\u001b[0m', 'üñiçode'])
    expect(err).toEqual(['bad'])
    await runtime.discard(built.deployment_id, built.artifact)
  })

  test('a crash tells its exit code', async () => {
    const built = await app(`console.error('broken'); process.exit(7)`)
    const { exit, lines } = await startApp(runtime, built)
    expect(await exit).toEqual({ code: 7, signal: null, out_of_memory: false })
    expect(lines).toEqual(['broken'])
    await runtime.discard(built.deployment_id, built.artifact)
  })

  test('a small app lives in 64 MB; one that takes more is killed, and it is said why', async () => {
    const modest = await app(hello)
    const small = await startApp(runtime, modest, { memory_mb: 64 })
    expect(await answerOf(small.instance)).toBe('hello you')
    await runtime.stop(small.instance.id, 5_000)
    await small.exit

    const greedy = await app(`const all = []; setInterval(() => all.push(Buffer.alloc(8e6, 1)), 20)`)
    const large = await startApp(runtime, greedy, { memory_mb: 64 })
    expect(await large.exit).toMatchObject({ out_of_memory: true })

    const heap = await app(`const all = []; for (;;) all.push({ a: [1, 2, 3], b: 'x'.repeat(10) + all.length })`)
    const third = await startApp(runtime, heap, { memory_mb: 64 })
    expect(await third.exit).toMatchObject({ out_of_memory: true })
    for (const built of [modest, greedy, heap]) await runtime.discard(built.deployment_id, built.artifact)
  }, 60_000)

  test('an app that ignores SIGTERM is killed after the time of grace', async () => {
    const built = await app(`process.on('SIGTERM', () => console.log('no')); setInterval(() => {}, 1000); console.log('up')`)
    const { instance, exit, lines } = await startApp(runtime, built)
    await eventually(() => expect(lines).toContain('up'))
    await runtime.stop(instance.id, 3_000)
    expect(await exit).toMatchObject({ code: 137, signal: 'SIGKILL' })
    expect(lines).toContain('no')
    await runtime.discard(built.deployment_id, built.artifact)
  })

  test('two versions of one project run side by side, so that one can take over from the other', async () => {
    const project_id = newId('prj')
    const version = (n: number) =>
      build({ project_id, files: { 'server.js': hello.replace('hello', `version ${n}`), 'package.json': manifest() }, plan: serverPlan() })
    const [first, second] = [await version(1), await version(2)]
    const one = await startApp(runtime, first)
    const two = await startApp(runtime, second)
    expect(await Promise.all([answerOf(one.instance), answerOf(two.instance)])).toEqual(['version 1 you', 'version 2 you'])
    await runtime.stop(one.instance.id, 5_000)
    expect(await answerOf(two.instance)).toBe('version 2 you')
    await runtime.stop(two.instance.id, 5_000)
    await Promise.all([one.exit, two.exit])
    for (const built of [first, second]) await runtime.discard(built.deployment_id, built.artifact)
  })

  test('a frozen app answers nothing, and goes on where it was once thawed', async () => {
    const built = await app(hello)
    const { instance, exit } = await startApp(runtime, built)
    await answerOf(instance)
    await runtime.freeze(instance.id)
    await runtime.freeze(instance.id)
    await expect(fetch(`http://${instance.host}:${instance.port}/`, { signal: AbortSignal.timeout(300) })).rejects.toThrow()
    await runtime.thaw(instance.id)
    expect(await answerOf(instance)).toBe('hello you')
    expect(await runtime.usage(instance.id)).toMatchObject({ memory_mb: expect.any(Number), cpu_percent: expect.any(Number) })
    await runtime.freeze(instance.id)
    await runtime.stop(instance.id, 3_000)
    await exit
    expect(await runtime.usage(instance.id)).toBeNull()
    await runtime.discard(built.deployment_id, built.artifact)
  })

  test('what an app uses: a busy one more of a core than one that waits', async () => {
    const [busy, waiting] = [
      await app(
        `require('node:http').createServer((request, response) => response.end('busy')).listen(process.env.PORT); const burn = () => { const end = Date.now() + 40; while (Date.now() < end); setImmediate(burn) }; setImmediate(burn)`,
      ),
      await app(hello),
    ]
    const both = [await startApp(runtime, busy), await startApp(runtime, waiting)]
    for (const { instance } of both) await answerOf(instance)
    const usage = async () => Promise.all(both.map(({ instance }) => runtime.usage(instance.id)))
    await usage()
    await eventually(async () => {
      const [one, other] = await usage()
      expect(one!.cpu_percent).toBeGreaterThan(other!.cpu_percent + 5)
      for (const used of [one, other]) expect(used!.memory_mb).toBeGreaterThan(1)
    })
    for (const { instance, exit } of both) {
      await runtime.stop(instance.id, 0)
      await exit
    }
    for (const built of [busy, waiting]) await runtime.discard(built.deployment_id, built.artifact)
  })

  test('an app that can not be started says so', async () => {
    const built = await build({ files: { 'package.json': manifest() }, plan: serverPlan({ start_command: ['no-such-program'] }) })
    // An engine may tell it a moment later, as an end with the code that shells have for it.
    const outcome = await startApp(runtime, built).then(
      async ({ exit }) => (await exit).code,
      (error: unknown) => error,
    )
    if (outcome !== 127) expect(outcome).toBeInstanceOf(StartFailure)
    await eventually(async () => expect(await runtime.list()).toEqual([]))
    await runtime.discard(built.deployment_id, built.artifact)
  })

  test('a path of the plan that leaves the source is refused', async () => {
    const job = build({ files: { a: 'b' }, plan: staticPlan({ output_directory: '../..' }) })
    await expect(job).rejects.toThrow()
  })

  test('what outlives the platform is found by the next one: adopted with its output and its end, or stopped', async () => {
    const first = driver.create(options)
    const built = await app(
      `let n = 0; require('http').createServer((q, r) => { console.log('line ' + n++); r.end() }).listen(process.env.PORT); process.on('SIGTERM', () => { console.log('last'); process.exit(5) })`,
    )
    const started = await startApp(first, built)
    /** A line for each: nothing is on its way while it is noted when the last one came. */
    const say = async (times: number) => {
      for (let i = 0; i < times; i++) await answerOf(started.instance)
    }
    await say(4)
    await eventually(() => expect(started.lines).toContain('line 3'))
    const lastAt = Date.now()
    await first.close()
    const seen = started.lines.length
    // What is said in that very millisecond may as well be from before.
    await eventually(() => expect(Date.now()).toBeGreaterThan(lastAt))
    await say(3)

    const next = driver.create(options)
    const [found, ...others] = await next.list()
    expect(others).toEqual([])
    expect(found).toMatchObject({
      id: started.instance.id,
      project_id: built.project_id,
      deployment_id: built.deployment_id,
      running: true,
      exit: null,
    })
    const lines: string[] = []
    const exit = Promise.withResolvers<Exit>()
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
    await next.discard(built.deployment_id, built.artifact)
    await next.close()
  })

  test('what is kept for a project goes when the project does', async () => {
    const project_id = newId('prj')
    const plan = serverPlan({ install_command: 'npm install', install_key: 'forgotten' })
    const files = { 'package.json': manifest({ dependencies: { ms: '2.1.3' } }), 'server.js': '' }
    const first = await build({ project_id, files, plan })
    await runtime.discard(first.deployment_id, first.artifact)
    await runtime.forget(project_id)
    await runtime.forget(project_id)
    expect(await driver.leftovers(options, project_id)).toEqual([])
  })
}
