/**
 * `npm run test:mutants [-- --seed N] [--count N] [--area server/edge]`: introduces faults into a scratch copy, one at a time, and
 * reports which tier finds each. The faults are chosen from a seed across all folders; those that do not compile are replaced. One run of
 * the suite determines the tests that reach each fault, and only those run with it. Faults that `npm test` misses are tried with the full
 * tier, which takes hours. Results are appended to out/mutants/ as they become available.
 */
import { execFileSync } from 'node:child_process'
import { appendFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { findTestsReachedBy } from './changed.ts'
import { root, runScript, packageScript } from './command.ts'
import { type Mutant, chooseMutants, sourceWithMutant } from './mutations.ts'
import { findTestsByMutant } from './reach.ts'
import type { RunResult } from './totals.ts'

/** One command of a tier. */
interface Stage {
  tier: 'npm test' | 'test:full'
  what: string
  /** A program with its arguments, to which names of test files can be added. */
  command: string[]
  files: string[]
}

export async function runMutationTests(args: string[]): Promise<number> {
  const { values } = parseArgs({ args, options: { seed: { type: 'string' }, count: { type: 'string' }, area: { type: 'string' } } })
  const seed = Number(values.seed ?? 1)
  const results = join(root, 'out', 'mutants')
  mkdirSync(results, { recursive: true })
  const report_file = join(results, `seed-${seed}.jsonl`)

  const copy = scratchCopy()
  const counts = { 'npm test': 0, 'test:full': 0, undetected: 0 }
  try {
    const mutants = await selectCompilingMutants(copy, Number(values.count ?? 40), chooseMutants(copy, seed, values.area))
    const reached = await findTestsByMutant(copy, mutants, [vitest(copy), ...(mutants.some(isOfServer) ? [browser(copy)] : [])])
    const survivors: Mutant[] = []
    const report = (mutant: Mutant, detection: { tier: Stage['tier']; what: string } | undefined) => {
      appendFileSync(
        report_file,
        `${JSON.stringify({ ...mutant, source: undefined, reached_by: [...reached.get(mutant)!], found_by: detection ?? null })}\n`,
      )
      const change = `${mutant.original.split('\n')[0]} -> ${mutant.replacement.split('\n')[0]}`
      console.log(`${mutant.file}:${mutant.start.line + 1} ${mutant.mutator} (${change}): ${detection?.what ?? 'NOT FOUND'}`)
    }
    for (const mutant of mutants) {
      const detection = await findFailingTest(copy, mutant, defaultStages(copy, mutant, reached.get(mutant)!))
      if (detection === undefined) survivors.push(mutant)
      else counts[detection.tier] += 1
      report(mutant, detection)
    }
    console.log(`seed ${seed}: npm test found ${counts['npm test']} of ${mutants.length}; now the full tier for the others`)
    for (const mutant of survivors) {
      const detection = await findFailingTest(copy, mutant, fullStages(copy))
      counts[detection?.tier ?? 'undetected'] += 1
      report(mutant, detection)
    }
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
  console.log(
    `\nseed ${seed}: npm test found ${counts['npm test']}, test:full ${counts['test:full']} more, ${counts.undetected} were not found (${report_file})`,
  )
  return counts.undetected === 0 ? 0 : 1
}

/** Selects `count` mutants that compile. They are compiled together, each in its own file, until the compiler reports none of them. */
async function selectCompilingMutants(copy: string, count: number, source: AsyncGenerator<Mutant>): Promise<Mutant[]> {
  let mutants: Mutant[] = []
  const compile = () => runScript([packageScript('typescript/bin/tsc'), '-b', '--pretty', 'false'], { cwd: copy })
  const { code, output } = await compile()
  if (code !== 0) throw new Error(`The last commit does not compile, so that no fault could be told from it:\n${output}`)
  for (;;) {
    while (mutants.length < count) {
      const { value, done } = await source.next()
      if (done === true) break
      mutants.push(value)
      applyMutant(copy, value)
    }
    const tried = await compile()
    if (tried.code === 0) break
    const wrong = mutants.filter(({ file }) => tried.output.includes(`${file}(`))
    if (wrong.length === 0) throw new Error(`Together the faults break a file that has none:\n${tried.output}`)
    for (const mutant of wrong) revertMutant(copy, mutant)
    mutants = mutants.filter((mutant) => !wrong.includes(mutant))
  }
  for (const mutant of mutants) revertMutant(copy, mutant)
  return mutants
}

const applyMutant = (copy: string, mutant: Mutant) => writeFileSync(join(copy, mutant.file), sourceWithMutant(mutant))
const revertMutant = (copy: string, { file, source }: Mutant) => writeFileSync(join(copy, file), source)
const isOfServer = ({ file }: Mutant) => file.startsWith('server/')

/**
 * Runs the stages until one fails. A failure counts only if the same tests pass without the fault, so that a flaky test does not count as a finding.
 */
async function findFailingTest(copy: string, mutant: Mutant, stages: Stage[]): Promise<{ tier: Stage['tier']; what: string } | undefined> {
  for (const { tier, what, command, files } of stages) {
    const run = (names: string[]) => runStage(copy, tier, [...command, ...names])
    applyMutant(copy, mutant)
    const failures = await run(files).finally(() => revertMutant(copy, mutant))
    if (failures === undefined) continue
    const failuresWithout = await run([...new Set(failures.map((line) => line.split(': ')[0]!))].filter((name) => name.startsWith('test/')))
    if (failuresWithout === undefined) return { tier, what: `${tier}, ${what}: ${failures[0] ?? 'it does not build'}` }
    console.log(`  fails without the fault too: ${failuresWithout.join('; ')}`)
  }
  return undefined
}

/** The tests that reach the fault, nearest first by imports. The dashboard runs in a browser, which records nothing. */
function defaultStages(copy: string, { file }: Mutant, reached: ReadonlySet<string>): Stage[] {
  const near = findTestsReachedBy([file])
  const files = [...reached]
    .filter((name) => /\.test\.tsx?$/.test(name))
    .toSorted((a, b) => (near.indexOf(a) + 1 || near.length + 1) - (near.indexOf(b) + 1 || near.length + 1))
  const stage = (what: string, command: string[], names: string[]): Stage => ({ tier: 'npm test', what, command, files: names })
  return [
    ...[files.slice(0, 8), files.slice(8)].filter(({ length }) => length > 0).map((some) => stage('vitest', [...vitest(copy), '--bail=1'], some)),
    ...(file.startsWith('renderer/') ? [stage('build', build, [])] : []),
    ...(file.startsWith('renderer/') || reached.has('test/e2e/') ? [stage('browser', [...browser(copy), '-x'], [])] : []),
  ]
}

const fullStages = (copy: string): Stage[] => [
  { tier: 'test:full', what: 'vitest', command: [...vitest(copy), '--bail=1'], files: [] },
  { tier: 'test:full', what: 'browser', command: [...browser(copy), '-x'], files: [] },
]

const reporter = (copy: string, tool: string) => `--reporter=${join(copy, `test/runner/${tool}-reporter.ts`)}`
const vitest = (copy: string) => [packageScript('vitest/vitest.mjs'), 'run', '--config', 'test/vitest.config.ts', reporter(copy, 'vitest')]
const browser = (copy: string) => [
  packageScript('@playwright/test/cli.js'),
  'test',
  '--config',
  'test/e2e/playwright.config.ts',
  reporter(copy, 'playwright'),
]
const build = [packageScript('vite/bin/vite.js'), 'build', 'renderer', '--logLevel', 'warn']

/** Failures as `file: test name`, empty if the command wrote no result; `undefined` if it succeeds. */
async function runStage(copy: string, tier: Stage['tier'], command: string[]): Promise<string[] | undefined> {
  const result_file = join(copy, 'out', 'stage.json')
  rmSync(result_file, { force: true })
  const env = { HOMEPORT_TEST_TIER: tier === 'test:full' ? 'full' : 'default', HOMEPORT_TEST_RESULT: result_file }
  const { code } = await runScript(command, { cwd: copy, env })
  if (code === 0) return undefined
  return existsSync(result_file) ? (JSON.parse(readFileSync(result_file, 'utf8')) as RunResult).failures : []
}

/** A clone of the last commit that uses the same packages. */
function scratchCopy(): string {
  const copy = mkdtempSync(join(tmpdir(), 'homeport-mutants-'))
  execFileSync('git', ['clone', '--quiet', root, copy])
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
  cpSync(join(root, 'out'), join(copy, 'out'), { recursive: true, filter: (path) => !path.includes('/out/mutants') })
  return copy
}
