import { spawn } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newId } from '../../server/lib/id.ts'
import { createRuntimes } from '../../server/runtime/index.ts'
import type { Runtime } from '../../server/runtime/runtime.ts'
import { processesIn } from '../support/folder-processes.ts'
import { buildApp, entriesOf, eventually, filesWith, recordLog, runtimeOptions, serverPlan, startApp, staticPlan } from '../support/runtime.ts'
import { runtimeSuite } from './suite.ts'

describe('process runtime', { timeout: 60_000 }, () => {
  runtimeSuite({
    create: (options) => createRuntimes(options).process,
    async leftovers(options, id) {
      const folders = ['bundles', 'work', 'cache/dependencies', 'cache/frameworks']
      const found = await Promise.all(
        folders.map(async (folder) => (await entriesOf(join(options.data_dir, folder))).filter((name) => name.startsWith(id))),
      )
      return found.flat()
    },
    search: async (artifact, texts) =>
      artifact.kind === 'image' ? [] : (await Promise.all(texts.map((text) => filesWith(text, artifact.directory)))).flat(),
    async cleanUp(_options, runtime) {
      for (const found of await runtime.list()) await runtime.stop(found.id, 0)
    },
  })
})

describe('process runtime, its own ways', { timeout: 120_000 }, () => {
  let options: Awaited<ReturnType<typeof runtimeOptions>>
  let runtime: Runtime
  beforeAll(async () => {
    options = await runtimeOptions()
    runtime = createRuntimes(options).process
  })
  afterAll(async () => {
    for (const found of await runtime.list()) await runtime.stop(found.id, 0)
    await runtime.close()
    await options.remove()
  })
  const isAlive = (pid: number) => {
    try {
      return process.kill(pid, 0)
    } catch {
      return false
    }
  }

  test('an app sees nothing of the host’s environment, and has a home of its own', async () => {
    process.env.HOST_SECRET = 'not for apps'
    const built = await buildApp(runtime, options, {
      files: { 'server.js': 'console.log(JSON.stringify(process.env))' },
      plan: serverPlan({ build_command: 'test -z "$HOST_SECRET" && test -d "$HOME" && test -d "$TMPDIR"' }),
    })
    delete process.env.HOST_SECRET
    const { lines, exit } = await startApp(runtime, built, { variables: { OWN: 'x', NODE_OPTIONS: '--no-warnings' } })
    await exit
    const seen = JSON.parse(lines[0]!) as Record<string, string>
    expect(Object.keys(seen).toSorted()).toEqual([
      'HOME',
      'HOST',
      'LANG',
      'NODE_ENV',
      'NODE_OPTIONS',
      'OWN',
      'PATH',
      'PORT',
      'TMPDIR',
      'npm_config_update_notifier',
    ])
    expect(seen).toMatchObject({ HOST: '0.0.0.0', NODE_ENV: 'production', NODE_OPTIONS: expect.stringContaining('--no-warnings') })
    for (const folder of [seen.HOME!, seen.TMPDIR!]) expect(folder.startsWith(join(options.data_dir, 'bundles', built.deployment_id))).toBe(true)
    await runtime.discard(built.deployment_id, built.artifact)
  })

  test('what an app began ends with it, also what left its group', async () => {
    const script = `const { spawn } = require('child_process')
      const far = spawn('sleep', ['1000'], { detached: true, stdio: 'ignore' })
      const near = spawn('sleep', ['1000'], { stdio: 'inherit' })
      console.log(far.pid + ' ' + near.pid); process.on('SIGTERM', () => {})`
    const built = await buildApp(runtime, options, { files: { 'server.js': script }, plan: serverPlan() })
    const { instance, lines, exit } = await startApp(runtime, built)
    await eventually(() => expect(lines).toHaveLength(1))
    const pids = lines[0]!.split(' ').map(Number)
    await runtime.stop(instance.id, 300)
    await exit
    await eventually(() => expect(pids.filter(isAlive)).toEqual([]))
    await runtime.discard(built.deployment_id, built.artifact)
  })

  test('a fork bomb in a build is ended, and it is said why', async () => {
    const failed = await buildApp(runtime, options, {
      files: { 'a.sh': 'for i in $(seq 2000); do sleep 100 & done; wait' },
      plan: serverPlan({ build_command: 'sh a.sh' }),
    }).catch((error: unknown) => error)
    expect(failed).toMatchObject({ code: 'build_failed', message: expect.stringContaining('512 processes') })
    // So many take a moment to die; those that have not yet would be found as leftovers of another run.
    await eventually(() => expect(processesIn(options.data_dir)).toEqual([]))
  })

  test('a record of a process whose number was given to another one stops nobody', async () => {
    const stranger = spawn('sleep', ['1000'], { detached: true, stdio: 'ignore' })
    try {
      await mkdir(join(options.data_dir, 'processes'), { recursive: true })
      const record = { id: 'proc_old', project_id: 'prj_1', deployment_id: 'dpl_1', pid: stranger.pid, started: '1' }
      await writeFile(join(options.data_dir, 'processes', 'proc_old.json'), JSON.stringify(record))
      expect(await runtime.list()).toMatchObject([{ id: 'proc_old', running: false, adoptable: false }])
      await runtime.stop('proc_old', 0)
      expect(await runtime.list()).toEqual([])
      expect(isAlive(stranger.pid!)).toBe(true)
    } finally {
      stranger.kill('SIGKILL')
    }
  })

  test('a build that a dead platform left running ends when its deployment is discarded', async () => {
    const log = recordLog()
    const deployment_id = newId('dpl')
    const job = buildApp(runtime, options, {
      deployment_id,
      log,
      files: { a: 'b' },
      plan: serverPlan({ build_command: 'echo $$; sleep 1000' }),
    }).catch((error: unknown) => error)
    await eventually(() => expect(log.lines).toHaveLength(2))
    await eventually(async () => expect(await entriesOf(join(options.data_dir, 'processes'))).toHaveLength(1))
    const next = createRuntimes(options).process
    expect(await next.list()).toEqual([])
    await next.discard(deployment_id, null)
    expect(await job).toMatchObject({ code: 'build_failed', message: expect.stringContaining('SIGKILL') })
    expect(isAlive(Number(log.lines[1]))).toBe(false)
    await next.close()
  })

  test('a Dockerfile needs Docker, and the hint says so', async () => {
    const plan = {
      framework: 'dockerfile',
      explanation: [],
      work: { kind: 'dockerfile' as const, context_directory: '.', dockerfile: 'Dockerfile', port: null },
    }
    await expect(buildApp(runtime, options, { files: { Dockerfile: 'FROM scratch' }, plan })).rejects.toMatchObject({
      code: 'runtime_unavailable',
      hint: expect.stringContaining('Docker'),
    })
  })

  test('a link that leads out of the source is never served', async () => {
    const build = (build_command: string | null, files: Record<string, string>) =>
      buildApp(runtime, options, { files, plan: staticPlan({ build_command, output_directory: 'dist' }) })
    await expect(build('ln -s /etc dist', { a: 'b' })).rejects.toMatchObject({ code: 'build_failed', message: expect.stringContaining('dist') })
  })

  test('folders that a framework keeps come back in the next build of the project', async () => {
    const project_id = newId('prj')
    const plan = () =>
      serverPlan({
        build_command: 'cat .next/cache/n 2>/dev/null || echo none; mkdir -p .next/cache; echo kept > .next/cache/n',
        cache_directories: ['.next/cache'],
      })
    const first = await buildApp(runtime, options, { project_id, files: { a: 'b' }, plan: plan() })
    const second = await buildApp(runtime, options, { project_id, files: { a: 'b' }, plan: plan() })
    expect([first, second].map((built) => built.log.lines.at(-1))).toEqual(['none', 'kept'])
    await runtime.forget(project_id)
    for (const built of [first, second]) await runtime.discard(built.deployment_id, built.artifact)
  })

  test.each([
    ['22', null, /^v22\./],
    ['24', { name: 'pnpm' as const, version: '9' }, /^9\./],
    ['24', { name: 'yarn' as const, version: '1.22.22' }, /^1\.22\./],
    ['24', { name: 'yarn' as const, version: '4' }, /^4\./],
    ['24', { name: 'npm' as const, version: '10' }, /^10\./],
  ])('Node %s with %j is installed once, for builds and apps', async (node_version, package_manager, expected) => {
    const install_command = package_manager ? `${package_manager.name} --version` : 'node --version'
    const files = { 'package.json': '{"name":"app"}', 'server.js': 'console.log(process.version)' }
    const [built] = await Promise.all(
      [1, 2].map(() =>
        buildApp(runtime, options, { files, plan: serverPlan({ node_version, package_manager, install_command, install_inputs: [] }) }),
      ),
    )
    expect(built!.log.lines.at(-1)).toMatch(expected)
    const { lines, exit } = await startApp(runtime, built!)
    await exit
    expect(lines[0]).toMatch(new RegExp(`^v${node_version}\\.`))
    expect((await entriesOf(join(options.data_dir, 'toolchains'))).filter((name) => name.startsWith('.half-'))).toEqual([])
  })

  test('a version of Node that there is not is named', async () => {
    await expect(buildApp(runtime, options, { files: { a: 'b' }, plan: serverPlan({ node_version: '4711' }) })).rejects.toMatchObject({
      code: 'install_failed',
      message: expect.stringContaining('Node 4711'),
    })
  })

  test('registry settings of the host reach the install and are not in the bundle', async () => {
    const file = join(options.data_dir, 'settings')
    await writeFile(file, '//registry.example.invalid/:_authToken=HPSENT_npmrc\n')
    const own = createRuntimes({ ...options, npmrc_file: file }).process
    const built = await buildApp(own, options, {
      files: { 'package.json': '{}' },
      plan: serverPlan({ install_command: 'grep -c HPSENT_npmrc "$npm_config_userconfig" "$HOME/.npmrc"' }),
    })
    expect(built.log.lines.filter((line) => line.endsWith(':1'))).toHaveLength(2)
    expect(await filesWith('HPSENT_npmrc', join(options.data_dir, 'bundles'))).toEqual([])
    expect(await filesWith('HPSENT_npmrc', join(options.data_dir, 'work'))).toEqual([])
    await own.close()
  })
})
