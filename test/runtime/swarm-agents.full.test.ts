import { request } from 'node:https'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { systemClock } from '../../server/lib/clock.ts'
import type { Runtime, RuntimeOptions } from '../../server/runtime/runtime.ts'
import { agentName, createAgentCertificate, createClientCertificate, type ClusterIdentity } from '../../server/runtime/swarm/cluster-identity.ts'
import { requires } from '../support/requirements.ts'
import { buildApp, eventually, serverPlan, startApp, waitForResponse, type BuiltApp, type StartedApp } from '../support/runtime.ts'
import type { TestSwarm } from '../support/swarm.ts'
import { hello, manifest } from './suite-context.ts'
import { type createSecretText, startSwarmRuntime } from './swarm-driver.ts'

/* Two nodes: what is possible with a replica on the one where Homeport does not run. */

describe.skipIf(!requires('swarm').ok)('the agent of another node', () => {
  let swarm: TestSwarm
  let options: RuntimeOptions
  let runtime: Runtime
  let close: () => Promise<void>
  let secrets: ReturnType<typeof createSecretText>
  let app: BuiltApp
  let remote: StartedApp
  const started: StartedApp[] = []

  const build = () =>
    buildApp(runtime, options, { files: { 'server.js': 'eval(process.env.SCRIPT)', 'package.json': manifest() }, plan: serverPlan() })
  const imageOf = ({ artifact }: BuiltApp) => (artifact.kind === 'image' ? artifact.image : '')
  const agentPort = async () => {
    const [, port = ''] =
      /:(\d+)->7443\/tcp/.exec(await swarm.docker(2, ['ps', '--filter', 'label=homeport.role=agent', '--format', '{{.Ports}}'])) ?? []
    return port
  }

  beforeAll(async () => {
    ;({ swarm, options, runtime, close, secrets } = await startSwarmRuntime(2, 1))
    app = await build()
    for (let count = 0; count < 2; count++) started.push(await startApp(runtime, app, { variables: { SCRIPT: hello } }))
    remote = started.find(({ instance }) => instance.host === swarm.address(2))!
    await eventually(async () => expect(await agentPort()).not.toBe(''))
    await eventually(async () => expect(await runtime.usage(remote.instance.id)).not.toBeNull())
  }, 240_000)
  afterAll(() => close(), 120_000)

  test('figures, commands and listening ports are those of the replica', async () => {
    const { instance } = remote
    expect(await waitForResponse(instance)).toBe('hello you')
    expect(await runtime.usage(instance.id)).toMatchObject({ cpu_ms: expect.any(Number), memory_mb: expect.toSatisfy((mb: number) => mb > 5) })
    expect((await instance.getListeningPorts?.())?.map(({ port }) => port)).toEqual([8080])

    const run = async (command: string[], input: string | null = null) => {
      const chunks: Uint8Array[] = []
      const source =
        input === null
          ? null
          : (async function* () {
              yield Buffer.from(input)
            })()
      for await (const chunk of runtime.runInReplica(instance.id, command, source, new AbortController().signal)) chunks.push(chunk)
      return Buffer.concat(chunks).toString()
    }
    expect(await run(['node', '-p', 'process.env.PORT'])).toBe('8080\n')
    expect(await runtime.check?.(false)).toContainEqual({
      name: 'swarm agents',
      status: 'ok',
      message: 'The agents of all nodes answer.',
      hint: null,
    })
    expect(await run(['cat'], 'over the agent')).toBe('over the agent')
    await expect(run(['sh', '-c', 'echo no >&2; exit 3'])).rejects.toMatchObject({ exit_code: 3 })
  }, 60_000)

  test('the files that it wrote are listed and exported', async () => {
    const owner = { replica_id: remote.instance.id, artifact: app.artifact }
    for await (const _ of runtime.runInReplica(remote.instance.id, ['sh', '-c', 'echo kept > notes.txt'], null, new AbortController().signal));
    const written = await runtime.listWrittenFiles(owner)
    const file = written?.files.find(({ path }) => path.endsWith('/notes.txt'))
    expect(file).toMatchObject({ bytes: 5, is_database: false })
    const archive = await runtime.exportWrittenFiles(owner, file?.path ?? '', true)
    const chunks: Buffer[] = []
    for await (const chunk of archive ?? []) chunks.push(chunk as Buffer)
    expect(Buffer.concat(chunks).toString()).toMatch(/notes\.txt\0[^]*kept\n/)
  }, 60_000)

  test('it is frozen with its memory, resumed, and stopped with time to end', async () => {
    const { instance } = remote
    await runtime.freeze(instance.id)
    await runtime.freeze(instance.id)
    expect((await swarm.docker(2, ['ps', '--filter', 'status=paused', '-q'])).trim()).not.toBe('')
    await runtime.thaw(instance.id)
    expect(await waitForResponse(instance)).toBe('hello you')
    expect(await remote.stop(5_000)).toEqual({ code: 3, signal: null, out_of_memory: false })
    expect(remote.lines.at(-1)).toBe('leaving')
    started.splice(started.indexOf(remote), 1)
  }, 60_000)

  test('it takes commands from Homeport alone, and about its own containers only', async () => {
    const identity = JSON.parse(secrets.text ?? '') as ClusterIdentity
    const port = await agentPort()
    const ask = (
      path: string,
      { certificate: cert, key }: { certificate?: string; key?: string },
      method = 'GET',
      headers = {},
    ): Promise<number | string> =>
      new Promise((resolve) => {
        const tls = { ca: identity.authority.certificate, servername: agentName, cert, key }
        request({ host: swarm.address(2), port, path, method, headers, ...tls })
          .once('response', (response) => resolve(response.resume().statusCode ?? 0))
          .once('error', () => resolve('refused'))
          .end()
      })
    const client = createClientCertificate(identity, systemClock.now())
    expect(await ask('/_ping', client)).toBe(200)
    expect(await ask('/_ping', {})).toBe('refused')
    // As somebody could who has taken the secrets of a node.
    expect(await ask('/_ping', createAgentCertificate(identity, systemClock.now()))).toBe('refused')
    const [agent = ''] = (await swarm.docker(2, ['ps', '-q', '--no-trunc', '--filter', 'label=homeport.role=agent'])).trim().split('\n')
    for (const path of [
      `/containers/${agent}/json`,
      '/containers/json',
      '/info',
      '/secrets',
      `/containers/${agent}/archive?path=/run/secrets`,
      '/v1.41/swarm',
      '/images/json',
    ])
      expect([path, await ask(path, client)]).toEqual([path, 403])
    expect(await ask('/own-images', client)).toBe(200)
    expect(await ask('/own-images', client, 'POST')).toBe(403)
    expect(await ask('/containers/create', client, 'POST')).toBe(403)
    expect(await ask('/images/node:24-bookworm-slim', client, 'DELETE')).toBe(403)
    const own = `/images/${swarm.registry}/homeport-${options.instance_id.toLowerCase()}/`
    expect(await ask(`${own}none@sha256:${'0'.repeat(64)}`, client, 'DELETE')).toBe(404)
    expect(await ask(`${own.replace(/\/$/, '-images')}@sha256:${'0'.repeat(64)}`, client, 'DELETE')).toBe(404)
    expect(await ask(`${own.replace(/\/$/, '-other')}/one:1`, client, 'DELETE')).toBe(403)
    expect(await ask(`${own}../../node:24-bookworm-slim`, client, 'DELETE')).toBe(403)
    // On a connection to the engine as a plain stream, requests could follow unchecked.
    const upgrade = { connection: 'Upgrade', upgrade: 'tcp' }
    expect(await ask('/_ping', client, 'GET', upgrade)).toBe(403)
    // Its port is open at the private address of the node alone.
    expect((await swarm.docker(2, ['ps', '--filter', `id=${agent}`, '--format', '{{.Ports}}'])).trim()).toBe(`${swarm.address(2)}:${port}->7443/tcp`)
  }, 60_000)

  test('the image of a removed deployment is removed there too, also if the node was down then', async () => {
    const other = await build()
    const both = await Promise.all([1, 2].map(() => startApp(runtime, other, { variables: { SCRIPT: hello } })))
    const list = async (node = 2) =>
      (await swarm.docker(node, ['images', '--digests', '--format', '{{.Repository}}']))
        .split('\n')
        .filter((name) => name.includes(other.project_id.toLowerCase()))
    expect(await list()).toHaveLength(1)
    const digests = JSON.parse(await swarm.docker(1, ['image', 'inspect', '-f', '{{json .RepoDigests}}', imageOf(other)])) as string[]
    for (const one of both) await one.stop(0)
    await runtime.discard(other.deployment_id, other.artifact)
    await eventually(async () => expect(await list()).toEqual([]))

    // On Homeport's node the swarm may pull it again for a task in place of the one that was stopped.
    for (const node of [1, 2]) await swarm.docker(node, ['pull', digests[0] ?? ''])
    expect(await list()).toHaveLength(1)
    await eventually(async () => {
      await runtime.pruneImages?.(new Set())
      expect([await list(1), await list()]).toEqual([[], []])
    })
    const kept = await swarm.docker(2, ['images', '--format', '{{.Repository}}'])
    expect(kept).toContain(app.project_id.toLowerCase())
    expect(await runtime.check?.(false)).toContainEqual(expect.objectContaining({ name: 'swarm agents', status: 'ok' }))
  }, 120_000)
})
