import { expect, test } from 'vitest'
import { fullTest } from '../support/full-test.ts'
import { until } from '../support/platform.ts'
import type { DeploymentContext } from './deployment-suite.ts'

const manifest = JSON.stringify({ name: 'shop', private: true, scripts: { start: 'node server.js' } })

/** Returns the response of its sibling, and counts releases and restarts in files of a shared volume. */
export const shop = (version: string): Record<string, string> => ({
  'package.json': manifest,
  'homeport.yaml': `
services:
  web: { build: ., command: node server.js, port: 3000, volumes: ["state:/app/state:ro"] }
  api: { build: ., command: node api.js, port: 4000, public: true }
  worker: { build: ., command: node worker.js, volumes: ["state:/app/state"], environment: { GREETING: hello } }
release: node release.js
volumes: { state: {} }
`,
  'server.js': `
const { readFileSync } = require('node:fs')
require('node:http').createServer(async (request, response) => {
  const api = await fetch(process.env.HOMEPORT_SERVICE_API_URL).then((r) => r.text(), String)
  let worker = ''
  try { worker = readFileSync('state/worker', 'utf8') } catch {}
  response.end(JSON.stringify({ version: '${version}', api, worker }))
}).listen(process.env.PORT, process.env.HOST)
`,
  'api.js': `require('node:http').createServer((request, response) => response.end('api ${version}')).listen(process.env.PORT, process.env.HOST)`,
  'worker.js': `require('node:fs').appendFileSync('state/worker', process.env.GREETING + ' ${version};'); console.log('worker ${version} works'); setInterval(() => {}, 1000)`,
  'release.js': `console.log('released ${version} with ' + process.env.DATABASE_NAME)`,
})

/** The services of a project, on every runtime. */
export function servicesSuite(context: DeploymentContext): void {
  const readHome = async (slug: string) => JSON.parse((await context.platform.fetchEdge(`${slug}.localhost`)).body) as Record<string, string>

  test('web, a public api, a worker with a volume and a release command: a new version replaces all of them', async () => {
    const repository = await context.projectWith('shop', shop('one'))
    const first = await context.deployReady('shop')
    expect(first.build_log).toContain('released one with undefined')
    expect(await readHome('shop')).toEqual({ version: 'one', api: 'api one', worker: 'hello one;' })
    expect(await context.platform.fetchEdge('api--shop.localhost')).toMatchObject({ status: 200, body: 'api one' })
    expect((await context.platform.fetchEdge('worker--shop.localhost')).status).toBe(404)

    repository.commit(shop('two'))
    const second = await context.deployReady('shop')
    expect(await readHome('shop')).toEqual({ version: 'two', api: 'api two', worker: 'hello one;hello two;' })
    expect((await context.platform.fetchEdge('api--shop.localhost')).body).toBe('api two')

    const { body } = await context.platform.api<{ deployment: { id: string } }>('POST', `/v1/projects/shop/deployments/${first.id}/rollback`)
    expect(await context.platform.waitForEnd('shop', body.deployment.id)).toMatchObject({ status: 'ready' })
    expect(await readHome('shop')).toMatchObject({ version: 'one', api: 'api one', worker: 'hello one;hello two;hello one;' })
    expect(second.status).toBe('ready')
  })

  test('a failed release command keeps the old version, and is reported', async () => {
    const repository = await context.projectWith('careful-shop', shop('one'))
    await context.deployReady('careful-shop')
    repository.commit({ ...shop('two'), 'release.js': `console.error('column missing'); process.exit(4)` })
    const failed = await context.deployAndWait('careful-shop')
    expect(failed).toMatchObject({
      status: 'failed',
      error: { code: 'start_failed', message: expect.stringContaining('`node release.js` exited with code 4') },
    })
    expect(failed.build_log).toContain('column missing')
    expect(await readHome('careful-shop')).toEqual({ version: 'one', api: 'api one', worker: 'hello one;' })
  })

  test('the app starts once a job on which it depends has completed; one that fails fails the deployment', async () => {
    const files = (job: string) => ({
      'package.json': manifest,
      'homeport.yaml': `
services:
  migrate: { build: ., command: node migrate.js, volumes: ["state:/app/state"] }
  web: { build: ., command: node server.js, port: 3000, volumes: ["state:/app/state"], depends_on: { migrate: { condition: service_completed_successfully } } }
volumes: { state: {} }
`,
      'migrate.js': job,
      'server.js': `
const found = require('node:fs').readFileSync('state/schema', 'utf8')
require('node:http').createServer((request, response) => response.end(JSON.stringify({ found }))).listen(process.env.PORT, process.env.HOST)
`,
    })
    const write = `require('node:fs').writeFileSync('state/schema', 'migrated')`
    const repository = await context.projectWith('migrated-shop', files(`setTimeout(() => ${write}, 1500)`))
    await context.deployReady('migrated-shop')
    expect(await readHome('migrated-shop')).toEqual({ found: 'migrated' })
    repository.commit(files(`console.error('column missing'); process.exit(4)`))
    expect(await context.deployAndWait('migrated-shop')).toMatchObject({
      status: 'failed',
      error: { code: 'start_failed', message: 'The service “migrate”, which “web” waits for, ended with exit code 4.' },
    })
    expect(await readHome('migrated-shop')).toEqual({ found: 'migrated' })
  })

  fullTest('a worker that keeps exiting fails the deployment; one that exits later is restarted', async () => {
    const repository = await context.projectWith('worker-shop', shop('one'))
    await context.deployReady('worker-shop')
    // A program that exits at once, however slowly the machine starts Node.
    const files = shop('two')
    repository.commit({ ...files, 'homeport.yaml': files['homeport.yaml']?.replace('node worker.js', `["sh", "-c", "exit 7"]`) ?? '' })
    const failed = await context.deployAndWait('worker-shop')
    expect(failed.error).toMatchObject({ code: 'start_failed', message: expect.stringMatching(/“worker” keeps exiting.*code 7/) })
    expect(await readHome('worker-shop')).toEqual({ version: 'one', api: 'api one', worker: 'hello one;' })

    repository.commit({
      ...shop('three'),
      'worker.js': `require('node:fs').appendFileSync('state/worker', 'three;'); setTimeout(() => process.exit(1), 1500)`,
    })
    await context.deployReady('worker-shop')
    await until(
      async () => {
        await context.platform.advance(1_000)
        return (await readHome('worker-shop')).worker?.endsWith('three;three;') || undefined
      },
      { what: 'the worker to start again' },
    )
  })

  fullTest('the error of an app that exits during startup quotes its own output, not that of its services', async () => {
    await context.projectWith('loud-shop', {
      ...shop('one'),
      'server.js': `setTimeout(() => { console.log('no licence'); process.exit(3) }, 300)`,
      'worker.js': `process.on('SIGTERM', () => { console.log('worker says Error: bye'); process.exit(0) }); setInterval(() => console.log('working'), 20)`,
    })
    const { error, build_log } = await context.deployAndWait('loud-shop')
    expect(build_log).toContain('worker | working')
    expect(error).toMatchObject({ code: 'start_failed', hint: expect.stringContaining('no licence') })
    expect(`${error?.message} ${error?.hint}`).not.toContain('work')
  })

  test('settings of the file apply to the project, and a command runs in its own folder', async () => {
    await context.projectWith('folder-shop', {
      'package.json': manifest,
      'homeport.yaml': `
memory_limit_mb: 384
health_path: /ready
services:
  web: { build: ., command: node ../server.js, working_dir: /app/inner, port: 3000 }
`,
      'server.js': `
require('node:http').createServer((request, response) => {
  response.statusCode = request.url === '/' ? 500 : 200
  response.end(require('node:path').basename(process.cwd()))
}).listen(process.env.PORT, process.env.HOST)
`,
      'inner/note': '',
    })
    await context.deployReady('folder-shop')
    expect((await context.platform.fetchEdge('folder-shop.localhost', '/ready')).body).toBe('inner')
    expect(await context.platform.getProject('folder-shop')).toMatchObject({ memory_limit_mb: 384 })
    const { body } = await context.platform.api<{ settings: object }>('GET', '/instance/projects/folder-shop/settings')
    expect(body.settings).toMatchObject({ health_path: '/ready' })
  })

  test('required variables of the file are reported before anything is built', async () => {
    const repository = await context.projectWith('strict-shop', {
      ...shop('one'),
      'homeport.yaml': 'services:\n  web: { build: ., command: node server.js, port: 3000, environment: { KEY: "${STRIPE_KEY:?}" } }\n',
    })
    const failed = await context.deployAndWait('strict-shop')
    expect(failed.error).toMatchObject({ code: 'detect_failed', message: expect.stringContaining('STRIPE_KEY') })
    repository.remove()
  })
}
