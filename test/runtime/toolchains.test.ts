import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { planBuild } from '../../server/builder/index.ts'
import type { BuildPlan, ToolchainPlan, ToolName } from '../../server/contract/build-plan.ts'
import { newId } from '../../server/lib/id.ts'
import { createRuntimes } from '../../server/runtime/index.ts'
import type { Runtime, RuntimeOptions } from '../../server/runtime/runtime.ts'
import { requires } from '../support/requirements.ts'
import { buildApp, runtimeOptions, startApp, writeSource } from '../support/runtime.ts'
import { isFullTier } from '../support/tier.ts'

let options: RuntimeOptions & { remove(): Promise<void> }
let runtime: Runtime

beforeEach(async () => {
  const own = await runtimeOptions()
  const home = join(own.data_dir, 'home')
  options = { ...own, home, hidden_paths: [home] }
  createRuntime(`${join(own.data_dir, 'path')}:/usr/bin:/bin`)
})
afterEach(async () => {
  await runtime.close()
  await options.remove()
})

const createRuntime = (path: string): void => void (runtime = createRuntimes({ ...options, path }).process)

/** A program that prints `output` for its version argument, and runs any other argument as a shell command. */
async function writeTool(path: string, output: string): Promise<string> {
  const file = path.startsWith('~') ? join(options.home ?? '', path.slice(2)) : join(options.data_dir, 'path', path)
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, `#!/bin/sh\nif [ "$1" = run ]; then shift; exec "$@"; fi\necho '${output}'\n`)
  await chmod(file, 0o755)
  return file
}

const planWith = (tool: ToolName, range: string, more: Partial<ToolchainPlan> = {}, from: string | null = 'the.file'): BuildPlan => ({
  framework: tool,
  explanation: [],
  facts: [],
  work: {
    kind: 'toolchain',
    app_directory: '.',
    tools: [{ tool, range, from }],
    install_command: null,
    build_command: null,
    start_command: 'exec sleep 1000',
    start_directory: '.',
    program_directories: [],
    variables: {},
    install_inputs: ['.'],
    install_key: 'none',
    dependency_directories: [],
    discarded: [],
    ...more,
  },
})
const build = (plan: BuildPlan, more = {}) => buildApp(runtime, options, { files: { 'a.txt': 'b' }, plan, ...more })

describe('toolchains of the machine', () => {
  test('the program on the PATH is used if its version matches, otherwise the newest one of a version manager', async () => {
    await writeTool('go', 'go version go1.19.8 linux/amd64')
    await writeTool('~/sdk/go1.21.0/bin/go', 'go version go1.21.0 linux/amd64')
    await writeTool('~/sdk/go1.23.4/bin/go', 'go version go1.23.4 linux/amd64')
    const versionFor = async (range: string) => {
      const { artifact } = await build(planWith('go', range, { build_command: 'go version > version' }))
      return artifact.kind === 'bundle' ? [artifact.tools?.[0]?.version, await readFile(join(artifact.directory, 'version'), 'utf8')] : []
    }
    expect(await versionFor('>=1.18')).toEqual(['1.19.8', expect.stringContaining('go1.19.8')])
    expect(await versionFor('>=1.20')).toEqual(['1.23.4', expect.stringContaining('go1.23.4')])
    expect(await versionFor('1.21.x')).toEqual(['1.21.0', expect.stringContaining('go1.21.0')])
  })

  test('a missing version fails with the installed versions, and a fix', async () => {
    await writeTool('go', 'go version go1.19.8 linux/amd64')
    await expect(build(planWith('go', '>=1.22', {}, 'go.mod'))).rejects.toMatchObject({
      code: 'runtime_unavailable',
      message: 'This app needs Go 1.22 or newer (go.mod). This machine has Go 1.19.8.',
      hint: 'Install Go 1.22 or newer, change go.mod, or install and start Docker, then deploy again.',
    })
    createRuntime(join(options.data_dir, 'path'))
    await expect(build(planWith('elixir', '*', {}, null))).rejects.toMatchObject({
      message: 'This app needs Elixir, which this machine does not have.',
      hint: expect.stringContaining('install and start Docker'),
    })
  })

  test('a toolchain installed later is found, and a removed one fails the app', async () => {
    createRuntime(join(options.data_dir, 'path'))
    const plan = planWith('elixir', '*', { start_command: 'exec /bin/sleep 1000' })
    await expect(build(plan)).rejects.toMatchObject({ code: 'runtime_unavailable' })
    const file = await writeTool('elixir', '1.17.3')
    const built = await build(plan)
    const app = await startApp(runtime, built)
    await app.stop()
    await writeFile(file, '#!/bin/sh\nexit 1\n')
    await expect(startApp(runtime, built)).rejects.toMatchObject({
      code: 'start_failed',
      message: 'Elixir 1.17.3, which built this version, is no longer on this machine.',
    })
  })

  test('personal files next to a toolchain are not exposed', async () => {
    await writeTool('~/.local/bin/go', 'go version go1.23.4 linux/amd64')
    createRuntime(join(options.home ?? '', '.local/bin'))
    await expect(build(planWith('go', '>=1.23'))).rejects.toMatchObject({ code: 'runtime_unavailable' })
  })

  test('rustup proxies and shims of version managers are replaced by the toolchains themselves', async () => {
    const rustup = await writeTool('~/.cargo/bin/rustup', 'cargo 1.99.0')
    await symlink(rustup, join(dirname(rustup), 'cargo'))
    await writeTool('~/.rbenv/shims/ruby', '9.9.9')
    await writeTool('~/.rbenv/versions/3.3.5/bin/ruby', '3.3.5')
    await writeTool('~/.rustup/toolchains/1.80-x86_64/bin/cargo', 'cargo 1.80.1 (376290515 2024-07-16)')
    createRuntime(`${dirname(rustup)}:${join(options.home ?? '', '.rbenv/shims')}`)
    const { artifact: rust } = await build(planWith('rust', '>=1.80 <1.90'))
    const { artifact: ruby } = await build(planWith('ruby', '3.3.x'))
    expect([rust, ruby]).toMatchObject([{ tools: [{ version: '1.80.1' }] }, { tools: [{ version: '3.3.5' }] }])
    await expect(build(planWith('rust', '1.99.x'))).rejects.toMatchObject({ code: 'runtime_unavailable' })
  })

  test('the doctor lists the versions found, and what is missing', async () => {
    await writeTool('go', 'go version go1.19.8 linux/amd64')
    await writeTool('~/sdk/go1.23.4/bin/go', 'go version go1.23.4 linux/amd64')
    const check = (await runtime.check?.(false))?.find(({ name }) => name === 'toolchains')
    expect(check).toMatchObject({ status: 'ok', hint: null })
    expect(check?.message).toContain('Go 1.19.8 (also 1.23.4)')
    expect(check?.message).toMatch(/Missing: [^.]*\.NET/)
  })

  test('dependencies are installed once for the same files, and again without cache', async () => {
    await writeTool('ruby', '3.3.5')
    const plan = planWith('ruby', '*', {
      install_command: 'echo installing; mkdir -p vendor/bundle && echo gem > vendor/bundle/gem',
      install_inputs: ['a.txt'],
      install_key: 'one',
      dependency_directories: ['vendor/bundle'],
      variables: { GEM_HOME: '{app}/vendor/bundle' },
    })
    const project_id = newId('prj')
    const first = await build(plan, { project_id })
    const second = await build(plan, { project_id })
    const third = await build(plan, { project_id, skips_cache: true })
    expect([first, second, third].map(({ log }) => log.lines.includes('installing'))).toEqual([true, false, true])
    const { artifact } = second
    if (artifact.kind !== 'bundle') throw new Error('a bundle was expected')
    expect(await readFile(join(artifact.directory, 'vendor/bundle/gem'), 'utf8')).toBe('gem\n')
    const app = await startApp(runtime, { ...second, artifact: { ...artifact, command: ['/bin/sh', '-c', 'echo "$GEM_HOME"'] } })
    await app.exit
    expect(app.lines).toEqual([join(artifact.directory, 'vendor/bundle')])
  })

  test('a compiler cache is reused by the next build of the project, and not without cache', async () => {
    await writeTool('go', 'go version go1.19.8 linux/amd64')
    const plan = planWith('go', '*', { build_command: 'cat "$GOCACHE" 2>/dev/null; echo "of $RUN" >> "$GOCACHE"' })
    const project_id = newId('prj')
    const linesOf = async (RUN: string, skips_cache = false) => {
      const { log } = await build(plan, { project_id, variables: { RUN }, skips_cache })
      return log.lines.filter((line) => line.startsWith('of '))
    }
    expect(await linesOf('1')).toEqual([])
    expect(await linesOf('2')).toEqual(['of 1'])
    expect(await linesOf('3', true)).toEqual([])
    expect(await linesOf('4')).toEqual(['of 3'])
    await runtime.clearBuildCache(project_id)
    expect(await linesOf('5')).toEqual([])
  })

  test('a symlink in the source or the build never leads a removal outside', async () => {
    await writeTool('go', 'go version go1.19.8 linux/amd64')
    const victim = join(options.data_dir, 'victim', 'target')
    await mkdir(victim, { recursive: true })
    const plan = planWith('go', '*', {
      app_directory: 'app',
      discarded: ['target'],
      build_command: `cd .. && rm -rf app && ln -s ${dirname(victim)} app`,
    })
    await expect(build(plan, { files: { 'app/a.txt': 'b' } })).rejects.toMatchObject({ code: 'build_failed' })
    expect(existsSync(victim)).toBe(true)
  })
})

describe.skipIf(!requires('bubblewrap').ok)('toolchains of the home folder in the sandbox', () => {
  test('build and app see their toolchain, and nothing else of the home folder', async () => {
    await writeTool('~/sdk/go1.23.4/bin/go', 'go version go1.23.4 linux/amd64')
    await writeFile(join(options.home ?? '', 'secret'), 'secret')
    const look = `go version; ls ${options.home} ${options.home}/sdk; cat ${options.home}/secret || true`
    const built = await build(planWith('go', '>=1.23', { build_command: look, start_command: look }))
    const app = await startApp(runtime, built)
    await app.exit
    for (const lines of [built.log.lines, app.lines]) {
      expect(lines).toContain('go version go1.23.4 linux/amd64')
      expect(lines).toEqual(expect.arrayContaining(['sdk', 'go1.23.4']))
      expect(lines).not.toContain('secret')
    }
  })
})

/** A package with the program `hello`, which prints the folder of its environment. */
const writeWheel = `import sys, zipfile
with zipfile.ZipFile(sys.argv[1], 'w') as wheel:
    wheel.writestr('hello.py', 'import sys\\ndef main():\\n    print(sys.prefix)\\n')
    wheel.writestr('hello-1.0.dist-info/METADATA', 'Metadata-Version: 2.1\\nName: hello\\nVersion: 1.0\\n')
    wheel.writestr('hello-1.0.dist-info/WHEEL', 'Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')
    wheel.writestr('hello-1.0.dist-info/entry_points.txt', '[console_scripts]\\nhello = hello:main\\n')
    wheel.writestr('hello-1.0.dist-info/RECORD', '')
`

if (isFullTier)
  describe.skipIf(!requires('python').ok)('Python', () => {
    test('the programs of a virtual environment run in a build that took it from the cache', async () => {
      createRuntime(process.env.PATH ?? '')
      const wheels = join(options.data_dir, 'wheels')
      await mkdir(wheels)
      execFileSync('python3', ['-c', writeWheel, join(wheels, 'hello-1.0-py3-none-any.whl')])
      const source = await planBuild({
        folder: await writeSource(options, { 'requirements.txt': 'hello\n', 'app.py': '', Procfile: 'web: hello' }),
        settings: { node_version: 'auto', install_command: 'auto', build_command: 'auto', root_directory: '.' },
        builds_dockerfiles: false,
      })
      const project_id = newId('prj')
      const files = { 'requirements.txt': 'hello\n', 'app.py': '' }
      const variables = { PIP_NO_INDEX: '1', PIP_FIND_LINKS: wheels }
      const buildOnce = () =>
        buildApp(createRuntimes({ ...options, path: process.env.PATH ?? '', sandbox: 'off' }).process, options, {
          files,
          plan: source,
          project_id,
          variables,
        })
      const first = await buildOnce()
      const second = await buildOnce()
      expect(second.log.lines).toContain('Using cached dependencies.')
      await runtime.discard(first.deployment_id, first.artifact)
      const app = await startApp(createRuntimes({ ...options, path: process.env.PATH ?? '' }).process, second)
      await app.exit
      expect(app.lines).toEqual([join(second.artifact.kind === 'bundle' ? second.artifact.directory : '', '.venv')])
    })
  })
