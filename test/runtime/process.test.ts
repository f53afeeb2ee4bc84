import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { newId } from '../../server/lib/id.ts'
import { createRuntimes } from '../../server/runtime/index.ts'
import { fullTest } from '../support/full-test.ts'
import { startPackageRegistry } from '../support/package-registry.ts'
import { findProcessesIn } from '../support/folder-processes.ts'
import { isProcessRunning } from '../support/processes.ts'
import {
  buildApp,
  listEntries,
  eventually,
  findFilesContaining,
  createRecordedLog,
  dockerfilePlan,
  serverPlan,
  staticPlan,
} from '../support/runtime.ts'
import { processDriver } from './process-driver.ts'
import { runtimeSuite } from './suite.ts'

describe('process runtime', () => {
  const suite = runtimeSuite(processDriver)

  test('an app and its build get nothing of the host’s environment; an app has its own home folder', async () => {
    process.env.HOST_SECRET = 'not for apps'
    try {
      const plan = serverPlan({ build_command: 'test -z "$HOST_SECRET" && test -d "$HOME" && test -d "$TMPDIR" && test -z "$npm_config_store_dir"' })
      await suite.build({ files: { a: 'b' }, plan })
      const { lines, exit } = await suite.run('console.log(JSON.stringify(process.env))', { variables: { NODE_OPTIONS: '--no-warnings' } })
      await exit
      const seen = JSON.parse(lines[0]!) as Record<string, string>
      const names = ['HOME', 'HOST', 'LANG', 'NODE_ENV', 'NODE_OPTIONS', 'PATH', 'PORT', 'SCRIPT', 'TMPDIR', 'npm_config_update_notifier']
      // A sandbox sets PWD to the app's folder.
      expect(
        Object.keys(seen)
          .filter((name) => name !== 'PWD')
          .toSorted(),
      ).toEqual(names)
      expect(seen).toMatchObject({ HOST: '127.0.0.1', NODE_ENV: 'production', NODE_OPTIONS: expect.stringContaining('--no-warnings') })
      const own = join(suite.options.data_dir, 'bundles', suite.app.deployment_id)
      for (const folder of [seen.HOME!, seen.TMPDIR!]) expect(folder.startsWith(own)).toBe(true)
    } finally {
      delete process.env.HOST_SECRET
    }
  })

  test('a new platform removes what a killed one left incomplete or half removed, and nothing else', async () => {
    const dataDir = await mkdtemp(join(suite.options.data_dir, 'killed-'))
    const left = ['toolchains/.half-1', 'volumes/.removed-1', 'cache/dependencies/prj_a/.half-1', 'cache/frameworks/prj_a/.half-1']
    const kept = [
      'toolchains/node-22',
      'volumes/prj_a.data',
      'volumes/.prj_a.data.part',
      'cache/dependencies/prj_a/key',
      'cache/frameworks/prj_a/.next',
    ]
    for (const path of [...left, ...kept]) await mkdir(join(dataDir, path, 'files'), { recursive: true })
    void createRuntimes({ ...suite.options, data_dir: dataDir })
    await eventually(() => expect(left.filter((path) => existsSync(join(dataDir, path)))).toEqual([]))
    expect(kept.filter((path) => existsSync(join(dataDir, path, 'files')))).toEqual(kept)
  })

  test('processes started by an app end with it, even those that left its group', async () => {
    const { lines, stop } = await suite.run(`const { spawn } = require('child_process')
      const far = spawn('sleep', ['1000'], { detached: true, stdio: 'ignore' })
      const near = spawn('sleep', ['1000'], { stdio: 'inherit' })
      console.log(far.pid + ' ' + near.pid)`)
    const sleepers = () => findProcessesIn(suite.options.data_dir).filter(({ command }) => command === 'sleep 1000')
    await eventually(() => expect([lines.length, sleepers().length]).toEqual([1, 2]))
    await stop(60_000)
    await eventually(() => expect(sleepers()).toEqual([]))
  })

  test('a stale process record whose PID was reused stops no process', async () => {
    const { runtime, options } = suite
    const stranger = spawn('sleep', ['1000'], { detached: true, stdio: 'ignore' })
    try {
      await mkdir(join(options.data_dir, 'processes'), { recursive: true })
      const record = { id: 'proc_old', project_id: 'prj_1', deployment_id: 'dpl_1', pid: stranger.pid, started: '1' }
      await writeFile(join(options.data_dir, 'processes', 'proc_old.json'), JSON.stringify(record))
      expect(await runtime.list()).toMatchObject([{ id: 'proc_old', running: false, adoptable: false }])
      await runtime.stop('proc_old', 0)
      expect(await runtime.list()).toEqual([])
      expect(isProcessRunning(stranger.pid!)).toBe(true)
    } finally {
      stranger.kill('SIGKILL')
    }
  })

  test('a build left running by a killed platform ends when its deployment is discarded', async () => {
    const log = createRecordedLog()
    const deployment_id = newId('dpl')
    const plan = serverPlan({ build_command: 'echo begun; sleep 1000' })
    const job = suite.build({ deployment_id, log, files: { a: 'b' }, plan }).catch((error: unknown) => error)
    await eventually(() => expect(log.lines).toHaveLength(2))
    await eventually(async () => expect(await listEntries(join(suite.options.data_dir, 'processes'))).toHaveLength(1))
    const next = createRuntimes(suite.options).process
    expect(await next.list()).toEqual([])
    await next.discard(deployment_id, null)
    expect(await job).toMatchObject({ code: 'build_failed', message: expect.stringContaining('SIGKILL') })
    expect(findProcessesIn(suite.options.data_dir)).toEqual([])
    await next.close()
  })

  test('a Dockerfile requires Docker, and the hint says so', async () => {
    const failed = suite.build({ files: { Dockerfile: 'FROM scratch' }, plan: dockerfilePlan })
    await expect(failed).rejects.toMatchObject({ code: 'runtime_unavailable', hint: expect.stringContaining('Docker') })
  })

  test('a symlink out of the source is never served', async () => {
    const failed = suite.build({ files: { a: 'b' }, plan: staticPlan({ build_command: 'ln -s /etc dist', output_directory: 'dist' }) })
    await expect(failed).rejects.toMatchObject({ code: 'build_failed', message: expect.stringContaining('dist') })
  })

  test('folders that a framework caches are restored in the next build of the project', async () => {
    const project_id = newId('prj')
    const plan = serverPlan({
      build_command: 'cat .next/cache/n 2>/dev/null || echo none; mkdir -p .next/cache; echo kept > .next/cache/n',
      cache_directories: ['.next/cache'],
    })
    const build = () => suite.build({ project_id, files: { a: 'b' }, plan })
    const builds = [await build(), await build()]
    expect(builds.map(({ log }) => log.lines.at(-1))).toEqual(['none', 'kept'])
    await suite.runtime.removeProjectCaches(project_id)
    expect(await processDriver.leftovers(suite.options, project_id)).toEqual([])
  })

  fullTest('a package manager and a Node version are installed once from the host’s configured registry, and no bundle contains them', async () => {
    const registry = await startPackageRegistry({ pnpm: { version: '9.9.9', files: { 'bin/pnpm.cjs': `console.log('pnpm by registry')` } } })
    const npmrc_file = join(suite.options.data_dir, 'settings')
    await writeFile(npmrc_file, `registry=${registry.url}\nfetch-retries=0\n//registry.example.invalid/:_authToken=HPSENT_npmrc\n`)
    const own = createRuntimes({ ...suite.options, npmrc_file }).process
    const build = (more: Parameters<typeof serverPlan>[0]) =>
      buildApp(own, suite.options, { files: { 'package.json': '{}' }, plan: serverPlan(more) })
    const install_command =
      'pnpm --version && test -n "$PNPM_HOME" && test -z "$npm_config_store_dir" && grep -c HPSENT_npmrc "$npm_config_userconfig" "$HOME/.npmrc"'
    const plan = { package_manager: { name: 'pnpm' as const, version: '9' }, install_command }
    for (const { log } of await Promise.all([build(plan), build(plan)])) {
      expect(log.lines).toContain('pnpm by registry')
      expect(log.lines.filter((line) => line.endsWith(':1'))).toHaveLength(2)
    }
    expect(registry.downloads).toEqual(['pnpm'])
    const unknown = { code: 'install_failed', message: 'Node 4711 does not exist in the npm registry, or requires signing in.' }
    await expect(build({ node_version: '4711' })).rejects.toMatchObject(unknown)
    await expect(build({ package_manager: { name: 'pnpm', version: '8.1.0' } })).rejects.toMatchObject({
      hint: expect.stringMatching(/ is 9\.9\.9\.$/),
    })
    expect((await listEntries(join(suite.options.data_dir, 'toolchains'))).filter((name) => name.startsWith('.half-'))).toEqual([])
    for (const folder of ['bundles', 'work']) expect(await findFilesContaining('HPSENT_npmrc', join(suite.options.data_dir, folder))).toEqual([])
    await registry.close()
    await expect(build({ node_version: '4711' })).rejects.toMatchObject({
      message: expect.stringMatching(/^Node 4711 is not on this machine, and the npm registry could not be reached \(ECONNREFUSED\)\.$/),
      hint: expect.stringMatching(/The nearest version on this machine is \d+\.\d+\.\d+\.$/),
    })
    await own.close()
  })
})
