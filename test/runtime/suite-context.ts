import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import type { Artifact, Runtime, RuntimeOptions } from '../../server/runtime/runtime.ts'
import {
  buildApp,
  runtimeOptions,
  serverPlan,
  startApp,
  type BuildOptions,
  type BuiltApp,
  type StartedApp,
  type StartOptions,
} from '../support/runtime.ts'
import { createTestClock, type TestClock } from '../support/test-clock.ts'

export interface Driver {
  /** Which tests the default tier leaves out (`commonTest`). */
  tested_as: 'process' | 'docker'
  create(options: RuntimeOptions): Runtime
  /** Whether the clock of the options measures the grace period. Docker's engine uses its own. */
  has_own_grace: boolean
  /** Everything of a deployment on this machine: folders, processes, containers, images. */
  leftovers(options: RuntimeOptions, deploymentId: string): Promise<string[]>
  /** Paths in an artifact whose content includes one of these texts. */
  search(artifact: Artifact, texts: string[]): Promise<string[]>
  cleanUp(options: RuntimeOptions, runtime: Runtime): Promise<void>
}

/** The shared context of a driver's tests, available once the first test starts. */
export interface SuiteContext {
  readonly driver: Driver
  readonly options: RuntimeOptions
  readonly clock: TestClock
  readonly runtime: Runtime
  /** An app that is built once and runs a given script. */
  readonly app: BuiltApp
  build(options: BuildOptions): Promise<BuiltApp>
  /** Starts `app` with a script. */
  run(script: string, more?: StartOptions): Promise<StartedApp>
}

/** Part of the host's certificates, to search for where they must not be. */
export const certificateMark = 'HPSENT_certificates'

export const manifest = (more: object = {}) => JSON.stringify({ name: 'app', version: '1.0.0', ...more })

/** Answers every request, and exits with 3 on request. */
export const hello = `
const http = require('node:http')
http.createServer((request, response) => response.end('hello ' + (process.env.WHO ?? 'you'))).listen(process.env.PORT, process.env.HOST, () => console.log('listening'))
process.on('SIGTERM', () => { console.log('leaving'); process.exit(3) })
`

/** One driver with its own data folder and the app that is built once. */
export function createContext(driver: Driver): SuiteContext {
  let options: Awaited<ReturnType<typeof runtimeOptions>>
  let runtime: Runtime
  let app: BuiltApp
  const clock = createTestClock()
  const build = (more: BuildOptions) => buildApp(runtime, options, more)
  beforeAll(async () => {
    options = { ...(await runtimeOptions()), clock }
    const marked = join(options.data_dir, 'ca.crt')
    await writeFile(marked, `${options.ca_file ? await readFile(options.ca_file, 'utf8') : ''}\n# ${certificateMark}\n`)
    options.ca_file = marked
    runtime = driver.create(options)
    app = await build({ files: { 'server.js': 'eval(process.env.SCRIPT)', 'package.json': manifest() }, plan: serverPlan() })
  })
  afterAll(async () => {
    await driver.cleanUp(options, runtime)
    await runtime.close()
    await options.remove()
  })
  return {
    driver,
    clock,
    get options() {
      return options
    },
    get runtime() {
      return runtime
    },
    get app() {
      return app
    },
    build,
    run: (script, more = {}) => startApp(runtime, app, { ...more, variables: { ...more.variables, SCRIPT: script } }),
  }
}
