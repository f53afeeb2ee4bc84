import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { pack } from 'tar-stream'
import { describe, expect, test } from 'vitest'
import { fullTest } from '../support/full-test.ts'
import { newId } from '../../server/lib/id.ts'
import { createRuntimes } from '../../server/runtime/index.ts'
import { removeNetwork, createDockerView } from '../support/docker.ts'
import { createDockerFaultProxy } from '../support/docker-fault-proxy.ts'
import { dockerSocket, requires } from '../support/requirements.ts'
import {
  waitForResponse,
  buildApp,
  runProgram,
  eventually,
  createRecordedLog,
  dockerfilePlan,
  serverPlan,
  writeSource,
  startApp,
  type BuildOptions,
} from '../support/runtime.ts'
import { isFullTier } from '../support/tier.ts'
import { dockerDriver, dockerLines } from './docker-driver.ts'
import { serviceNetworkTests } from './suite-services.ts'
import { certificateMark, hello } from './suite-context.ts'
import { runtimeSuite } from './suite.ts'

describe.skipIf(!requires('docker').ok)('docker runtime', () => {
  const suite = runtimeSuite(dockerDriver)
  serviceNetworkTests(suite)
  const mine = () => ['--filter', `label=homeport.instance=${suite.options.instance_id}`]

  test('an app is isolated: no capabilities, no new privileges, no mounts, limits for memory, CPU and processes', async () => {
    const { instance, stop } = await suite.run(hello, { memory_mb: 128, cpus: 0.5 })
    const [{ HostConfig, Mounts, Config }] = JSON.parse(await runProgram('docker', ['inspect', instance.id])) as [Inspected]
    expect(HostConfig).toMatchObject({
      Memory: 128 * 1024 * 1024,
      MemorySwap: 128 * 1024 * 1024,
      NanoCpus: 5e8,
      PidsLimit: 256,
      CapDrop: ['ALL'],
      SecurityOpt: ['no-new-privileges'],
      Privileged: false,
      Binds: null,
      Init: true,
      RestartPolicy: { Name: 'no' },
    })
    expect(Object.values(HostConfig.PortBindings ?? {})).toEqual([])
    expect(Mounts).toEqual([])
    expect(Config.User).toBe('1000:1000')
    await stop()
  })

  test('apps cannot reach each other; a container removed externally is reported as ended', async () => {
    const { instance, exit } = await suite.run(hello)
    await waitForResponse(instance)
    const spy = await suite.run(
      `require('http').get('http://${instance.host}:${instance.port}/', { timeout: 1000 }, () => console.log('reached')).on('timeout', () => { console.log('shut'); process.exit() }).on('error', () => { console.log('shut'); process.exit() })`,
    )
    await spy.exit
    expect(spy.lines).toEqual(['shut'])
    await runProgram('docker', ['rm', '-f', instance.id])
    expect(await exit).toMatchObject({ out_of_memory: false })
    await suite.runtime.stop(instance.id, 0)
  })

  test('a volume that a killed platform was reading can be replaced; one that is being read cannot', async () => {
    const { runtime, options } = suite
    const id = `${newId('prj')}.files`
    const archive = () => {
      const empty = pack()
      empty.finalize()
      return Readable.from(empty, { objectMode: false })
    }
    const replace = () => runtime.importVolume(id, newId('prj'), archive())
    await replace()
    const volume = (await runProgram('docker', ['volume', 'ls', '--quiet', '--filter', `label=homeport.volume=${id}`])).trim()
    const labels = [`homeport.instance=${options.instance_id}`, 'homeport.role=build', `homeport.opens=${id}`, 'homeport.run=an-earlier-one']
    const left = (
      await runProgram('docker', [
        'create',
        ...labels.flatMap((label) => ['--label', label]),
        '--mount',
        `type=volume,source=${volume},target=/volume`,
        'node:24-bookworm-slim',
      ])
    ).trim()
    await replace()
    expect(await runProgram('docker', ['ps', '--all', '--quiet', '--no-trunc'])).not.toContain(left)
    const reading = (await runtime.exportVolume(id))!
    await expect(replace()).rejects.toThrow('A container uses the volume.')
    await buffer(reading)
    await replace()
    await runtime.removeVolumes(`${id.split('.')[0]}.`)
  })

  test('foreign objects are never touched', async () => {
    const { runtime, options } = suite
    const name = `canary-${options.instance_id}`
    const labels = ['homeport.instance=someone-else', 'homeport.deployment=dpl_canary', 'homeport.role=app'].flatMap((label) => ['--label', label])
    await runProgram('docker', ['volume', 'create', name])
    await runProgram('docker', ['network', 'create', '--subnet', '10.214.0.0/28', name])
    await runProgram('docker', ['tag', 'node:24-bookworm-slim', `${name}:1`])
    await runProgram('docker', ['create', '--name', name, ...labels, `${name}:1`])
    try {
      expect(await runtime.list()).toEqual([])
      const id = (await runProgram('docker', ['inspect', '-f', '{{.Id}}', name])).trim()
      await runtime.stop(id, 0)
      await runtime.discard('dpl_canary', { kind: 'image', image: `${name}:1`, port: null, bytes: 0 })
      await runtime.removeProjectCaches('prj_canary')
      expect(await dockerLines(['ps', '-aq', '--filter', `name=${name}`])).toHaveLength(1)
      expect(await dockerLines(['images', '-q', `${name}:1`])).toHaveLength(1)
      expect(await dockerLines(['volume', 'ls', '-q', '--filter', `name=${name}`])).toHaveLength(1)
      expect(await dockerLines(['network', 'ls', '-q', '--filter', `name=${name}`])).toHaveLength(1)
    } finally {
      await runProgram('docker', ['rm', '-f', name])
      await runProgram('docker', ['rmi', `${name}:1`])
      await runProgram('docker', ['volume', 'rm', name])
      await runProgram('docker', ['network', 'rm', name])
    }
  })

  fullTest('an app starts although the networks were pruned', async () => {
    const { docker } = createDockerView(suite.options.instance_id)
    const networks = await dockerLines(['network', 'ls', '-q', ...mine()])
    expect(networks).toHaveLength(1)
    for (const name of networks) await removeNetwork(docker.getNetwork(name))
    const { instance, stop } = await suite.run(hello)
    expect(await waitForResponse(instance)).toBe('hello you')
    await stop()
  })

  test('after an engine outage output and exit are still reported', async () => {
    const faultProxy = createDockerFaultProxy()
    await faultProxy.open()
    const own = createRuntimes({ ...suite.options, docker: { candidates: [faultProxy.address] } }).docker
    const script = `let n = 0; setInterval(() => console.log(n++), 20); process.on('SIGTERM', () => process.exit(4))`
    const { lines, stop } = await startApp(own, suite.app, { variables: { SCRIPT: script } })
    await eventually(() => expect(lines).toContain('5'))
    await faultProxy.close()
    expect(await own.probe()).toMatchObject({ available: false })
    const failed = buildApp(own, suite.options, { files: { a: 'b' }, plan: serverPlan() })
    await expect(failed).rejects.toMatchObject({ code: 'runtime_unavailable' })
    await faultProxy.open()
    await eventually(async () => expect(await own.probe()).toMatchObject({ available: true }))
    expect(await stop(30_000)).toMatchObject({ code: 4 })
    expect(lines).toEqual(lines.map((_, n) => String(n)))
    await own.close()
    await faultProxy.remove()
  })

  describe.concurrent('a user’s Dockerfile', () => {
    const build = (text: string, more: Partial<BuildOptions> = {}) =>
      suite.build({ plan: dockerfilePlan, ...more, files: { Dockerfile: text, ...more.files } })

    test('is built as it is, except for a custom frontend; files in .dockerignore are excluded', async () => {
      const { runtime, options } = suite
      const built = await build(
        `# syntax=example.invalid/evil:1\nFROM node:24-bookworm-slim\nWORKDIR /srv\nCOPY . .\nRUN test -s "$NODE_EXTRA_CA_CERTS" \\\n  && echo finished\nEXPOSE 3456\nCMD ["node", "server.js"]\n`,
        {
          files: {
            '.dockerignore': '*.pem\n!keep.pem\n',
            'key.pem': 'x',
            'keep.pem': 'y',
            'server.js': `require('http').createServer((q, r) => r.end(require('fs').readdirSync('.').join())).listen(process.env.PORT)`,
          },
          variables: { API_KEY: 'HPSENT_dockerfile' },
        },
      )
      expect(built.artifact).toMatchObject({ kind: 'image', port: 3456 })
      expect(built.log.lines.join('\n')).toMatch(/finished/)
      expect(built.log.lines.join('\n')).not.toMatch(/homeport-\S*host-files/)
      const { instance, stop } = await startApp(runtime, built)
      expect(instance.port).toBe(3456)
      expect(await waitForResponse(instance)).toBe('.dockerignore,Dockerfile,keep.pem,server.js')
      await stop()
      expect(await dockerDriver.search(built.artifact, ['HPSENT_dockerfile', certificateMark])).toEqual([])
      const image = built.artifact.kind === 'image' ? built.artifact.image : ''
      expect(await runProgram('docker', ['history', '--no-trunc', image])).not.toContain('example.invalid')
      await runtime.discard(built.deployment_id, built.artifact)
      expect(await dockerDriver.leftovers(options, built.deployment_id)).toEqual([])
    })

    fullTest('with a HEALTHCHECK is checked by it', async () => {
      const program = `require('fs').writeFileSync('/tmp/well', process.env.WELL ?? ''); require('http').createServer().listen(process.env.PORT)`
      const built = await build(
        `FROM node:24-bookworm-slim\nCMD ["node", "-e", "${program.replaceAll('"', '\\"')}"]\nHEALTHCHECK CMD cat /tmp/well && test -s /tmp/well\n`,
      )
      for (const WELL of ['yes', '']) {
        const { instance, stop } = await startApp(suite.runtime, built, { variables: { WELL } })
        if (WELL) await eventually(async () => expect(await instance.runHealthcheck?.()).toEqual({ passed: true, output: 'yes' }))
        else expect(await instance.runHealthcheck?.()).toMatchObject({ passed: false })
        await stop()
      }
      expect(suite.app.artifact.kind).toBe('image')
      const { instance, stop } = await suite.run(hello)
      expect(instance.runHealthcheck).toBeUndefined()
      await stop()
    })

    fullTest('that fails reports the step and the reason, and leaves nothing', async () => {
      const deployment_id = newId('dpl')
      const failed = build('FROM node:24-bookworm-slim\nRUN echo going; exit 6\n', { deployment_id })
      await expect(failed).rejects.toMatchObject({ code: 'build_failed', message: 'Dockerfile, line 2: the step ended with exit code 6.' })
      await expect(build('FROM node:24-bookworm-slim\n\nFOO bar\n')).rejects.toMatchObject({
        code: 'build_failed',
        message: expect.stringMatching(/line 3: .*FOO/),
      })
      expect(await dockerDriver.leftovers(suite.options, deployment_id)).toEqual([])
    })

    test('with an unavailable base image reports its line, the cause and what this machine has', async () => {
      await expect(build('# mine\nFROM node:4711-bookworm-slim\n')).rejects.toMatchObject({
        code: 'build_failed',
        message: expect.stringMatching(
          /^Dockerfile, line 2: the base image node:4711-bookworm-slim .*(?:does not exist|could not be reached|denied access)/,
        ),
        hint: expect.stringMatching(/This machine has node:24-bookworm-slim\.$/),
      })
      await expect(suite.build({ files: { a: 'b' }, plan: serverPlan({ node_version: '4711' }) })).rejects.toMatchObject({
        message: expect.stringMatching(/for Node 4711 .*(?:does not exist|could not be reached|denied access)/),
        hint: expect.stringContaining('The nearest version on this machine is 24'),
      })
    })

    fullTest('is built once more if a cached layer was removed', async () => {
      const faultProxy = createDockerFaultProxy()
      await faultProxy.open()
      const own = createRuntimes({ ...suite.options, ca_file: undefined, docker: { candidates: [faultProxy.address] } }).docker
      faultProxy.failNextBuild('failed to export image: failed to set parent sha256:1: unknown parent image ID sha256:1')
      const Dockerfile = 'FROM node:24-bookworm-slim\nRUN echo built\n'
      const { log } = await buildApp(own, suite.options, { files: { Dockerfile }, plan: dockerfilePlan })
      expect(log.lines.join('\n')).toMatch(/Docker removed a cached layer while this build used it[^]*RUN echo built/)
      await own.close()
      await faultProxy.remove()
    })

    test('gets build secrets in its steps; they are in no layer, no history and no log', async () => {
      const secret = `HPSENT_build_secret ${'x'.repeat(9_000)} "é`
      const Dockerfile = [
        'FROM node:24-bookworm-slim',
        `RUN --mount=type=secret,id=NPM_TOKEN test "$(wc -c < /run/secrets/NPM_TOKEN)" = ${Buffer.byteLength(secret)}`,
        'RUN --mount=type=secret,id=OTHER,target=/tmp/other --mount=type=secret,id=NPM_TOKEN,target=/tmp/token cp /tmp/other /copied-on-purpose',
        'RUN --mount=type=secret,id=UNSET test ! -e /run/secrets/UNSET && test -z "$NPM_TOKEN"',
        'CMD cat /copied-on-purpose; ls -A /run/secrets | wc -l',
      ].join('\n')
      const built = await build(Dockerfile, {
        variables: { NPM_TOKEN: secret, OTHER: 'other\n', UNSET: 'HPSENT_not_marked' },
        build_secrets: { NPM_TOKEN: secret, OTHER: 'other\n' },
      })
      const log = built.log.lines.join('\n')
      expect(log).toContain('mounts the secret UNSET, but the variable UNSET is no build secret')
      expect(log).not.toContain('HPSENT')
      expect(await dockerDriver.search(built.artifact, ['HPSENT_build_secret', 'HPSENT_not_marked'])).toEqual([])
      const image = built.artifact.kind === 'image' ? built.artifact.image : ''
      expect(await runProgram('docker', ['history', '--no-trunc', image])).not.toContain('HPSENT')
      expect(await runProgram('docker', ['inspect', image])).not.toContain('HPSENT')
      const { lines, exit } = await startApp(suite.runtime, built)
      await exit
      expect(lines).toEqual(['other', '0'])
    })

    fullTest('is built by a second attempt of a deployment, which replaces the image of the first', async () => {
      const ids = { project_id: newId('prj'), deployment_id: newId('dpl') }
      const id = async (text: string) => {
        const { artifact } = await build(`FROM node:24-bookworm-slim\nENV TEXT=${text}\nCOPY . .\n`, ids)
        return (await runProgram('docker', ['inspect', '--format', '{{.Id}}', (artifact as { image: string }).image])).trim()
      }
      const first = await id('one')
      expect(await dockerDriver.leftovers(suite.options, ids.deployment_id)).toHaveLength(1)
      const second = await id('two')
      const images = await dockerLines(['images', '--all', '--quiet', '--no-trunc'])
      expect(images).toContain(second)
      expect(images).not.toContain(first)
      await suite.runtime.discard(ids.deployment_id, null)
      expect(await dockerDriver.leftovers(suite.options, ids.deployment_id)).toEqual([])
    })

    fullTest('whose build is aborted leaves nothing', async () => {
      const abort = new AbortController()
      const begun = Promise.withResolvers<void>()
      const deployment_id = newId('dpl')
      const log = createRecordedLog((line) => line.includes('sleep 333') && begun.resolve())
      const job = build('FROM node:24-bookworm-slim\nRUN sleep 333\n', { deployment_id, log, signal: abort.signal })
      await Promise.race([begun.promise, job])
      abort.abort()
      await expect(job).rejects.toMatchObject({ name: 'AbortError' })
      expect(await dockerDriver.leftovers(suite.options, deployment_id)).toEqual([])
      await eventually(async () => expect(await runProgram('ps', ['-eo', 'args'])).not.toMatch(/^sleep 333$/m))
    })
    if (!isFullTier) return

    test('is held to a CPU limit like a generated one; the log says where BuildKit cannot', async () => {
      const own = createRuntimes({ ...suite.options, ca_file: undefined, docker: { candidates: [`unix://${dockerSocket}`] } }).docker
      const readQuota = 'cat /sys/fs/cgroup/cpu/cpu.cfs_quota_us 2>/dev/null || cat /sys/fs/cgroup/cpu.max'
      const buildLog = async (text: string, files: Record<string, string> = {}) =>
        (await buildApp(own, suite.options, { files: { Dockerfile: text, ...files }, plan: dockerfilePlan, cpus: 0.5 })).log.lines.join('\n')
      // No step is cached by another run.
      const from = `FROM node:24-bookworm-slim\nENV RUN=${newId('dpl')}\n`
      expect(await buildLog(`${from}RUN ${readQuota}\n`)).toMatch(/^50000( 100000)?$/m)
      // Two busy threads, and their share of a core.
      const burn = 'const until = Date.now() + 2000; while (Date.now() < until);'
      const script = `const { Worker } = require('worker_threads'); for (const _ of [1, 2]) new Worker('${burn}', { eval: true }); const begun = performance.now(); process.on('exit', () => { const { user, system } = process.cpuUsage(); console.log('share ' + (user + system) / 1000 / (performance.now() - begun)) })`
      const burned = await buildLog(`${from}COPY burn.js /\nRUN --mount=type=tmpfs,target=/x node /burn.js\n`, { 'burn.js': script })
      const [major = 0] = (await runProgram('docker', ['version', '--format', '{{.Server.Version}}'])).split('.').map(Number)
      if (major >= 23) expect(Number(/share ([\d.]+)/.exec(burned)?.[1])).toBeLessThan(0.75)
      expect(burned.includes('The CPU limit does not apply to this build')).toBe(major < 23)
      const { log } = await buildApp(own, suite.options, { files: { 'server.js': hello }, plan: serverPlan({ build_command: readQuota }), cpus: 0.5 })
      expect(log.lines.join('\n')).toMatch(/^50000( 100000)?$/m)
      await own.close()
    })

    test.each([
      ['the classic builder', ''],
      ['BuildKit', '--mount=type=tmpfs,target=/x '],
    ])('is rebuilt by %s without cache, and after the cache was cleared', async (_name, mount) => {
      const own = createRuntimes({ ...suite.options, ca_file: undefined }).docker
      const project_id = newId('prj')
      const Dockerfile = `FROM node:24-bookworm-slim AS one\nRUN ${mount}cat /proc/sys/kernel/random/uuid > /made\nFROM one\nRUN ${mount}exit 0\nCMD cat /made\n`
      const made = async (skips_cache = false) => {
        const built = await buildApp(own, suite.options, { files: { Dockerfile }, plan: dockerfilePlan, project_id, skips_cache })
        const { lines, exit } = await startApp(own, built)
        await exit
        return lines[0]
      }
      const values = [await made(), await made(), await made(true), await made()]
      await own.clearBuildCache(project_id)
      values.push(await made(), await made())
      const [first, fresh, last] = [...new Set(values)]
      expect(values).toEqual([first, first, fresh, fresh, last, last])
      await own.close()
    })
  })

  test('intermediate images of a Dockerfile build are removed', async () => {
    expect(await dockerLines(['images', '-q', '--filter', 'label=homeport.role=build', ...mine()])).toEqual([])
  })

  test('a symlink out of the source is refused', async () => {
    const folder = await writeSource(suite.options, { 'package.json': '{}' })
    await symlink('/etc', join(folder, 'etc'))
    const refused = { code: 'build_failed', message: expect.stringContaining('etc') }
    await expect(suite.build({ folder, plan: serverPlan() })).rejects.toMatchObject(refused)
  })
})

interface Inspected {
  HostConfig: { PortBindings: Record<string, unknown> | null }
  Mounts: unknown[]
  Config: { User: string }
}
