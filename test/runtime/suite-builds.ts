import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { BuildPlan } from '../../server/contract/build-plan.ts'
import { newId } from '../../server/lib/id.ts'
import { BuildFailure } from '../../server/runtime/runtime.ts'
import { commonTest } from '../support/full-test.ts'
import { createRecordedLog, serverPlan, startApp, staticPlan, type BuiltApp } from '../support/runtime.ts'
import { isFullTier } from '../support/tier.ts'
import { certificateMark, manifest, type SuiteContext } from './suite-context.ts'

/** The part of the suite about builds. */
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
  const discard = ({ deployment_id, artifact }: BuiltApp) => suite.runtime.discard(deployment_id, artifact)
  /** The output of an app until it exits. */
  const printed = async (built: BuiltApp, variables = {}): Promise<string[]> => {
    const { lines, exit } = await startApp(suite.runtime, built, { variables })
    expect(await exit).toEqual({ code: 0, signal: null, out_of_memory: false })
    return lines
  }

  commonTest(driver.tested_as)(
    'a workspace: dependencies are installed once per key for concurrent builds, and removed with the project',
    async () => {
      const project_id = newId('prj')
      const files = {
        'package.json': manifest({ name: 'root', workspaces: ['packages/*'] }),
        'packages/web/package.json': manifest({ name: 'web', dependencies: { lib: '1.0.0' } }),
        'packages/web/server.js': `console.log(require('lib') + ', built ' + require('fs').readFileSync('built.txt', 'utf8'))`,
        'packages/web/built.txt': 'not at all',
        'packages/lib/package.json': manifest({ name: 'lib', main: 'lib.js' }),
        'packages/lib/lib.js': `module.exports = 'from lib'`,
      }
      const plan = serverPlan({
        install_command: `npm install && node -e "console.log('really installed')"`,
        build_command: `node -e "require('fs').writeFileSync('built.txt', require('lib'))"`,
        install_key: 'workspace',
        install_inputs: Object.keys(files).filter((path) => path.endsWith('package.json')),
        app_directory: 'packages/web',
      })
      const builds = await Promise.all([1, 2].map(() => build({ files, plan, project_id })))
      expect(builds.filter(({ log }) => log.lines.includes('really installed'))).toHaveLength(1)
      expect(builds.filter(({ log }) => /Using cached dependencies/.test(log.lines.join('\n')))).toHaveLength(1)
      for (const built of builds) {
        expect(await printed(built)).toEqual(['from lib, built from lib'])
        await discard(built)
      }
      await suite.runtime.removeProjectCaches(project_id)
      await suite.runtime.removeProjectCaches(project_id)
      expect(await driver.leftovers(suite.options, project_id)).toEqual([])
    },
  )

  commonTest(driver.tested_as)('a build without cache uses nothing of earlier ones and replaces it; a cleared cache is empty', async () => {
    const project_id = newId('prj')
    const files = {
      'package.json': manifest({ name: 'kept' }),
      'install.js': `const fs = require('fs'); fs.mkdirSync('node_modules/made', { recursive: true }); fs.writeFileSync('node_modules/made/index.js', 'module.exports = ' + Math.random())`,
      'build.js': `const fs = require('fs'); const n = fs.existsSync('.kept/n') ? Number(fs.readFileSync('.kept/n')) + 1 : 1
        fs.mkdirSync('.kept', { recursive: true }); fs.writeFileSync('.kept/n', String(n)); console.log('set ' + require('made') + ' count ' + n)`,
    }
    const plan = serverPlan({
      install_command: 'node install.js',
      install_inputs: ['package.json', 'install.js'],
      install_key: 'kept',
      build_command: 'node build.js',
      cache_directories: ['.kept'],
    })
    const run = async (skips_cache = false) => {
      const built = await build({ files, plan, project_id, skips_cache })
      await discard(built)
      const [, set, count] = /set (\S+) count (\d+)/.exec(built.log.lines.join('\n')) ?? []
      return { set, count: Number(count) }
    }
    const first = await run()
    expect(await run()).toEqual({ set: first.set, count: 2 })
    const fresh = await run(true)
    expect(fresh.count).toBe(1)
    expect(fresh.set).not.toBe(first.set)
    expect(await run()).toEqual({ set: fresh.set, count: 2 })
    await suite.runtime.clearBuildCache(project_id)
    const last = await run()
    expect(last.count).toBe(1)
    expect([first.set, fresh.set]).not.toContain(last.set)
    await suite.runtime.removeProjectCaches(project_id)
    expect(await driver.leftovers(suite.options, project_id)).toEqual([])
  })

  for (const install_inputs of [['package.json'], ['.']])
    commonTest(driver.tested_as)(`an install with project scripts sees the whole source, and runs each time: ${install_inputs.join()}`, async () => {
      const files = {
        'package.json': manifest({ scripts: { postinstall: 'node make.js' } }),
        'make.js': `console.log('made'); require('fs').writeFileSync('made.txt', 'by postinstall')`,
        'server.js': `console.log(require('fs').readFileSync('made.txt', 'utf8'))`,
      }
      const plan = serverPlan({ install_command: 'node make.js', install_key: 'scripts', install_inputs })
      const project_id = newId('prj')
      const builds = [await build({ project_id, files, plan }), await build({ project_id, files, plan })]
      expect(await printed(builds[1]!)).toEqual(['by postinstall'])
      for (const built of builds) {
        expect(built.log.lines).toContain('made')
        await discard(built)
        expect(await driver.leftovers(suite.options, built.deployment_id)).toEqual([])
      }
    })

  test('a static site: only its output is kept, to be served from a folder', async () => {
    const built = await build({
      files: {
        'make.js': `const fs = require('fs'); fs.mkdirSync('dist/deep', {recursive: true}); fs.writeFileSync('dist/index.html', '<h1>made</h1>'); fs.writeFileSync('dist/deep/a b.txt', 'é'); fs.symlinkSync('/etc/passwd', 'dist/out')`,
      },
      plan: staticPlan({ build_command: 'node make.js', output_directory: 'dist', spa_fallback: true }),
    })
    const { artifact, deployment_id } = built
    expect(artifact).toMatchObject({ kind: 'static', spa_fallback: true, bytes: 15 })
    if (artifact.kind !== 'static') return
    expect(await readFile(join(artifact.directory, 'index.html'), 'utf8')).toBe('<h1>made</h1>')
    expect(await readFile(join(artifact.directory, 'deep/a b.txt'), 'utf8')).toBe('é')
    await expect(readFile(join(artifact.directory, 'out'))).rejects.toThrow(/ENOENT/)
    await expect(readFile(join(artifact.directory, 'make.js'))).rejects.toThrow(/ENOENT/)
    await discard(built)
    expect(await driver.leftovers(suite.options, deployment_id)).toEqual([])
  })

  commonTest(driver.tested_as)('a build that produces a server instead of a site is started', async () => {
    const built = await build({
      files: { 'package.json': manifest() },
      plan: staticPlan({
        build_command: `mkdir -p .output/server .output/public && echo "console.log('from the server')" > .output/server/index.mjs`,
        output_directory: '.output/public',
        server_entries: ['server/entry.express.js', '.output/server/index.mjs'],
      }),
    })
    expect(await printed(built)).toEqual(['from the server'])
    await discard(built)
  })

  describe.concurrent('a failed build reports the reason and leaves nothing', () => {
    const fails = (name: string, plan: BuildPlan, code: string, words: RegExp) =>
      [
        name,
        async () => {
          const deployment_id = newId('dpl')
          const failure = await failureOf(build({ deployment_id, memory_mb: 256, files: { 'package.json': manifest() }, plan }))
          expect(failure).toMatchObject({ code, message: expect.stringMatching(words), hint: expect.stringMatching(/\w+.*[.?]$/) })
          expect(await driver.leftovers(suite.options, deployment_id)).toEqual([])
        },
      ] as const
    const eatsMemory = `node -e "const all = []; for (;;) all.push(Buffer.alloc(4e6, 1))"`
    const writesNoIndex = 'mkdir -p dist/client && echo 1 > dist/client/app.js'
    const noIndex = /dist has no index\.html.*Files found: client\/app\.js\./
    commonTest(driver.tested_as)(...fails('install', serverPlan({ install_command: 'echo installing; exit 4' }), 'install_failed', /exit code 4/))
    test(...fails('build', serverPlan({ build_command: 'echo building; exit 5' }), 'build_failed', /exit code 5/))
    test(...fails('memory of the build', serverPlan({ build_command: eatsMemory }), 'out_of_memory', /256 MB/))
    commonTest(driver.tested_as)(...fails('unknown program', serverPlan({ build_command: 'no-such-program' }), 'build_failed', /exit code 127/))
    commonTest(driver.tested_as)(
      ...fails('no index.html', staticPlan({ build_command: writesNoIndex, output_directory: 'dist' }), 'build_failed', noIndex),
    )
    commonTest(driver.tested_as)(...fails('no output', staticPlan({ build_command: 'true', output_directory: 'dist' }), 'build_failed', /dist/))
  })

  const aborted = [
    ['build', { build_command: 'echo now; sleep 600 & sleep 600' }],
    ['install', { install_command: 'echo now; sleep 600' }],
  ] as const
  test.concurrent.each(aborted.slice(0, isFullTier || driver.tested_as === 'process' ? 2 : 1))(
    'an aborted %s ends and leaves nothing',
    async (_name, plan) => {
      const abort = new AbortController()
      const begun = Promise.withResolvers<void>()
      const deployment_id = newId('dpl')
      const log = createRecordedLog((line) => line === 'now' && begun.resolve())
      const job = build({ deployment_id, log, signal: abort.signal, files: { 'package.json': manifest() }, plan: serverPlan(plan) })
      await Promise.race([begun.promise, job])
      abort.abort()
      await expect(job).rejects.toMatchObject({ name: 'AbortError' })
      expect(await driver.leftovers(suite.options, deployment_id)).toEqual([])
    },
  )

  test('variables reach install, build and app; neither they nor the host’s certificates are in the log or stored', async () => {
    const secret = `HPSENT_${newId('evt').slice(4)}`
    const check = `test -s "$NODE_EXTRA_CA_CERTS" && node -e "if (process.env.API_KEY !== process.env.COPY || !process.env.COPY.startsWith('HPSENT_')) process.exit(9)"`
    const built = await build({
      variables: { API_KEY: secret, COPY: secret, ODD: `it's "odd" $HOME \`x\`\nsecond line` },
      files: {
        'package.json': manifest(),
        'server.js': `for (const name of ['API_KEY', 'NODE_ENV', 'NODE_EXTRA_CA_CERTS']) console.log(process.env[name])`,
      },
      plan: serverPlan({
        install_command: check,
        build_command: `${check} && node -e "if (process.env.ODD.length !== 32) process.exit(8)"`,
        variables: { NODE_ENV: 'production' },
      }),
    })
    expect(built.log.lines.join('\n')).not.toContain(secret)
    expect(await driver.search(built.artifact, [secret, certificateMark])).toEqual([])
    expect(await driver.search(built.artifact, ['console.log(process.env[name])'])).not.toEqual([])
    expect(await printed(built, { API_KEY: 'at run time' })).toEqual(['at run time', 'production', 'undefined'])
  })
}
