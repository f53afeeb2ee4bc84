import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createRuntimes } from '../../server/runtime/index.ts'
import { BuildFailure, type Replica, type Runtime, type RuntimeOptions } from '../../server/runtime/runtime.ts'
import { requires } from '../support/requirements.ts'
import { buildApp, eventually, serverPlan, startApp, waitForResponse, type BuiltApp, type StartedApp } from '../support/runtime.ts'
import type { TestSwarm } from '../support/swarm.ts'
import { hello, manifest } from './suite-context.ts'
import { serviceRequest } from './suite-services.ts'
import { until } from '../support/until.ts'
import { startSwarmRuntime, withSwarm } from './swarm-driver.ts'

/* Three nodes, each an engine of its own, and a registry. */

describe.skipIf(!requires('swarm').ok)('swarm of three nodes', () => {
  let swarm: TestSwarm
  let options: RuntimeOptions
  let runtime: Runtime
  let close: () => Promise<void>
  let app: BuiltApp

  beforeAll(async () => {
    ;({ swarm, options, runtime, close } = await startSwarmRuntime(3))
    app = await buildApp(runtime, options, { files: { 'server.js': 'eval(process.env.SCRIPT)', 'package.json': manifest() }, plan: serverPlan() })
  }, 240_000)
  afterAll(() => close(), 120_000)

  const start = (script: string, more = {}) => startApp(runtime, app, { variables: { SCRIPT: script }, ...more })
  const startThree = (script: string) => Promise.all([1, 2, 3].map(() => start(script)))
  const stopAll = (started: StartedApp[]) => Promise.all(started.map((one) => one.stop(1_000)))
  const hostsOf = (started: { instance: Replica }[]) => started.map(({ instance }) => instance.host).toSorted()

  test('the image is pushed once; replicas run on different nodes and answer at their private addresses', async () => {
    expect(app.log.lines.join('\n')).toContain(`Pushing the image to the registry of the swarm, ${swarm.registry}.`)
    const started = await startThree(hello)
    expect(hostsOf(started)).toEqual([1, 2, 3].map((node) => swarm.address(node)))
    expect(await Promise.all(started.map(({ instance }) => waitForResponse(instance)))).toEqual(['hello you', 'hello you', 'hello you'])
    await eventually(() => expect(started.map(({ lines }) => lines)).toEqual([['listening'], ['listening'], ['listening']]))
    const exits = await stopAll(started)
    expect(exits).toEqual([1, 2, 3].map(() => ({ code: 3, signal: null, out_of_memory: false })))
    expect(started.map(({ lines }) => lines)).toEqual([1, 2, 3].map(() => ['listening', 'leaving']))
    expect(await runtime.list()).toEqual([])
  }, 180_000)

  test('an app reaches no other app on any node, and ports are open at the private addresses only', async () => {
    const started = await startThree(hello)
    try {
      for (const { instance } of started) await waitForResponse(instance)
      for (const node of [1, 2, 3]) {
        const published = (await swarm.docker(node, ['ps', '--filter', 'label=homeport.role=task', '--format', '{{.Ports}}']))
          .trim()
          .split('\n')
          .filter(Boolean)
        expect(published.length).toBeGreaterThan(0)
        for (const ports of published) expect(ports).toMatch(new RegExp(`^${swarm.address(node).replaceAll('.', '\\.')}:\\d+->8080/tcp$`))
      }
      const targets = started.map(({ instance }) => `http://${instance.host}:${instance.port}/`)
      const spy = `Promise.all(${JSON.stringify(targets)}.map((url) => fetch(url, { signal: AbortSignal.timeout(3000) }).then(() => console.log('reached ' + url), () => console.log('not')))).then(() => setInterval(() => {}, 1000))`
      const other = { ...app, deployment_id: app.deployment_id.replace(/.{4}$/, '0000') }
      const spies = await Promise.all([1, 2, 3].map(() => startApp(runtime, other, { variables: { SCRIPT: spy } })))
      expect(hostsOf(spies)).toEqual(hostsOf(started))
      await eventually(() => expect(spies.map(({ lines }) => lines)).toEqual(spies.map(() => ['not', 'not', 'not'])))
      await stopAll(spies)
    } finally {
      await stopAll(started)
    }
  }, 180_000)

  test('services of one network reach each other by name on all nodes; capabilities, processes and privileges are limited', async () => {
    const network = { networks: [{ name: app.deployment_id, host_names: ['api'] }] }
    const api = await start(hello, { service: serviceRequest({ name: 'api', port: 3000, ...network }) })
    const ask = `fetch('http://api:3000').then((r) => r.text()).then(console.log, (e) => console.log(String(e.cause))).then(() => console.log(require('fs').readFileSync('/proc/self/status', 'utf8').match(/(CapEff|CapBnd|NoNewPrivs).*/g).join())).then(() => setInterval(() => {}, 1000))`
    const askers = await Promise.all(
      [1, 2, 3].map(() => start(ask, { service: serviceRequest({ name: 'asker', networks: [{ name: app.deployment_id, host_names: ['asker'] }] }) })),
    )
    const none = 'CapEff:\t0000000000000000,CapBnd:\t0000000000000000,NoNewPrivs:\t1'
    await eventually(() => expect(askers.map(({ lines }) => lines)).toEqual(askers.map(() => ['hello you', none])))
    await stopAll([api, ...askers])
  }, 180_000)

  test('a replica of a node that is lost ends, and starts again on another', async () => {
    const started = await startThree(hello)
    const lost = started.find(({ instance }) => instance.host === swarm.address(3))!
    await eventually(() => expect(lost.lines).toEqual(['listening']))
    await swarm.run('node-kill', 3)
    expect(await lost.exit).toEqual({ code: 137, signal: 'SIGKILL', out_of_memory: false })
    expect(lost.lines).toEqual(['listening', expect.stringContaining(`could not be read from its node, ${lost.instance.node},`)])
    const next = await start(hello)
    expect([swarm.address(1), swarm.address(2)]).toContain(next.instance.host)
    expect(await waitForResponse(next.instance)).toBe('hello you')
    await swarm.run('node-start', 3)
    await stopAll([...started.filter((one) => one !== lost), next])
  }, 240_000)

  test('10,000 lines of three replicas arrive, each once and in order', async () => {
    const count = 3_334
    const print = `let n = 0; const next = () => { for (let i = 0; i < 20 && n < ${count}; i++) console.log('line ' + n++); if (n < ${count}) setTimeout(next, 5) }; next(); setInterval(() => {}, 1000)`
    const started = await startThree(print)
    const all = Array.from({ length: count }, (_, n) => `line ${n}`)
    await until(() => (started.every(({ lines }) => lines.length >= count) ? true : undefined), { what: 'the last lines' })
    expect(await stopAll(started)).toHaveLength(3)
    for (const { lines } of started) expect(lines).toEqual(all)
  }, 180_000)

  test('a registry that does not answer is named within seconds, and running apps continue', async () => {
    const running = await start(hello)
    const wrong = withSwarm(options, { ...swarm, registry: `${swarm.address(1)}:9` })
    const other = createRuntimes(wrong).swarm
    const began = performance.now()
    const failure = await buildApp(other, options, { files: { 'server.js': hello, 'package.json': manifest() }, plan: serverPlan() }).catch(
      (error: unknown) => error,
    )
    const seconds = (performance.now() - began) / 1_000
    expect(failure).toBeInstanceOf(BuildFailure)
    expect(String(failure)).toContain(`${swarm.address(1)}:9, does not answer`)
    console.info(`The failure came after ${seconds.toFixed(1)} s with the build.`)
    expect(await other.check!(true)).toContainEqual(expect.objectContaining({ name: 'swarm registry', status: 'failed' }))
    await other.close()
    expect(await waitForResponse(running.instance)).toBe('hello you')
    await running.stop(1_000)
  }, 180_000)
})
