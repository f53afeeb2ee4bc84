import { readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newId } from '../../server/lib/id.ts'
import { createRuntimes } from '../../server/runtime/index.ts'
import type { Runtime } from '../../server/runtime/runtime.ts'
import { removeNetwork, viewEngine } from '../support/docker.ts'
import { createGate } from '../support/gate.ts'
import { dockerSocket, requires } from '../support/requirements.ts'
import {
  answerOf,
  buildApp,
  command,
  entriesOf,
  eventually,
  recordLog,
  runtimeOptions,
  serverPlan,
  sourceOf,
  startApp,
  type RecordedLog,
} from '../support/runtime.ts'
import { spent } from '../support/spent.ts'
import { runtimeSuite, type Driver } from './suite.ts'

const docker = requires('docker')

const lines = async (args: string[]) => (await command('docker', args)).trim().split('\n').filter(Boolean)

const dockerDriver: Driver = {
  create: (options) => createRuntimes(options).docker,
  async leftovers(options, id) {
    const label = id.startsWith('prj_') ? `label=homeport.project=${id}` : `label=homeport.deployment=${id}`
    const ours = ['--filter', label, '--filter', `label=homeport.instance=${options.instance_id}`]
    const [containers, images, volumes, folders] = await Promise.all([
      lines(['ps', '-aq', ...ours]),
      lines(['images', '-q', ...ours]),
      id.startsWith('prj_') ? lines(['volume', 'ls', '-q', ...ours]) : [],
      entriesOf(join(options.data_dir, 'bundles')),
    ])
    return [...containers, ...images, ...volumes, ...folders.filter((name) => name.startsWith(id))]
  },
  async search(artifact, texts) {
    if (artifact.kind !== 'image') return []
    const history = await command('docker', ['history', '--no-trunc', artifact.image])
    const inspect = await command('docker', ['inspect', artifact.image])
    // Layers are plain tar files in what `save` writes.
    const saved = await command('sh', [
      '-c',
      'image=$1; shift; docker save "$image" | grep -acF "$@" || true',
      'sh',
      artifact.image,
      ...texts.flatMap((text) => ['-e', text]),
    ])
    const has = (out: string) => texts.some((text) => out.includes(text))
    return [...(has(history) ? ['history'] : []), ...(has(inspect) ? ['inspect'] : []), ...(saved.trim() === '0' ? [] : ['layers'])]
  },
  async cleanUp(options, runtime) {
    for (const found of await runtime.list()) await runtime.stop(found.id, 0)
    await viewEngine(options.instance_id).removeAll()
  },
}

describe.skipIf(!docker.ok)('docker runtime', { timeout: 90_000 }, () => {
  runtimeSuite(dockerDriver)
})

const caMark = 'HPSENT_certificates'

describe.skipIf(!docker.ok)('docker runtime, its own ways', { timeout: 90_000 }, () => {
  let options: Awaited<ReturnType<typeof runtimeOptions>>
  let runtime: Runtime
  const mine = () => ['--filter', `label=homeport.instance=${options.instance_id}`]
  beforeAll(async () => {
    options = await runtimeOptions()
    // The host's certificates, with a mark to look for.
    const marked = join(options.data_dir, 'ca.crt')
    await writeFile(marked, `${options.ca_file ? await readFile(options.ca_file, 'utf8') : ''}\n# ${caMark}\n`)
    options.ca_file = marked
    runtime = createRuntimes(options).docker
  })
  afterAll(async () => {
    await dockerDriver.cleanUp(options, runtime)
    await runtime.close()
    await options.remove()
  })
  const page = (more = '') =>
    `require('http').createServer(async (q, r) => { ${more}; r.end('ok') }).listen(process.env.PORT, () => console.log('up'))`
  const server = (script: string, more: Parameters<typeof serverPlan>[0] = {}) =>
    buildApp(runtime, options, { files: { 'server.js': script, 'package.json': '{}' }, plan: serverPlan(more) })
  const inspect = async (id: string): Promise<Inspected> => (JSON.parse(await command('docker', ['inspect', id])) as [Inspected])[0]

  test('an app is shut in: no capabilities, no new privileges, no mounts, limits for memory, processor and processes', async () => {
    const built = await server(page())
    const { instance, exit } = await startApp(runtime, built, { memory_mb: 128 })
    const { HostConfig, Mounts, Config } = await inspect(instance.id)
    expect(HostConfig).toMatchObject({
      Memory: 128 * 1024 * 1024,
      MemorySwap: 128 * 1024 * 1024,
      PidsLimit: 256,
      CapDrop: ['ALL'],
      SecurityOpt: ['no-new-privileges'],
      Privileged: false,
      Binds: null,
      Init: true,
      RestartPolicy: { Name: 'no' },
    })
    expect(HostConfig.NanoCpus).toBeGreaterThan(0)
    expect(Object.values(HostConfig.PortBindings ?? {})).toEqual([])
    expect(Mounts).toEqual([])
    expect(Config.User).toBe('1000:1000')
    await runtime.stop(instance.id, 1_000)
    await exit
    await runtime.discard(built.deployment_id, built.artifact)
  })

  test('one app can not reach another, and both reach the internet’s way out', async () => {
    const victim = await server(page())
    const one = await startApp(runtime, victim)
    await answerOf(one.instance)
    const spy = await server(
      `require('http').get('http://${one.instance.host}:${one.instance.port}/', { timeout: 1500 }, () => console.log('reached')).on('timeout', () => { console.log('shut'); process.exit() }).on('error', () => { console.log('shut'); process.exit() })`,
    )
    const two = await startApp(runtime, spy)
    await two.exit
    expect(two.lines).toEqual(['shut'])
    await runtime.stop(one.instance.id, 0)
    for (const built of [victim, spy]) await runtime.discard(built.deployment_id, built.artifact)
  })

  test('nothing that is not ours is ever touched', async () => {
    const name = `canary-${options.instance_id}`
    await command('docker', ['volume', 'create', name])
    await command('docker', ['network', 'create', name])
    await command('docker', ['tag', 'node:24-bookworm-slim', `${name}:1`])
    await command('docker', [
      'create',
      '--name',
      name,
      '--label',
      'homeport.instance=someone-else',
      '--label',
      'homeport.deployment=dpl_canary',
      '--label',
      'homeport.role=app',
      `${name}:1`,
    ])
    try {
      expect(await runtime.list()).toEqual([])
      const id = (await command('docker', ['inspect', '-f', '{{.Id}}', name])).trim()
      await runtime.stop(id, 0)
      await runtime.discard('dpl_canary', { kind: 'image', image: `${name}:1`, port: null, bytes: 0 })
      await runtime.forget('prj_canary')
      expect(await lines(['ps', '-aq', '--filter', `name=${name}`])).toHaveLength(1)
      expect(await lines(['images', '-q', `${name}:1`])).toHaveLength(1)
      expect(await lines(['volume', 'ls', '-q', '--filter', `name=${name}`])).toHaveLength(1)
      expect(await lines(['network', 'ls', '-q', '--filter', `name=${name}`])).toHaveLength(1)
    } finally {
      await command('docker', ['rm', '-f', name])
      await command('docker', ['rmi', `${name}:1`])
      await command('docker', ['volume', 'rm', name])
      await command('docker', ['network', 'rm', name])
    }
  })

  test('a container that is removed behind our back is told as an end', async () => {
    const built = await server(page())
    const { instance, exit } = await startApp(runtime, built)
    await command('docker', ['rm', '-f', instance.id])
    expect(await exit).toMatchObject({ out_of_memory: false })
    await runtime.stop(instance.id, 0)
    await runtime.discard(built.deployment_id, built.artifact)
  })

  test('an app starts although someone pruned the networks', async () => {
    const built = await server(page())
    const first = await startApp(runtime, built)
    await runtime.stop(first.instance.id, 0)
    await first.exit
    const { docker: engine } = viewEngine(options.instance_id)
    for (const name of await lines(['network', 'ls', '-q', ...mine()])) await removeNetwork(engine.getNetwork(name))
    const second = await startApp(runtime, built)
    expect(await answerOf(second.instance)).toBe('ok')
    await runtime.stop(second.instance.id, 0)
    await runtime.discard(built.deployment_id, built.artifact)
  })

  test('pnpm, which the base image lacks, is there for install, build and start', async () => {
    const built = await buildApp(runtime, options, {
      files: {
        'package.json': '{"name":"app","dependencies":{"ms":"2.1.3"},"scripts":{"start":"node server.js"}}',
        'server.js': `console.log(require('ms')('1h'))`,
      },
      plan: serverPlan({
        package_manager: { name: 'pnpm', version: '9.15.0' },
        install_command: 'pnpm install',
        build_command: 'pnpm --version',
        start_command: ['pnpm', 'start'],
      }),
    })
    expect(built.log.lines).toContain('9.15.0')
    const { lines: output, exit } = await startApp(runtime, built)
    expect(await exit).toMatchObject({ code: 0 })
    expect(output.at(-1)).toBe('3600000')
    await runtime.discard(built.deployment_id, built.artifact)
  })

  test('an engine that goes away and comes back: output and end are told all the same', async () => {
    const gate = await createGate(dockerSocket)
    const own = createRuntimes({ ...options, docker: { candidates: [gate.address] } }).docker
    const built = await buildApp(own, options, {
      files: {
        'server.js': `let n = 0; setInterval(() => console.log(n++), 20); process.on('SIGTERM', () => process.exit(4))`,
        'package.json': '{}',
      },
      plan: serverPlan(),
    })
    const { instance, lines: output, exit } = await startApp(own, built)
    await eventually(() => expect(output).toContain('5'))
    await gate.shut()
    expect(await own.probe()).toMatchObject({ available: false })
    const failed = await buildApp(own, options, { files: { a: 'b' }, plan: serverPlan() }).catch((error: unknown) => error)
    expect(failed).toMatchObject({ code: 'runtime_unavailable' })
    await gate.open()
    await eventually(async () => expect(await own.probe()).toMatchObject({ available: true }))
    await own.stop(instance.id, 30_000)
    expect(await exit).toMatchObject({ code: 4 })
    expect(output).toEqual(output.map((_, n) => String(n)))
    await own.discard(built.deployment_id, built.artifact)
    await own.close()
    await gate.close()
  })

  describe('a Dockerfile of the user’s own', () => {
    const dockerfile = (
      text: string,
      files: Record<string, string> = {},
      more: { signal?: AbortSignal; log?: RecordedLog; deployment_id?: string; variables?: Record<string, string> } = {},
    ) =>
      buildApp(runtime, options, {
        files: { Dockerfile: text, ...files },
        plan: {
          framework: 'dockerfile',
          explanation: [],
          work: { kind: 'dockerfile', context_directory: '.', dockerfile: 'Dockerfile', port: null },
        },
        ...more,
      })

    test('is built as it is, but for the choice of another frontend; what .dockerignore names stays out', async () => {
      const built = await dockerfile(
        `# syntax=example.invalid/evil:1\nFROM node:24-bookworm-slim\nWORKDIR /srv\nCOPY . .\nRUN npm install \\\n  && echo finished\nEXPOSE 3456\nCMD ["node", "server.js"]\n`,
        {
          '.dockerignore': '*.pem\n!keep.pem\n',
          'key.pem': 'x',
          'keep.pem': 'y',
          'package.json': '{"dependencies":{"ms":"2.1.3"}}',
          'server.js': page(`r.write(require('fs').readdirSync('.').filter((name) => name.endsWith('.pem')) + ' ' + require('ms')(1000) + ' ')`),
        },
        { variables: { API_KEY: 'HPSENT_dockerfile' } },
      )
      expect(built.artifact).toMatchObject({ kind: 'image', port: 3456 })
      expect(built.log.lines.join('\n')).toMatch(/finished/)
      expect(built.log.lines.join('\n')).not.toMatch(/homeport-\S*host-files/)
      const { instance, exit } = await startApp(runtime, built)
      expect(instance.port).toBe(3456)
      expect(await answerOf(instance)).toBe('keep.pem 1s ok')
      await runtime.stop(instance.id, 1_000)
      await exit
      expect(await dockerDriver.search(built.artifact, ['HPSENT_dockerfile', caMark])).toEqual([])
      expect(
        (await command('docker', ['history', '--no-trunc', built.artifact.kind === 'image' ? built.artifact.image : ''])).includes('example.invalid'),
      ).toBe(false)
      await runtime.discard(built.deployment_id, built.artifact)
      expect(await dockerDriver.leftovers(options, built.deployment_id)).toEqual([])
      expect(await lines(['images', '-q', '--filter', 'label=homeport.role=build', ...mine()])).toEqual([])
    })

    test('that fails says which step and why, and leaves nothing', async () => {
      const deployment_id = newId('dpl')
      const failed = await dockerfile('FROM node:24-bookworm-slim\nRUN echo going; exit 6\n', {}, { deployment_id }).catch((error: unknown) => error)
      expect(failed).toMatchObject({ code: 'build_failed', message: expect.stringMatching(/6/) })
      expect(await dockerDriver.leftovers(options, deployment_id)).toEqual([])
    })

    test('that is aborted ends within 2 s and leaves nothing', async () => {
      const abort = new AbortController()
      const begun = Promise.withResolvers<void>()
      const deployment_id = newId('dpl')
      const log = recordLog((line) => line.includes('sleep 333') && begun.resolve())
      const job = dockerfile('FROM node:24-bookworm-slim\nRUN sleep 333\n', {}, { deployment_id, log, signal: abort.signal })
      await Promise.race([begun.promise, job])
      const took = await spent(async () => {
        abort.abort()
        await expect(job).rejects.toMatchObject({ name: 'AbortError' })
      })
      expect(took).toBeLessThan(2_000)
      expect(await dockerDriver.leftovers(options, deployment_id)).toEqual([])
      await eventually(async () => expect(await command('ps', ['-eo', 'args'])).not.toMatch(/^sleep 333$/m))
    })
  })

  test('certificates of the host are in no image', async () => {
    const built = await server('', { install_command: 'test -s $NODE_EXTRA_CA_CERTS', build_command: 'test -s $NODE_EXTRA_CA_CERTS' })
    expect(await dockerDriver.search(built.artifact, [caMark])).toEqual([])
    const files = await command('docker', [
      'run',
      '--rm',
      '--entrypoint',
      'sh',
      built.artifact.kind === 'image' ? built.artifact.image : '',
      '-c',
      'ls -A /run /home/node /dev/shm; env | cut -d= -f1',
    ])
    expect(files).not.toMatch(/homeport|NODE_EXTRA_CA_CERTS/)
    await runtime.discard(built.deployment_id, built.artifact)
  })

  test('a link out of the source is refused', async () => {
    const folder = await sourceOf(options, { 'package.json': '{}' })
    await symlink('/etc', join(folder, 'etc'))
    const build = runtime.build({
      project_id: newId('prj'),
      deployment_id: newId('dpl'),
      folder,
      plan: serverPlan(),
      variables: {},
      memory_mb: 256,
      cpus: 1,
      log: recordLog(),
      signal: AbortSignal.timeout(30_000),
    })
    await expect(build).rejects.toMatchObject({ code: 'build_failed', message: expect.stringContaining('etc') })
  })
})

interface Inspected {
  HostConfig: { NanoCpus: number; PortBindings: Record<string, unknown> | null }
  Mounts: unknown[]
  Config: { User: string }
}
