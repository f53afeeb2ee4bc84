/**
 * `npm run test:mutants [-- --seed N] [--count N] [--area server/edge]`: plants faults in a scratch copy, one at a time, and reports
 * which tier finds each. The faults are Stryker's mutations (equality, conditions, arithmetic, booleans, removed blocks ...), chosen from a
 * seed across all folders; those that do not compile are replaced. Takes hours; results are added to out/mutants/ as they come.
 */
import { execFileSync } from 'node:child_process'
import { appendFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Instrumenter } from '@stryker-mutator/instrumenter'
import { createDice } from '../support/dice.ts'
import { testsReachedBy } from './changed.ts'
import { root, runScript, script } from './command.ts'
import { listFiles } from './imports.ts'

interface Mutant {
  file: string
  mutator: string
  /** Zero-based. */
  start: { line: number; column: number }
  end: { line: number; column: number }
  original: string
  replacement: string
}

/** What a tier runs, in the order of its price. The first command that fails has found the fault. */
type Stage = [tier: 'npm test' | 'test:full', what: string, args: string[]]

/** Texts are no behaviour, and a regular expression has mutations that accept the same. */
const excluded = ['StringLiteral', 'Regex', 'ObjectLiteral', 'ArrayDeclaration', 'ArrowFunction']

export async function plantMutants(args: string[]): Promise<number> {
  const { values } = parseArgs({ args, options: { seed: { type: 'string' }, count: { type: 'string' }, area: { type: 'string' } } })
  const seed = Number(values.seed ?? 1)
  const count = Number(values.count ?? 40)
  const results = join(root, 'out', 'mutants')
  mkdirSync(results, { recursive: true })
  const reportFile = join(results, `seed-${seed}.jsonl`)

  const copy = scratchCopy()
  const found = { 'npm test': 0, 'test:full': 0, nobody: 0 }
  try {
    const { code, output } = await runScript([script('typescript/bin/tsc'), '-b'], { cwd: copy })
    if (code !== 0) throw new Error(`The last commit does not compile, so that no fault could be told from it:\n${output}`)
    let planted = 0
    for await (const mutant of choose(seed, values.area)) {
      const path = join(copy, mutant.file)
      const source = readFileSync(path, 'utf8')
      writeFileSync(path, mutated(source, mutant))
      try {
        if ((await runScript([script('typescript/bin/tsc'), '-b'], { cwd: copy })).code !== 0) continue
        planted += 1
        const finder = await findFault(copy, mutant.file)
        found[finder?.tier ?? 'nobody'] += 1
        appendFileSync(reportFile, `${JSON.stringify({ ...mutant, found_by: finder ?? null })}\n`)
        const change = `${mutant.original.split('\n')[0]} -> ${mutant.replacement.split('\n')[0]}`
        console.log(`${planted}/${count} ${mutant.file}:${mutant.start.line + 1} ${mutant.mutator} (${change}): ${finder?.what ?? 'NOT FOUND'}`)
      } finally {
        writeFileSync(path, source)
      }
      if (planted === count) break
    }
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
  console.log(
    `\nseed ${seed}: npm test found ${found['npm test']}, test:full ${found['test:full']} more, ${found.nobody} were not found (${reportFile})`,
  )
  return found.nobody === 0 ? 0 : 1
}

/** Runs the stages until one fails. */
async function findFault(copy: string, file: string): Promise<{ tier: Stage[0]; what: string } | undefined> {
  const reached = testsReachedBy([file]).filter((test) => !test.startsWith('test/e2e/') && !test.includes('.full.'))
  const vitest = (...files: string[]) => [
    script('vitest/vitest.mjs'),
    'run',
    '--config',
    'test/vitest.config.ts',
    '--bail=1',
    '--reporter=json',
    ...files,
  ]
  const browser = [script('@playwright/test/cli.js'), 'test', '--config', 'test/e2e/playwright.config.ts', '-x']
  const build = [script('vite/bin/vite.js'), 'build', 'renderer', '--logLevel', 'warn']
  const stages: Stage[] = [
    ...(reached.length > 0 ? [['npm test', 'tests that the file reaches', vitest(...reached)] satisfies Stage] : []),
    ['npm test', 'vitest', vitest()],
    ...(file.startsWith('renderer/') ? [['npm test', 'build', build] satisfies Stage] : []),
    ['npm test', 'browser', browser],
    ['test:full', 'vitest', vitest()],
    ['test:full', 'browser', browser],
  ]
  for (const [tier, what, args] of stages) {
    const { code, output } = await runScript(args, { cwd: copy, env: { HOMEPORT_TEST_TIER: tier === 'test:full' ? 'full' : 'default' } })
    if (code !== 0) return { tier, what: `${tier}, ${what}: ${firstFailure(output)}` }
  }
  return undefined
}

function firstFailure(output: string): string {
  const fullName = /"fullName":"((?:[^"\\]|\\.)*)","status":"failed"/.exec(output)?.[1]
  return (
    fullName ??
    output
      .split('\n')
      .find((line) => /✘|^\s+\d+\) |error/i.test(line))
      ?.trim() ??
    'it failed'
  )
}

/** Mutants in random order: an area, a file of it, a mutation of the file. */
async function* choose(seed: number, area?: string): AsyncGenerator<Mutant> {
  const { pick } = createDice(seed)
  const files = listFiles().filter((file) => /^(server|main|renderer|preload)\/.*\.tsx?$/.test(file) && (area === undefined || file.startsWith(area)))
  const areas = Map.groupBy(files, (file) =>
    file
      .split('/')
      .slice(0, file.startsWith('renderer/features/') ? 3 : 2)
      .join('/'),
  )
  for (;;) {
    const file = pick(areas.get(pick([...areas.keys()])) ?? files)
    const mutants = await mutantsOf(file)
    if (mutants.length > 0) yield pick(mutants)
  }
}

async function mutantsOf(file: string): Promise<Mutant[]> {
  const content = readFileSync(join(root, file), 'utf8')
  const silent = { isDebugEnabled: () => false, isTraceEnabled: () => false, debug() {}, info() {}, warn() {}, error() {}, trace() {}, fatal() {} }
  const instrumenter = new Instrumenter(
    Object.assign(silent, { isInfoEnabled: () => false, isWarnEnabled: () => false, isErrorEnabled: () => false, isFatalEnabled: () => false }),
  )
  const options = { plugins: null, excludedMutations: excluded, ignorers: [] }
  const { mutants } = await instrumenter.instrument([{ name: join(root, file), content, mutate: true }], options)
  // The instrumenter reports excluded mutations too, as ignored.
  const wanted = mutants.filter(({ status }) => status !== 'Ignored')
  return wanted.map(({ mutatorName, replacement, location: { start, end } }) => {
    const mutant = { file, mutator: mutatorName, start, end, original: '', replacement }
    return { ...mutant, original: content.slice(offsetOf(content, start), offsetOf(content, end)) }
  })
}

function mutated(source: string, { start, end, replacement }: Mutant): string {
  return source.slice(0, offsetOf(source, start)) + replacement + source.slice(offsetOf(source, end))
}

function offsetOf(text: string, { line, column }: { line: number; column: number }): number {
  const lines = text.split('\n')
  return lines.slice(0, line).reduce((sum, one) => sum + one.length + 1, 0) + column
}

/** A clone of the last commit beside the same packages. */
function scratchCopy(): string {
  const copy = mkdtempSync(join(tmpdir(), 'homeport-mutants-'))
  execFileSync('git', ['clone', '--quiet', root, copy])
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
  cpSync(join(root, 'out'), join(copy, 'out'), { recursive: true, filter: (path) => !path.includes('/out/mutants') })
  return copy
}
