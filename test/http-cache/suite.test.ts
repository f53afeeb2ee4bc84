import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestPlatform, type TestPlatform } from '../support/platform.ts'
import { makeRepository, type Repository } from '../support/repository.ts'
import { known } from './known.ts'
import { askSuite, figures, passed, suiteFolder, suiteTests, type Results } from './suite.ts'

// The public suite for HTTP caches: its server is deployed as an app, its client asks the app's name at the edge.
const tests = await suiteTests()

let platform: TestPlatform
let repository: Repository
let results: Results = {}

beforeAll(async () => {
  repository = makeRepository(suiteApp())
  platform = await startTestPlatform({ runtime: 'process' })
  await platform.createProject({ slug: 'suite', repo_url: repository.url })
  const { id } = await platform.deploy('suite')
  const { status, build_log } = await platform.ended('suite', id)
  expect(status, build_log).toBe('ready')
  const { port } = new URL(platform.platform.instance.edge_url)
  ;({ results } = await askSuite(`http://suite.localhost:${port}`))
}, 180_000)

afterAll(async () => {
  console.log(`HTTP cache suite: ${figures(tests, results)}`)
  await platform?.remove()
  repository?.remove()
})

describe.each(['required', 'optimal'] as const)('%s', (kind) => {
  test.each(tests.filter((one) => one.kind === kind))('$id: $name', (one) => {
    const why = results[one.id]
    if (known[one.id] === undefined) {
      expect(why).toBe(true)
      expect(one.depends_on.filter((id) => !tests.some((other) => other.id === id && passed(other, tests, results)))).toEqual([])
    } else expect(passed(one, tests, results), `it passes now: take it out of known.ts`).toBe(false)
  })
})

test('the list of what does not pass names tests of the suite', () => {
  expect(Object.keys(known).filter((id) => !tests.some((one) => one.id === id && one.kind !== 'check'))).toEqual([])
})

/** Its server as a repository that starts by the platform's PORT. */
function suiteApp(): Record<string, string> {
  const files: Record<string, string> = {
    'package.json': JSON.stringify({ name: 'suite', private: true, type: 'module', scripts: { start: 'node start.mjs' } }),
    'index.html': 'The suite for HTTP caches.',
    'start.mjs': `process.env.npm_config_protocol = 'http'
process.env.npm_config_port = process.env.PORT
process.env.npm_config_pidfile = '/dev/null'
await import(new URL('server/server.mjs', import.meta.url))
`,
  }
  for (const folder of ['server', 'lib']) {
    for (const name of readdirSync(join(suiteFolder, folder)))
      if (name.endsWith('.mjs')) files[`${folder}/${name}`] = readFileSync(join(suiteFolder, folder, name), 'utf8')
  }
  return files
}
