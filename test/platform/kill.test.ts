import { writeFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Deployment } from '../../server/contract/deployments.ts'
import { fullTest } from '../support/full-test.ts'
import { signalFileIn, startTestPlatform, until, type TestPlatform } from '../support/platform.ts'
import { makeRepository, type Repository } from '../support/repository.ts'
import { isFullTier } from '../support/tier.ts'
import { assertIntact, assertNothingLeft } from './kill-checks.ts'

/*
 * One `kill -9` of each kind, at a moment that the test chooses: a deployment acknowledged with 201 exists once and ends, and nothing is left
 * behind. Uploads: upload-suite.ts. Branches: deployments/git-watcher-apps.test.ts. Sleep: deployments/sleep-suite.ts. Migrations: store/sqlite.test.ts.
 */

let platform: TestPlatform
let repository: Repository
const signalFile = (name: string) => signalFileIn(platform.data_dir, `${name}-may-go-on`)
const open = (name: string) => writeFileSync(signalFile(name), '')

/** An app that returns its deployment's id. Its build and its start each wait for a file. */
const files = (build: string, start: string, onTerm = 'server.close(() => process.exit(0))') => ({
  'package.json': JSON.stringify({
    name: 'app',
    private: true,
    scripts: { build: `echo begun; until [ -e ${signalFile(build)} ]; do sleep 0.05; done`, start: 'node server.js' },
  }),
  'server.js': `
const server = require('node:http').createServer((request, response) => response.end(process.env.HOMEPORT_DEPLOYMENT_ID))
process.on('SIGTERM', () => { ${onTerm} })
const look = setInterval(() => {
  if (!require('node:fs').existsSync('${signalFile(start)}')) return
  clearInterval(look)
  server.listen(process.env.PORT, process.env.HOST)
}, 20)`,
})

beforeAll(async () => {
  platform = await startTestPlatform({ runtime: 'process' })
  open('always')
  repository = makeRepository(files('always', 'always'))
  await platform.createProject({ slug: 'phoenix', repo_url: repository.url })
  const { id } = await platform.deploy('phoenix')
  expect(await platform.waitForEnd('phoenix', id)).toMatchObject({ status: 'ready' })
})
afterAll(async () => {
  await platform.remove()
  repository.remove()
})

const killAndRestart = async () => {
  await platform.kill()
  assertIntact(platform.data_dir)
  platform = await startTestPlatform({ runtime: 'process', data_dir: platform.data_dir })
}
const serves = (id: string) =>
  until(async () => expect(await platform.fetchEdge('phoenix.localhost')).toMatchObject({ status: 200, body: id }) ?? true, {
    what: `${id} to serve`,
  })
const onceEach = async (ids: string[]) => {
  const { body } = await platform.api<{ deployments: Deployment[] }>('GET', '/v1/projects/phoenix/deployments?limit=100')
  for (const id of ids) expect(body.deployments.filter((one) => one.id === id)).toHaveLength(1)
}

/** By default only a build: the deployment starts over in the same way. */
const steps = [
  ['a build', 'built', 'always', 'building'],
  ['a start', 'always', 'started', 'deploying'],
]
test.each(steps.slice(0, isFullTier ? 2 : 1))(
  'kill -9 during %s: the old version serves, and the deployment starts over',
  async (_, build, start, status) => {
    const before = (await platform.fetchEdge('phoenix.localhost')).body
    repository.commit(files(build, start))
    const { id } = await platform.deploy('phoenix')
    await until(
      async () => {
        const seen = await platform.getDeployment('phoenix', id)
        return (seen.status === status && seen.build_log.includes('begun')) || undefined
      },
      { what: `${id} to be ${status}` },
    )
    await killAndRestart()
    await serves(before)
    open(build)
    open(start)
    expect(await platform.waitForEnd('phoenix', id)).toMatchObject({ status: 'ready', error: null })
    await onceEach([id])
    await serves(id)
    await assertNothingLeft({ data: platform.data_dir, engine: undefined })
  },
)

fullTest('kill -9 with a queue: the queued deployments run in order, and only the newest of a project', async () => {
  repository.commit(files('queued', 'always'))
  const running = await platform.deploy('phoenix')
  await until(async () => (await platform.getDeployment('phoenix', running.id)).build_log.includes('begun') || undefined, {
    what: 'the build to run',
  })
  const [older, newer] = [await platform.deploy('phoenix'), await platform.deploy('phoenix')]
  await killAndRestart()
  open('queued')
  expect(await platform.waitForEnd('phoenix', running.id)).toMatchObject({ status: 'ready' })
  expect(await platform.waitForEnd('phoenix', older.id)).toMatchObject({ status: 'canceled' })
  expect(await platform.waitForEnd('phoenix', newer.id)).toMatchObject({ status: 'ready' })
  await onceEach([running.id, older.id, newer.id])
  await serves(newer.id)
  await assertNothingLeft({ data: platform.data_dir, engine: undefined })
})

test('kill -9 during a delete: the project stays deleted, and its app and files are removed', async () => {
  repository.commit(files('always', 'always', ''))
  const { id } = await platform.deploy('phoenix')
  expect(await platform.waitForEnd('phoenix', id)).toMatchObject({ status: 'ready' })
  // The app ignores SIGTERM, so it is still being stopped when the platform dies.
  expect((await platform.api('DELETE', '/v1/projects/phoenix')).status).toBe(204)
  await killAndRestart()
  expect((await platform.api('GET', '/v1/projects/phoenix')).status).toBe(404)
  expect((await platform.fetchEdge('phoenix.localhost')).status).toBe(404)
  await assertNothingLeft({ data: platform.data_dir, engine: undefined })
})
