/**
 * `npm test`: installs what is missing and runs every check. The closing summary names what this machine lacks and what was not
 * run for it; the last line counts. `npm run check` (`--checks`) leaves the suites out,
 * `npm test -- test/edge` runs that room alone. Runs on any Node from 20.19.
 */
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { delimiter, dirname, join, relative, resolve } from 'node:path'
import { buildChanged, installMissing, nodePath, root } from '../server/cli/prepare.mjs'

const reports = join(root, 'out', 'test')
const isCheckOnly = process.argv.includes('--checks')
/** Folders or files of test/: only these suites are run, without the checks. */
const only = process.argv.slice(2).filter((argument) => !argument.startsWith('--'))
const total = { passed: 0, failed: 0, skipped: 0 }
/** One line per failure, for the summary. */
const failures = []
/** Tests that did not run, by the file that they are in. */
const skippedIn = new Map()

try {
  await installMissing()
} catch (error) {
  console.error(error.message)
  console.log('0 passed, 1 failed, 0 skipped')
  process.exit(1)
}
rmSync(reports, { recursive: true, force: true })
mkdirSync(reports, { recursive: true })

const bin = (name) => join(root, 'node_modules', name)

if (only.length > 0) await vitest(only)
else {
  await checkAll()
  await (isCheckOnly ? vitest(['test/architecture.test.ts']) : suites())
}

const lacks = await summarize()
process.exitCode = total.failed > 0 || lacks.unexplained > 0 ? 1 : 0
console.log(`\n${total.passed} passed, ${total.failed + lacks.unexplained} failed, ${total.skipped} skipped`)

async function checkAll() {
  await check('types', bin('typescript/bin/tsc'), ['-b'])
  await check('lint', bin('oxlint/bin/oxlint'), ['--type-aware', '--quiet', '--threads', '2'])
  await check('format', bin('oxfmt/bin/oxfmt'), ['--check', '--threads', '2'])
  await check('unused', bin('knip/bin/knip.js'), [
    '--include',
    'files,dependencies,unlisted,unresolved,binaries',
    '--no-progress',
    '--no-config-hints',
  ])
  await checkDescription()
  await checkBuild()
}

async function suites() {
  await vitest()
  await playwright()
}

/** A check that passes or fails as a whole. What it printed is shown when it fails. */
async function check(name, script, args, minutes = 5) {
  const { code, output, seconds } = await run([script, ...args], { minutes })
  report(name, code === 0, seconds, output)
  return code === 0
}

function report(name, isGood, seconds, output = '') {
  console.log(`${isGood ? 'ok    ' : 'FAILED'}  ${name} (${seconds} s)`)
  total[isGood ? 'passed' : 'failed'] += 1
  if (isGood) return
  failures.push(name)
  console.log(output.trimEnd().replace(/^/gm, '    '))
}

/** The OpenAPI document is made and linted as anybody who reads it would. */
async function checkDescription() {
  const path = join(reports, 'openapi.json')
  const make = `import { openApiDocument } from ${JSON.stringify(join(root, 'server/http/openapi.ts'))}; import { writeFileSync } from 'node:fs'; writeFileSync(${JSON.stringify(path)}, JSON.stringify(openApiDocument(), null, 2))`
  const made = await run(['--input-type=module', '--eval', make], { minutes: 1 })
  if (made.code !== 0) return report('openapi', false, made.seconds, made.output)
  await check('openapi', bin('@redocly/cli/bin/cli.js'), [
    'lint',
    '--extends',
    'recommended',
    '--skip-rule',
    'operation-4xx-response',
    '--format',
    'stylish',
    path,
  ])
}

async function checkBuild() {
  const begun = Date.now()
  try {
    await buildChanged()
    report('build', true, Math.round((Date.now() - begun) / 1000))
  } catch (error) {
    report('build', false, Math.round((Date.now() - begun) / 1000), error.message)
  }
}

async function vitest(files = []) {
  const path = join(reports, 'vitest.json')
  const args = ['run', '--config', 'test/vitest.config.ts', '--reporter=default', '--reporter=json', `--outputFile.json=${path}`, ...files]
  const { code } = await run([bin('vitest/vitest.mjs'), ...args], { minutes: 40, isShown: true })
  const { testResults } = readReport(path, 'vitest', code) ?? { testResults: [] }
  for (const file of testResults) {
    const name = relative(root, file.name)
    const counts = { passed: 0, failed: 0, skipped: 0 }
    for (const one of file.assertionResults) {
      const outcome = one.status === 'passed' || one.status === 'failed' ? one.status : 'skipped'
      counts[outcome] += 1
      if (outcome === 'failed') failures.push(`${name}: ${one.fullName}`)
    }
    // A file that could not even be read, or whose set-up failed, has no failed test of its own.
    if (file.status === 'failed' && counts.failed === 0) {
      counts.failed = 1
      failures.push(`${name}: ${String(file.message).split('\n')[0]}`)
    }
    add(name, counts)
  }
  if (code !== 0 && total.failed === 0) {
    total.failed += 1
    failures.push('vitest ended with an error beside the tests (see above)')
  }
}

async function playwright() {
  const config = 'test/e2e/playwright.config.ts'
  if (!existsSync(join(root, config))) return
  const path = join(reports, 'playwright.json')
  const hasBrowser = !(await lacking()).some((one) => one.name === 'chromium')
  const args = ['test', '--config', config, hasBrowser ? '--reporter=list,json' : '--reporter=json', ...(hasBrowser ? [] : ['--list'])]
  const env = { PLAYWRIGHT_JSON_OUTPUT_NAME: path, PLAYWRIGHT_JSON_OUTPUT_FILE: path }
  const { code } = await run([bin('@playwright/test/cli.js'), ...args], { minutes: 30, isShown: hasBrowser, env })
  const { suites, errors } = readReport(path, 'playwright', code) ?? { suites: [], errors: [] }
  for (const error of errors ?? []) {
    total.failed += 1
    failures.push(`browser: ${String(error.message).split('\n')[0]}`)
  }
  for (const { file, spec } of specsOf(suites)) {
    const counts = { passed: 0, failed: 0, skipped: 0 }
    for (const one of spec.tests) {
      const outcome = !hasBrowser || one.status === 'skipped' ? 'skipped' : one.status === 'expected' ? 'passed' : 'failed'
      counts[outcome] += 1
      if (outcome === 'failed') failures.push(`${file}: ${spec.title}`)
    }
    add(join('test/e2e', file), counts)
  }
}

function* specsOf(suites) {
  for (const suite of suites ?? []) {
    for (const spec of suite.specs ?? []) yield { file: suite.file, spec }
    yield* specsOf(suite.suites)
  }
}

function add(file, counts) {
  for (const outcome of Object.keys(counts)) total[outcome] += counts[outcome]
  if (counts.skipped > 0) skippedIn.set(file, (skippedIn.get(file) ?? 0) + counts.skipped)
}

function readReport(path, name, code) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    total.failed += 1
    failures.push(`${name} ended with ${code} and without a report (see above)`)
    return undefined
  }
}

/** What test/support/requirements.ts misses on this machine: [{name, reason}]. */
async function lacking() {
  const ask = `import { requirements, requires } from ${JSON.stringify(join(root, 'test/support/requirements.ts'))}
    console.log(JSON.stringify(requirements.map((name) => ({ name, ...requires(name) })).filter((one) => !one.ok)))`
  const { output } = await run(['--input-type=module', '--eval', ask], { minutes: 1 })
  return JSON.parse(output.trim().split('\n').at(-1))
}

/** Names every requirement that this machine lacks, and what was not run for it. A skipped test without one counts as failed. */
async function summarize() {
  const missing = await lacking()
  const forWant = new Map(missing.map((one) => [one.name, 0]))
  const unexplained = []
  for (const [file, count] of skippedIn) {
    const named = requirementsOf(join(root, file))
    if (file.startsWith('test/e2e')) named.add('chromium')
    const cause = [...named].find((name) => forWant.has(name))
    if (cause === undefined) unexplained.push([file, count])
    else forWant.set(cause, forWant.get(cause) + count)
  }
  if (failures.length > 0) console.log(`\nFailed:\n${failures.map((line) => `  ${line}`).join('\n')}`)
  if (missing.length > 0) {
    console.log('\nNot on this machine:')
    for (const { name, reason } of missing) console.log(`  ${name}: ${reason} (${forWant.get(name)} tests not run for it)`)
  }
  for (const [file, count] of unexplained) console.log(`  ${file}: ${count} tests were skipped and no requirement says why; that counts as failed`)
  const sum = unexplained.reduce((all, [, count]) => all + count, 0)
  total.skipped -= sum
  return { unexplained: sum }
}

/** The requirements that a test file names, itself or in what it imports of test/. */
function requirementsOf(file, seen = new Set()) {
  if (seen.has(file) || !existsSync(file)) return new Set()
  seen.add(file)
  const source = readFileSync(file, 'utf8')
  const found = new Set([...source.matchAll(/requires\(\s*'(\w+)'/g)].map(([, name]) => name))
  for (const [, path] of source.matchAll(/from '(\.{1,2}\/[^']+\.ts)'/g)) {
    const target = resolve(dirname(file), path)
    if (target.startsWith(join(root, 'test')) && !target.endsWith('support/requirements.ts'))
      for (const name of requirementsOf(target, seen)) found.add(name)
  }
  return found
}

/** Runs a script on our own Node, with `node_modules/.bin` first on the PATH. A hanging one is ended. */
function run(args, { minutes, isShown = false, env = {} }) {
  const begun = Date.now()
  return new Promise((resolve) => {
    const child = spawn(nodePath(), args, {
      cwd: root,
      stdio: ['ignore', isShown ? 'inherit' : 'pipe', isShown ? 'inherit' : 'pipe'],
      env: {
        ...process.env,
        PATH: `${join(root, 'node_modules/.bin')}${delimiter}${process.env.PATH}`,
        REDOCLY_TELEMETRY: 'off',
        REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
        ...env,
      },
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (output += chunk))
    const timer = setTimeout(() => {
      output += `\nIt did not end within ${minutes} minutes.`
      child.kill('SIGKILL')
    }, minutes * 60_000)
    child.on('close', (code) => {
      clearTimeout(timer)
      resolve({ code: code ?? 1, output, seconds: ((Date.now() - begun) / 1000).toFixed(1) })
    })
  })
}
