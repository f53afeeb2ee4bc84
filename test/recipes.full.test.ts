/**
 * Follows the recipes of the READMEs on a copy of the repository. A recipe names its files in its first line, `**Add a page** (2 files: ...)`, where
 * `<name>` stands for any name. The change in recipes.ts touches exactly these files, which documents.test.ts checks; types, architecture and the
 * result are checked here.
 */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { packageScript, root, runScript } from './runner/command.ts'
import { recipes } from './recipes.ts'
import { listFiles } from './runner/imports.ts'

let copy: string

beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), 'homeport-recipes-'))
  for (const file of listFiles()) cpSync(join(root, file), join(copy, file), { recursive: true })
  // The tests list the files with git.
  execFileSync('git', ['init', '--quiet'], { cwd: copy })
  // Caches of builds and tests in node_modules belong only to this copy.
  mkdirSync(join(copy, 'node_modules'))
  for (const name of readdirSync(join(root, 'node_modules')))
    if (!/^\.(cache|vite|homeport)/.test(name)) symlinkSync(join(root, 'node_modules', name), join(copy, 'node_modules', name))
  for (const { changes } of recipes)
    for (const [file, change] of Object.entries(changes)) {
      const path = join(copy, file)
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, typeof change === 'string' ? change.trimStart() : change(readFileSync(path, 'utf8')))
    }
})
afterAll(() => rmSync(copy, { recursive: true, force: true }))

/** Runs a script in the copy and expects success. Tests run in their default tier. */
async function run(...args: string[]): Promise<string> {
  const { code, output } = await runScript(args, { cwd: copy, env: { HOMEPORT_TEST_TIER: 'default' } })
  expect(code, output).toBe(0)
  return output
}

describe('after all recipes', () => {
  test('types check', async () => void (await run(packageScript('typescript/bin/tsc'), '-b')))

  test('their tests and the architecture test pass', async () => {
    const tests = ['test/architecture.test.ts', ...recipes.flatMap(({ tests }) => tests)]
    const output = await run(packageScript('vitest/vitest.mjs'), 'run', '--reporter=verbose', '--config', 'test/vitest.config.ts', ...tests)
    for (const name of ['example runtime', '200 with the name of the project']) expect(output).toContain(name)
  })

  test('the dashboard has the page', async () => {
    await run(packageScript('vite/bin/vite.js'), 'build', 'renderer', '--logLevel', 'warn')
    const assets = readdirSync(join(copy, 'out/renderer/assets')).filter((name) => name.endsWith('.js'))
    expect(assets.filter((name) => readFileSync(join(copy, 'out/renderer/assets', name), 'utf8').includes('A page by recipe'))).toHaveLength(1)
  })

  test('the command runs', async () => {
    expect(await run('server/cli/homeport.ts', 'example')).toContain('a command by recipe')
  })

  test('the builder detects the language and the framework', async () => {
    const plan = async (file: string, text: string) => {
      const folder = join(copy, 'source', file)
      mkdirSync(folder, { recursive: true })
      writeFileSync(join(folder, file), text)
      const settings = { node_version: 'auto', install_command: 'auto', build_command: 'auto', root_directory: '.' }
      const options = JSON.stringify({ folder, settings })
      const script = `import { planBuild } from './server/builder/index.ts'; console.log((await planBuild(${options})).explanation[0])`
      return run('--input-type=module', '--eval', script)
    }
    expect(await plan('example.toml', '')).toContain('Example app found (example.toml)')
    expect(await plan('package.json', '{ "dependencies": { "example": "1" } }')).toContain('Example')
  })

  test('the builder reads the configuration file', async () => {
    const folder = join(copy, 'source', 'configured')
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'example.conf'), 'node server.js')
    const script = `import { readProjectConfig } from './server/builder/config/read-project-config.ts'
      const { file, services } = await readProjectConfig(${JSON.stringify(folder)})
      console.log(file, services[0].command.join(' '))`
    expect(await run('--input-type=module', '--eval', script)).toContain('example.conf sh -c node server.js')
  })

  test('a script of the development server is recognized', async () => {
    const script = `import { devTools } from './server/builder/development/dev-tools.ts'
      console.log(devTools.find(({ pattern }) => pattern.test('example dev')).label)`
    expect(await run('--input-type=module', '--eval', script)).toContain('Example')
  })
})
