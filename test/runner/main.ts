/**
 * `main.ts [command] [arguments]`: the program behind `npm test` and the related scripts. Prints the plan, the progress and duration of
 * each part, and finally one line with the counts: `N passed, N failed, N skipped`.
 */
import { appendFileSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { requires } from '../support/requirements.ts'
import { listChangedFiles, defaultBase, findTestsReachedBy } from './changed.ts'
import { runChecks } from './checks.ts'
import { root, runScript, packageScript } from './command.ts'
import { useMemoryFolder } from './memory-folder.ts'
import { runMutationTests } from './mutants.ts'
import { createPlatformLogs } from './platform-logs.ts'
import { type RunResult, type Totals, createTotals } from './totals.ts'

const out = join(root, 'out', 'test')
rmSync(out, { recursive: true, force: true })
mkdirSync(out, { recursive: true })
const lacks_file = join(out, 'lacks.jsonl')
const platformLogs = createPlatformLogs()

const vitest = [packageScript('vitest/vitest.mjs'), 'run', '--config', 'test/vitest.config.ts']
const playwright = [packageScript('@playwright/test/cli.js'), 'test', '--config', 'test/e2e/playwright.config.ts']

/** Tests of the whole repository. */
const architecture = ['test/architecture.test.ts', 'test/names.test.ts', 'test/documents.test.ts']

type Tier = 'default' | 'full'
/** A part of a run: its name and its function. */
type Part = [name: string, run: (totals: Totals) => Promise<void>]

const [command = 'test', ...args] = process.argv.slice(2)
// The full tier measures memory, and what a real disk does.
if (command !== 'full') useMemoryFolder()

if (command === 'check') await runParts([['check', (totals) => runChecks(totals, out)], vitestPart('architecture', architecture)])
else if (command === 'changed') await runParts(changedParts(args))
else if (command === 'full') await runParts(fullParts(args))
else if (command === 'watch') process.exitCode = await watch(args)
else if (command === 'mutants') process.exitCode = await runMutationTests(args)
else if (process.argv.length > 2) process.exitCode = await runSelectedFiles(process.argv.slice(2))
else await runParts([['check', (totals) => runChecks(totals, out)], vitestPart('vitest', []), browserPart('browser', [])])

/** `npm test -- test/edge/cache.test.ts -t "name"`: vitest itself with these arguments, or Playwright for files of test/e2e. */
async function runSelectedFiles(selected: string[]): Promise<number> {
  const tool = selected.some((one) => one.startsWith('test/e2e')) ? playwright : vitest
  // A file that is named explicitly runs in its own tier.
  const tier = process.env.HOMEPORT_TEST_TIER ?? (selected.some((one) => one.includes('.full.')) ? 'full' : 'default')
  const { code } = await runScript([...tool, ...selected], { is_shown: true, env: { HOMEPORT_TEST_TIER: tier } })
  if (code !== 0) platformLogs.keep()
  return code
}

/** vitest keeps running and reruns the tests that each saved file affects. */
async function watch(files: string[]): Promise<number> {
  const { code } = await runScript([packageScript('vitest/vitest.mjs'), 'watch', '--config', 'test/vitest.config.ts', ...files], { is_shown: true })
  return code
}

function changedParts([base = defaultBase()]: string[]): Part[] {
  const changed = listChangedFiles(base)
  const reached = findTestsReachedBy(changed).filter((file) => !file.includes('.full.'))
  const specs = reached.filter((file) => file.startsWith('test/e2e/'))
  const tests = reached.filter((file) => !specs.includes(file))
  console.log(`${changed.length} files differ from ${base}; they reach ${tests.length} test files and ${specs.length} browser specs.`)
  return [
    ['check', (totals) => runChecks(totals, out)],
    ...(tests.length > 0 ? [vitestPart('vitest', tests)] : []),
    ...(specs.length > 0 ? [browserPart('browser', specs)] : []),
  ]
}

/**
 * One part per folder of test/ that has tests, with `check` first and the browser last. Browser tests with Docker are a separate part, because Docker
 * networks that appear and disappear look like a network change to a browser, which aborts its requests.
 */
function fullParts(wanted: string[]): Part[] {
  const folders = readdirSync(join(root, 'test'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && readdirSync(join(root, 'test', entry.name)).some((name) => name.endsWith('.test.ts')))
    .map(({ name }) => name)
    .toSorted()
  const parts: Part[] = [
    ['check', (totals) => runChecks(totals, out, { isFull: true })],
    vitestPart('architecture', architecture, 'full'),
    vitestPart('documents', ['test/recipes.full.test.ts', 'test/tour.full.test.ts'], 'full'),
    ...folders.map((folder) => vitestPart(folder, [`test/${folder}/`], 'full')),
    browserPart('browser', ['--grep-invert=@docker'], 'full'),
    browserPart('browser-docker', ['--grep=@docker'], 'full'),
  ]
  const unknown = wanted.filter((name) => !parts.some(([part]) => part === name))
  if (unknown.length > 0) {
    console.error(`No such part: ${unknown.join(', ')}. There are ${parts.map(([name]) => name).join(', ')}.`)
    process.exit(2)
  }
  return wanted.length === 0 ? parts : parts.filter(([name]) => wanted.includes(name))
}

async function runParts(parts: Part[]): Promise<void> {
  const totals = createTotals(lacks_file, platformLogs)
  const times: [string, number][] = []
  if (parts.length > 1) console.log(`Plan: ${parts.map(([name]) => name).join(', ')}`)
  for (const [name, run] of parts) {
    const started = performance.now()
    if (parts.length > 1) console.log(`\n== ${name} (${times.length + 1} of ${parts.length})`)
    await run(totals)
    times.push([name, (performance.now() - started) / 1000])
  }
  if (parts.length > 1) {
    console.log('\nTime per part:')
    for (const [name, seconds] of times) console.log(`  ${name.padEnd(14)} ${seconds.toFixed(0).padStart(5)} s`)
  }
  process.exitCode = totals.close() ? 0 : 1
}

function vitestPart(name: string, files: string[], tier: Tier = 'default'): Part {
  const reporters = ['--reporter=default', `--reporter=${join(root, 'test/runner/vitest-reporter.ts')}`]
  return [name, (totals) => runSuite(name, [...vitest, ...reporters, ...files], tier, totals)]
}

function browserPart(name: string, files: string[], tier: Tier = 'default'): Part {
  const reporters = `--reporter=list,${join(root, 'test/runner/playwright-reporter.ts')}`
  if (requires('chromium').ok) return [name, (totals) => runSuite(name, [...playwright, reporters, ...files], tier, totals)]
  return [name, (totals) => skipBrowser([...playwright, '--list', ...files], tier, totals)]
}

/** Without a browser its tests are listed and counted as skipped. */
async function skipBrowser(args: string[], tier: Tier, totals: Totals): Promise<void> {
  const { output } = await runScript(args, { env: { HOMEPORT_TEST_TIER: tier } })
  const count = /^Total: (\d+) tests?/m.exec(output)?.[1]
  if (count === undefined) return totals.fail(`the browser tests cannot be listed: ${output}`)
  appendFileSync(lacks_file, `${JSON.stringify({ requirement: 'chromium', file: 'test/e2e' })}\n`)
  totals.add({ passed: 0, failed: 0, failures: [], skipped: { 'test/e2e': Number(count) } })
}

async function runSuite(name: string, args: string[], tier: Tier, totals: Totals): Promise<void> {
  const resultFile = join(out, `${name}.json`)
  const env = { HOMEPORT_TEST_TIER: tier, HOMEPORT_TEST_RESULT: resultFile, HOMEPORT_TEST_LACKS: lacks_file }
  const { code } = await runScript(args, { is_shown: true, env })
  if (!existsSync(resultFile)) return totals.fail(`${name} ended with ${code} and without a result (see above)`)
  const result = JSON.parse(readFileSync(resultFile, 'utf8')) as RunResult
  totals.add(result)
  if (code !== 0 && result.failed === 0) totals.fail(`${name} ended with ${code} although no test failed (see above)`)
}
