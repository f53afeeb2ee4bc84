/**
 * `npm run test:mutants [-- --seed N] [--count N] [--area server/edge]`: plants faults in a scratch copy, one at a time, and reports
 * which tier finds each. The faults are Stryker's mutations (equality, conditions, arithmetic, booleans, removed blocks ...), chosen from a
 * seed across all folders; those that do not compile are replaced. Takes hours; results are added to out/mutants/ as they come.
 */
import { execFileSync } from 'node:child_process'
import { appendFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Instrumenter } from '@stryker-mutator/instrumenter'
import { createDice } from '../support/dice.ts'
import { testsReachedBy } from './changed.ts'
import { root, runScript, script } from './command.ts'
import { listFiles } from './imports.ts'
import type { RunResult } from './totals.ts'

interface Mutant {
  file: string
  mutator: string
  /** Zero-based. */
  start: { line: number; column: number }
  end: { line: number; column: number }
  original: string
  replacement: string
}

/** One command of a tier. */
interface Stage {
  tier: 'npm test' | 'test:full'
  what: string
  /** A program with its arguments, to which names of test files can be added. */
  command: string[]
  files: string[]
}

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
      const plant = () => writeFileSync(path, mutated(source, mutant))
      const remove = () => writeFileSync(path, source)
      plant()
      try {
        if ((await runScript([script('typescript/bin/tsc'), '-b'], { cwd: copy })).code !== 0) continue
        planted += 1
        const finder = await findFault(copy, mutant.file, { plant, remove })
        found[finder?.tier ?? 'nobody'] += 1
        appendFileSync(reportFile, `${JSON.stringify({ ...mutant, found_by: finder ?? null })}\n`)
        const change = `${mutant.original.split('\n')[0]} -> ${mutant.replacement.split('\n')[0]}`
        console.log(`${planted}/${count} ${mutant.file}:${mutant.start.line + 1} ${mutant.mutator} (${change}): ${finder?.what ?? 'NOT FOUND'}`)
      } finally {
        remove()
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

/**
 * Runs the stages in the order of their price until one fails. A failure counts only if the same tests pass without the fault, so that a
 * test that fails by itself finds nothing.
 */
async function findFault(
  copy: string,
  file: string,
  fault: { plant(): void; remove(): void },
): Promise<{ tier: Stage['tier']; what: string } | undefined> {
  for (const { tier, what, command, files } of stagesFor(copy, file)) {
    const run = (names: string[]) => runStage(copy, tier, [...command, ...names])
    const failures = await run(files)
    if (failures === undefined) continue
    fault.remove()
    const control = await run([...new Set(failures.map((line) => line.split(': ')[0]!))].filter((name) => name.startsWith('test/')))
    fault.plant()
    if (control === undefined) return { tier, what: `${tier}, ${what}: ${failures[0] ?? 'it does not build'}` }
    console.log(`  fails without the fault too: ${control.join('; ')}`)
  }
  return undefined
}

function stagesFor(copy: string, file: string): Stage[] {
  const reached = testsReachedBy([file]).filter((test) => !test.startsWith('test/e2e/') && !test.includes('.full.'))
  const reporter = (tool: string) => join(copy, `test/runner/${tool}-reporter.ts`)
  const vitest = [script('vitest/vitest.mjs'), 'run', '--config', 'test/vitest.config.ts', '--bail=1', `--reporter=${reporter('vitest')}`]
  const browser = [
    script('@playwright/test/cli.js'),
    'test',
    '--config',
    'test/e2e/playwright.config.ts',
    '-x',
    `--reporter=${reporter('playwright')}`,
  ]
  const build = [script('vite/bin/vite.js'), 'build', 'renderer', '--logLevel', 'warn']
  return [
    ...(reached.length > 0 ? [{ tier: 'npm test', what: 'tests that the file reaches', command: vitest, files: reached } satisfies Stage] : []),
    { tier: 'npm test', what: 'vitest', command: vitest, files: [] },
    ...(file.startsWith('renderer/') ? [{ tier: 'npm test', what: 'build', command: build, files: [] } satisfies Stage] : []),
    { tier: 'npm test', what: 'browser', command: browser, files: [] },
    { tier: 'test:full', what: 'vitest', command: vitest, files: [] },
    { tier: 'test:full', what: 'browser', command: browser, files: [] },
  ]
}

/** Failures as `file: name of the test`, without any when the command wrote no result; `undefined` if it succeeds. */
async function runStage(copy: string, tier: Stage['tier'], command: string[]): Promise<string[] | undefined> {
  const result_file = join(copy, 'out', 'stage.json')
  rmSync(result_file, { force: true })
  const env = { HOMEPORT_TEST_TIER: tier === 'test:full' ? 'full' : 'default', HOMEPORT_TEST_RESULT: result_file }
  const { code } = await runScript(command, { cwd: copy, env })
  if (code === 0) return undefined
  return existsSync(result_file) ? (JSON.parse(readFileSync(result_file, 'utf8')) as RunResult).failures : []
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
