import { spawn, type ChildProcess } from 'node:child_process'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The public suite for HTTP caches (https://cache-tests.fyi): its own unmodified server and client. */
export const suiteFolder = dirname(fileURLToPath(import.meta.resolve('http-cache-tests/package.json')))

export type Kind = 'required' | 'optimal' | 'check'

export interface SuiteTest {
  id: string
  name: string
  /** The part of the suite that contains it. */
  group: string
  kind: Kind
  depends_on: string[]
}

/** The client's result: true, or the reason (`['Assertion', 'Response 2 comes from cache']`). */
export type Results = Record<string, true | [kind: string, reason: string]>

interface SuiteFile {
  default: Group | Group[]
}
interface Group {
  id: string
  tests: { id: string; name: string; kind?: Kind; browser_only?: boolean; depends_on?: string[] }[]
}

/** Every test for proxies. Surrogate-Control, a draft that RFC 9213 replaced, is not in the suite's own count. */
export async function suiteTests(): Promise<SuiteTest[]> {
  const { default: groups } = (await import(join(suiteFolder, 'tests/index.mjs'))) as SuiteFile
  return [groups]
    .flat()
    .flatMap((group) =>
      group.tests
        .filter((test) => test.browser_only !== true)
        .map((test) => ({ id: test.id, name: test.name, group: group.id, kind: test.kind ?? 'required', depends_on: test.depends_on ?? [] })),
    )
}

/** Whether it passed. As on cache-tests.fyi, a test has no result if one that it depends on failed. */
export function passed(test: SuiteTest, tests: SuiteTest[], results: Results): boolean {
  return results[test.id] === true && test.depends_on.every((id) => tests.every((one) => one.id !== id || passed(one, tests, results)))
}

/** How many passed on their own (as proxies are compared), and how many if their dependencies must pass too. */
export function count(tests: SuiteTest[], results: Results, kind: Kind): { passed: number; strictly: number; all: number } {
  const those = tests.filter((test) => test.kind === kind)
  return {
    passed: those.filter((test) => results[test.id] === true).length,
    strictly: those.filter((test) => passed(test, tests, results)).length,
    all: those.length,
  }
}

/** `required 157/157, optimal 86/86`, and the strict counts where they are lower. */
export function formatCounts(tests: SuiteTest[], results: Results): string {
  const figure = (kind: Kind): string => {
    const { passed, strictly, all } = count(tests, results, kind)
    return `${kind} ${passed}/${all}${strictly < passed ? ` (${strictly} of them with all that they build on)` : ''}`
  }
  return `${figure('required')}, ${figure('optimal')}`
}

/** Its server as a local process, for runs without a platform in between. */
export async function startSuiteServer(): Promise<{ port: number; stop(): Promise<void> }> {
  const port = await freePort()
  const child = spawn(process.execPath, ['server/server.mjs'], {
    cwd: suiteFolder,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, npm_config_protocol: 'http', npm_config_port: String(port), npm_config_pidfile: '/dev/null' },
  })
  await new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (text) => /Listening/.test(String(text)) && resolve())
    child.once('exit', (code) => reject(new Error(`the suite's server ended with ${code}`)))
  })
  return { port, stop: () => ended(child) }
}

// Node does not resolve *.localhost, so the client resolves it to this address.
const lookup =
  "import http from 'node:http'; http.globalAgent.options.lookup = (host, options, done) => options.all ? done(null, [{ address: '127.0.0.1', family: 4 }]) : done(null, '127.0.0.1', 4)"

/** Runs its client against `base` (`http://name:port`, any name). Takes a minute, because the suite waits for responses to age. */
export async function runSuite(base: string): Promise<Results> {
  const child = spawn(process.execPath, ['--no-warnings', '--import', `data:text/javascript,${encodeURIComponent(lookup)}`, 'cli.mjs'], {
    cwd: suiteFolder,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, npm_config_base: base, npm_config_id: '', npm_package_config_id: '' },
  })
  let text = ''
  let errors = ''
  child.stdout.on('data', (part) => (text += part))
  child.stderr.on('data', (part) => (errors += part))
  const code = await new Promise((resolve) => child.once('close', resolve))
  if (code !== 0) throw new Error(`the suite's client ended with ${String(code)}: ${errors}`)
  return JSON.parse(text) as Results
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGTERM')
  await gone
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })
}
