import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { newId } from '../../server/lib/id.ts'
import { BuildFailure, type Artifact, type Runtime, type RuntimeOptions } from '../../server/runtime/runtime.ts'
import { type buildApp, recordLog, serverPlan, startApp, staticPlan } from '../support/runtime.ts'
import { spent } from '../support/spent.ts'

export interface Driver {
  create(options: RuntimeOptions): Runtime
  /** What a deployment left on this machine: folders, processes, containers, images. */
  leftovers(options: RuntimeOptions, deploymentId: string): Promise<string[]>
  /** Places of an artifact that hold one of these texts. */
  search(artifact: Artifact, texts: string[]): Promise<string[]>
  cleanUp(options: RuntimeOptions, runtime: Runtime): Promise<void>
}

export const manifest = (more: object = {}) => JSON.stringify({ name: 'app', version: '1.0.0', ...more })

/** Options and runtime are there once the suite has begun. */
interface SuiteContext {
  driver: Driver
  readonly options: RuntimeOptions
  readonly runtime: Runtime
  build(more: Parameters<typeof buildApp>[2]): ReturnType<typeof buildApp>
}

/** The part of the suite that is about builds. */
export function buildTests(suite: SuiteContext): void {
  const { driver, build } = suite
  const failureOf = async (job: Promise<unknown>): Promise<BuildFailure> => {
    const error = await job.then(
      () => new Error('It did not fail.'),
      (reason: unknown) => reason,
    )
    if (!(error instanceof BuildFailure)) throw error
    return error
  }

  test('dependencies are installed once for a key, however many builds ask for them at once', async () => {
    const project_id = newId('prj')
    const files = {
      'package.json': manifest({ dependencies: { ms: '2.1.3' } }),
      'server.js': `console.log(require('ms')('2 days'))`,
      'built.txt': 'no',
    }
    const plan = serverPlan({
      install_command: 'npm install && node -e "console.log(\'really installed\')"',
      build_command: "node -p \"require('ms')('1s')\" > built.txt",
      install_key: 'with-ms',
    })
    const builds = await Promise.all([1, 2, 3, 4].map(() => build({ files, plan, project_id })))
    const installs = builds.filter((built) => built.log.lines.includes('really installed'))
    expect(installs.length).toBeGreaterThan(0)
    for (const built of builds) {
      expect(built.log.steps).toEqual(['install', 'build'])
      const { lines, exit } = await startApp(suite.runtime, built)
      expect(await exit).toEqual({ code: 0, signal: null, out_of_memory: false })
      expect(lines).toEqual(['172800000'])
    }
    const again = await build({ files, plan, project_id })
    expect(again.log.lines).not.toContain('really installed')
    expect(again.log.lines.join('\n')).toMatch(/from the cache/)
    for (const built of [...builds, again]) await suite.runtime.discard(built.deployment_id, built.artifact)
  })

  test('an install that runs scripts of the project sees the whole source, and runs each time', async () => {
    const files = {
      'package.json': manifest({ scripts: { postinstall: 'node make.js' } }),
      'make.js': `console.log('made'); require('fs').writeFileSync('made.txt', 'by postinstall')`,
      'server.js': `console.log(require('fs').readFileSync('made.txt', 'utf8'))`,
    }
    const project_id = newId('prj')
    for (const _ of [1, 2]) {
      const built = await build({
        project_id,
        files,
        plan: serverPlan({ install_command: 'npm install --foreground-scripts', install_key: 'scripts' }),
      })
      expect(built.log.lines).toContain('made')
      const { lines, exit } = await startApp(suite.runtime, built)
      await exit
      expect(lines).toEqual(['by postinstall'])
      await suite.runtime.discard(built.deployment_id, built.artifact)
      expect(await driver.leftovers(suite.options, built.deployment_id)).toEqual([])
    }
  })

  test('a workspace: dependencies at the root, the app in a folder of its own; the same from the cache', async () => {
    const project_id = newId('prj')
    const files = {
      'package.json': manifest({ name: 'root', workspaces: ['packages/*'] }),
      'packages/web/package.json': manifest({ name: 'web', dependencies: { lib: '1.0.0', ms: '2.1.3' } }),
      'packages/web/server.js': `console.log(require('lib') + ' ' + require('ms')('1m'))`,
      'packages/lib/package.json': manifest({ name: 'lib', main: 'lib.js' }),
      'packages/lib/lib.js': `module.exports = 'from lib'`,
    }
    const plan = serverPlan({
      install_command: 'npm install',
      install_key: 'workspace',
      install_inputs: Object.keys(files).filter((path) => path.endsWith('package.json')),
      app_directory: 'packages/web',
    })
    for (const cached of [false, true]) {
      const built = await build({ project_id, files, plan })
      expect(/from the cache/.test(built.log.lines.join('\n'))).toBe(cached)
      const { lines, exit } = await startApp(suite.runtime, built)
      await exit
      expect(lines).toEqual(['from lib 60000'])
      await suite.runtime.discard(built.deployment_id, built.artifact)
    }
  })

  test('a static site: only its output is left, to be served from a folder', async () => {
    const { artifact, deployment_id } = await build({
      files: {
        'make.js': `const fs = require('fs'); fs.mkdirSync('dist/deep', {recursive: true}); fs.writeFileSync('dist/index.html', '<h1>made</h1>'); fs.writeFileSync('dist/deep/a b.txt', 'é'); fs.symlinkSync('/etc/passwd', 'dist/out')`,
      },
      plan: staticPlan({ build_command: 'node make.js', output_directory: 'dist', spa_fallback: true }),
    })
    expect(artifact).toMatchObject({ kind: 'static', spa_fallback: true, bytes: 15 })
    if (artifact.kind !== 'static') return
    expect(await readFile(join(artifact.directory, 'index.html'), 'utf8')).toBe('<h1>made</h1>')
    expect(await readFile(join(artifact.directory, 'deep/a b.txt'), 'utf8')).toBe('é')
    await expect(readFile(join(artifact.directory, 'out'))).rejects.toThrow(/ENOENT/)
    await expect(readFile(join(artifact.directory, 'make.js'))).rejects.toThrow(/ENOENT/)
    await suite.runtime.discard(deployment_id, artifact)
    expect(await driver.leftovers(suite.options, deployment_id)).toEqual([])
  })

  describe('a build that fails says why and leaves nothing', () => {
    const cases = [
      { name: 'install', plan: { install_command: 'echo installing; exit 4' }, code: 'install_failed', words: /exit code 4/ },
      { name: 'build', plan: { build_command: 'echo building; exit 5' }, code: 'build_failed', words: /exit code 5/ },
      { name: 'unknown program', plan: { build_command: 'no-such-program' }, code: 'build_failed', words: /exit code 127/ },
      {
        name: 'memory of the build',
        plan: { build_command: `node -e "const all = []; for (;;) all.push(Buffer.alloc(4e6, 1))"` },
        code: 'out_of_memory',
        words: /256 MB/,
      },
    ] as const
    test.each(cases)('$name', async ({ plan, code, words }) => {
      const deployment_id = newId('dpl')
      const log = recordLog()
      const failure = await failureOf(build({ deployment_id, log, memory_mb: 256, files: { 'package.json': manifest() }, plan: serverPlan(plan) }))
      expect(failure.code).toBe(code)
      expect(failure.message).toMatch(words)
      expect(failure.hint).toMatch(/\w+.*[.?]$/)
      expect(await driver.leftovers(suite.options, deployment_id)).toEqual([])
    })

    test('a static build without its output', async () => {
      const deployment_id = newId('dpl')
      const failure = await failureOf(
        build({ deployment_id, files: { a: 'b' }, plan: staticPlan({ build_command: 'true', output_directory: 'dist' }) }),
      )
      expect(failure).toMatchObject({ code: 'build_failed', message: expect.stringContaining('dist') })
      expect(await driver.leftovers(suite.options, deployment_id)).toEqual([])
    })
  })

  test.each([
    ['install', { install_command: 'echo now; sleep 600' }],
    ['build', { build_command: 'echo now; sleep 600 & sleep 600' }],
  ])('an aborted %s ends within 2 s and leaves nothing', async (_name, plan) => {
    const abort = new AbortController()
    const begun = Promise.withResolvers<void>()
    const deployment_id = newId('dpl')
    const log = recordLog((line) => line === 'now' && begun.resolve())
    const job = build({ deployment_id, log, signal: abort.signal, files: { 'package.json': manifest() }, plan: serverPlan(plan) })
    await Promise.race([begun.promise, job])
    const took = await spent(async () => {
      abort.abort()
      await expect(job).rejects.toMatchObject({ name: 'AbortError' })
    })
    expect(took).toBeLessThan(2_000)
    expect(await driver.leftovers(suite.options, deployment_id)).toEqual([])
  })

  test('variables reach install, build and app, and neither the log nor what is stored', async () => {
    const secret = `HPSENT_${newId('evt').slice(4)}`
    const check = `node -e "if (process.env.API_KEY !== process.env.COPY || !process.env.COPY.startsWith('HPSENT_')) process.exit(9)"`
    const built = await build({
      variables: { API_KEY: secret, COPY: secret, ODD: `it's "odd" $HOME \`x\`\nsecond line` },
      files: { 'package.json': manifest(), 'server.js': `console.log(process.env.API_KEY); console.log(process.env.NODE_ENV)` },
      plan: serverPlan({
        install_command: check,
        build_command: `${check} && node -e "if (process.env.ODD.length !== 32) process.exit(8)"`,
        variables: { NODE_ENV: 'production' },
      }),
    })
    expect(built.log.lines.join('\n')).not.toContain(secret)
    expect(await driver.search(built.artifact, [secret])).toEqual([])
    const { lines, exit } = await startApp(suite.runtime, built, { variables: { API_KEY: 'at run time' } })
    await exit
    expect(lines).toEqual(['at run time', 'production'])
    await suite.runtime.discard(built.deployment_id, built.artifact)
  })
}
