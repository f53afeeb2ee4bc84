import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { Runtime, RuntimeOptions } from '../../server/runtime/runtime.ts'
import { trustRegistry } from '../../server/runtime/swarm/registry-trust.ts'
import { runCommand } from '../support/command.ts'
import { requires } from '../support/requirements.ts'
import { createTestClock } from '../support/test-clock.ts'
import { buildApp, eventually, serverPlan, startApp, waitForResponse, type BuiltApp } from '../support/runtime.ts'
import type { TestSwarm } from '../support/swarm.ts'
import { hello, manifest } from './suite-context.ts'
import { startSwarmRuntime } from './swarm-driver.ts'

/* Two nodes without a registry of the operator. All nodes of this machine have one folder of authorities, /etc/docker/certs.d. */

describe.skipIf(!requires('swarm').ok || !requires('service-images').ok)('the registry of Homeport', () => {
  let swarm: TestSwarm
  let options: RuntimeOptions
  let runtime: Runtime
  let close: () => Promise<void>
  let host: string
  const clock = createTestClock()
  const trusted = () => join('/etc/docker/certs.d', host)

  beforeAll(async () => {
    const images = ['node:24-bookworm-slim', 'registry:2']
    ;({ swarm, options, runtime, close } = await startSwarmRuntime(2, 1, { images, has_registry: false, clock }))
    host = `${swarm.address(1)}:5000`
  }, 240_000)
  afterAll(async () => {
    await close()
    rmSync(trusted(), { recursive: true, force: true })
  }, 120_000)

  const build = (text: string) =>
    buildApp(runtime, options, { files: { 'server.js': `// ${text}\n${hello}`, 'package.json': manifest() }, plan: serverPlan() })
  const startBoth = async (app: BuiltApp) => {
    const started = await Promise.allSettled([1, 2].map(() => startApp(runtime, app)))
    onTestFinished(async () => {
      for (const one of started) if (one.status === 'fulfilled') await one.value.stop(0)
    })
    return started
  }
  /** Runs a command on the second node. No instance is asked. */
  const run = (...args: string[]) =>
    runCommand({ api_url: 'http://127.0.0.1:9', token: undefined }, '.', args, { docker_host: `unix://${swarm.socket(2)}` })
  const readJoinToken = () => runtime.nodes!.readJoinToken('worker')
  const readRegistry = async () => (await readJoinToken()).registry ?? ''

  const ask = (path: string, more: { ca?: string; auth?: string; method?: string } = {}): Promise<number | string> =>
    new Promise((resolve) => {
      request(`https://${host}${path}`, more)
        .once('response', (response) => resolve(response.resume().statusCode ?? 0))
        .once('error', (error) => resolve(String((error as NodeJS.ErrnoException).code)))
        .end()
    })

  test('is started for the first image; every node gets it there, with TLS and a password', async () => {
    const app = await build('first')
    expect(app.log.lines.join('\n')).toContain(`Pushing the image to the registry of the swarm, ${host}.`)
    const started = await startBoth(app)
    const replicas = started.map((one) => (one.status === 'fulfilled' ? one.value.instance : undefined))
    expect(new Set(replicas.map((one) => one?.host))).toEqual(new Set([1, 2].map((node) => swarm.address(node))))
    for (const replica of replicas) expect(await waitForResponse(replica!)).toBe('hello you')

    const ca = readFileSync(join(trusted(), 'ca.crt'), 'utf8')
    expect(await ask('/v2/_catalog')).toBe('SELF_SIGNED_CERT_IN_CHAIN')
    expect(await ask('/v2/_catalog', { ca })).toBe(401)
    expect(await ask('/v2/_catalog', { ca, auth: 'homeport:wrong' })).toBe(401)
    const published = await swarm.docker(1, ['ps', '--filter', 'label=homeport.role=registry', '--format', '{{.Ports}}'])
    expect(published.trim()).toBe(`${host}->5000/tcp`)
    expect(await runtime.check?.(false)).toContainEqual({
      name: 'swarm registry',
      status: 'ok',
      message: `The nodes pull images from ${host}.`,
      hint: null,
    })
  }, 180_000)

  test('an image that this machine does not have, as that of a standby, is pulled from there', async () => {
    const app = await build('elsewhere')
    if (app.artifact.kind !== 'image') throw new Error('The app was built without an image.')
    const id = (await swarm.docker(1, ['image', 'inspect', '-f', '{{.Id}}', app.artifact.image])).trim()
    await swarm.docker(1, ['rmi', '-f', id])
    const [first, second] = await startBoth(app)
    for (const one of [first, second]) {
      if (one?.status !== 'fulfilled') throw one?.reason
      expect(await waitForResponse(one.value.instance)).toBe('hello you')
    }
    expect((await swarm.docker(1, ['image', 'inspect', '-f', '{{.Id}}', app.artifact.image])).trim()).toBe(id)
  }, 180_000)

  test('a node that does not trust it starts nothing, until it knows the authority by its fingerprint', async () => {
    const reference = await readRegistry()
    expect(reference).toMatch(new RegExp(`^${host.replaceAll('.', '\\.')}@sha256:[0-9a-f]{64}$`))
    const folder = mkdtempSync(join(tmpdir(), 'homeport-certs-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    for (const wrong of [reference.replace(/.{4}$/, '0000'), `127.0.0.1:1@${reference.split('@')[1]}`])
      await expect(trustRegistry(wrong, folder)).rejects.toMatchObject({ code: 'runtime_unavailable' })
    await expect(trustRegistry('../x:5000@sha256:0', folder)).rejects.toMatchObject({ code: 'invalid_input' })

    const app = await build('second')
    const authority = readFileSync(join(trusted(), 'ca.crt'), 'utf8')
    rmSync(trusted(), { recursive: true })
    const started = await startBoth(app)
    expect(started.map((one) => (one.status === 'rejected' ? (one.reason as Error).message : 'started')).toSorted()).toEqual([
      'The app did not start, because its node of the swarm could not get the image from the registry.',
      'started',
    ])
    const failure = started.find((one) => one.status === 'rejected')
    expect(failure?.reason).toMatchObject({ hint: expect.stringContaining('homeport node trust') })

    expect(await run('node', 'trust', reference)).toMatchObject({
      code: 0,
      out: `The Docker engine of this machine trusts the registry at ${host} now.\n`,
    })
    expect(readFileSync(join(trusted(), 'ca.crt'), 'utf8').trim()).toBe(authority.trim())
    expect((await startBoth(await build('third'))).map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled'])
  }, 180_000)

  test('the command that joins a machine makes it trust the registry, or changes nothing', async () => {
    const left = (await runtime.nodes!.list()).find(({ address }) => address === swarm.address(2))!
    await swarm.docker(2, ['swarm', 'leave', '--force'])
    await runtime.nodes!.remove(left.id)
    rmSync(trusted(), { recursive: true })
    const { address, token, registry } = await readJoinToken()
    const joinWith = (more: string) => run('node', 'join', address, '--token', token, '--registry', more, '--address', swarm.address(2))

    const refused = await joinWith(registry!.replace(/.{4}$/, '0000'))
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('has another certificate') })
    expect((await swarm.docker(2, ['info', '--format', '{{.Swarm.LocalNodeState}}'])).trim()).toBe('inactive')

    expect(await joinWith(registry!)).toMatchObject({ code: 0 })
    await eventually(async () => expect((await runtime.nodes!.list()).filter(({ is_ready }) => is_ready)).toHaveLength(2))
    const started = await startBoth(await build('fourth'))
    expect(new Set(started.map((one) => one.status === 'fulfilled' && one.value.instance.host))).toEqual(new Set([1, 2].map(swarm.address)))
  }, 240_000)

  test('a machine becomes the first node of a new cluster by command, and not one that is part of another', async () => {
    const left = (await runtime.nodes!.list()).find(({ address }) => address === swarm.address(2))!
    const init = () => run('node', 'init', swarm.address(2))
    expect(await init()).toMatchObject({ code: 1, err: expect.stringContaining('part of a cluster already') })
    await swarm.docker(2, ['swarm', 'leave', '--force'])
    await runtime.nodes!.remove(left.id)
    expect(await run('node', 'init', 'here')).toMatchObject({ code: 1, err: expect.stringContaining('IP address') })
    expect(await init()).toMatchObject({ code: 0, out: expect.stringContaining(swarm.address(2)) })
    expect((await swarm.docker(2, ['node', 'ls', '--format', '{{.Status}} {{.ManagerStatus}}'])).trim()).toBe('Ready Leader')
    const bridge = await swarm.docker(2, ['network', 'inspect', 'docker_gwbridge', '--format', '{{json .Options}}'])
    expect(JSON.parse(bridge)).toMatchObject({ 'com.docker.network.bridge.host_binding_ipv4': swarm.address(2) })
    await swarm.docker(2, ['swarm', 'leave', '--force'])
    const { address, token, registry } = await readJoinToken()
    expect(await run('node', 'join', address, '--token', token, '--registry', registry!, '--address', swarm.address(2))).toMatchObject({ code: 0 })
    await eventually(async () => expect((await runtime.nodes!.list()).filter(({ is_ready }) => is_ready)).toHaveLength(2))
  }, 120_000)

  test('is started again when it is gone, and loses the images of removed deployments only', async () => {
    const [kept, removed] = [await build('kept'), await build('removed')]
    const size = async () => Number((await swarm.docker(1, ['exec', registry, 'du', '-s', '/var/lib/registry'])).split('\t')[0])
    const registry = (await swarm.docker(1, ['ps', '-q', '--filter', 'label=homeport.role=registry'])).trim()
    const before = await size()
    await runtime.discard(removed.deployment_id, removed.artifact)
    expect(await size()).toBeLessThan(before)
    expect((await startBoth(kept)).map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled'])

    const artifact = await runtime.useImage(
      { image: 'registry:2', registries: { logins: [], uses_docker_login: true }, refreshes: 'none', signal: new AbortController().signal },
      { line() {}, note() {} },
    )
    if (artifact.kind !== 'image') throw new Error('A prebuilt image is no image.')
    const id = artifact.id ?? ''
    const withPrebuilt = await size()
    await clock.advance(600_000)
    await runtime.pruneImages?.(new Set([id]))
    expect(await size()).toBe(withPrebuilt)
    await runtime.pruneImages?.(new Set())
    expect(await size()).toBeLessThan(withPrebuilt)
    expect((await swarm.docker(1, ['images', '-q', '--no-trunc', 'registry:2'])).trim()).toBe(id)

    await swarm.docker(1, ['rm', '--force', registry])
    expect((await startBoth(await build('again'))).map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled'])
  }, 240_000)
})
