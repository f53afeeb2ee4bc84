import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { packageScript, root, runScript } from './runner/command.ts'
import { parse } from 'yaml'

interface Recipe {
  name: string
  readme: string
  files: { path: string; named: string; change: string | { before: string; insert: string }[] }[]
  run: string[]
}
const recipes = parse(readFileSync(join(import.meta.dirname, 'recipes.yaml'), 'utf8')) as Recipe[]

/** Follows the recipes of the READMEs on a copy of the repository; types and tests then say whether they are complete. */
let copy: string
beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), 'homeport-recipes-'))
  const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  })
  for (const file of files.split('\0').filter((name) => name !== '' && existsSync(join(root, name))))
    cpSync(join(root, file), join(copy, file), { force: true })
  // Some tests list the files of the repository.
  execFileSync('git', ['init', '--quiet'], { cwd: copy })
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
})
afterAll(() => rmSync(copy, { recursive: true, force: true }))

test.for(recipes)('$name: $files.length files', ({ name, readme, files }) => {
  const recipe = readFileSync(join(root, readme), 'utf8')
    .split(/\n(?=- \*\*|\n)/)
    .find((text) => text.startsWith(`- **${name}**`))
  for (const { path, named, change } of files) {
    expect(recipe, `${readme} names ${named}`).toContain(`\`${named}`)
    const file = join(copy, path)
    mkdirSync(dirname(file), { recursive: true })
    if (typeof change === 'string') writeFileSync(file, change)
    else for (const { before, insert } of change) writeFileSync(file, insertBefore(readFileSync(file, 'utf8'), before, insert))
  }
})

test('the result has no type error', async () => {
  const types = await runScript([packageScript('typescript/bin/tsc'), '-b'], { cwd: copy })
  expect(types.output).toBe('')
})

test('the tests of the recipes pass', async () => {
  const files = recipes.flatMap(({ run }) => run)
  const { code, output } = await runScript([packageScript('vitest/vitest.mjs'), 'run', '--config', 'test/vitest.config.ts', ...files], { cwd: copy })
  expect(code, output).toBe(0)
})

function insertBefore(text: string, before: string, insert: string): string {
  expect(text).toContain(before)
  return text.replace(before, () => `${insert}${before}`)
}
