import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Deployment } from '../../server/contract/deployments.ts'
import { createTarGz } from '../support/archives.ts'
import { sendRequest } from '../support/http-request.ts'
import { commonTest, fullTest } from '../support/full-test.ts'
import { followRuntimeLog } from '../support/event-stream.ts'
import { listDockerLeftovers, startTestPlatform, until, type TestPlatform } from '../support/platform.ts'
import { findProcessesByCommand } from '../support/processes.ts'
import { makeRepository, tinyServer, type Repository } from '../support/repository.ts'
import { sharedPlatform } from '../support/shared-platform.ts'
import { measureActiveTime } from '../support/active-time.ts'
import { isFullTier } from '../support/tier.ts'

export interface DeploymentContext {
  platform: TestPlatform
  projectWith(slug: string, files: Record<string, string>): Promise<Repository>
  /** Deploys and expects success. */
  deployReady(slug: string): ReturnType<TestPlatform['waitForEnd']>
  /** Deploys and returns the result. */
  deployAndWait(slug: string): ReturnType<TestPlatform['waitForEnd']>
  /** A repository that is removed with the context. */
  createRepository(files: Record<string, string>): Repository
}

/** One platform for all tests of a suite. */
export const useDeploymentContext = (runtime: 'process' | 'docker', docker_candidates?: string[], host_module?: string): DeploymentContext =>
  createDeploymentContext(() => startTestPlatform({ runtime, ...(docker_candidates && { docker_candidates }), ...(host_module && { host_module }) }))

/** The platform that the files of a worker share, for suites that neither stop it nor change its settings. */
export const useSharedDeploymentContext = (runtime: 'process' | 'docker'): DeploymentContext =>
  createDeploymentContext(() => sharedPlatform({ runtime }))

function createDeploymentContext(start: () => Promise<TestPlatform>): DeploymentContext {
  const repositories: Repository[] = []
  const context: DeploymentContext = {
    platform: undefined as never,
    createRepository(files) {
      repositories.push(makeRepository(files))
      return repositories.at(-1)!
    },
    async projectWith(slug, files) {
      const repository = context.createRepository(files)
      await context.platform.createProject({ slug, repo_url: repository.url, previews: false })
      return repository
    },
    deployAndWait: async (slug) => context.platform.waitForEnd(slug, (await context.platform.deploy(slug)).id),
    async deployReady(slug) {
      const deployment = await context.deployAndWait(slug)
      expect(deployment).toMatchObject({ status: 'ready', error: null })
      return deployment
    },
  }
  beforeAll(async () => {
    context.platform = await start()
  })
  afterAll(async () => {
    await context.platform.remove()
    for (const repository of repositories) repository.remove()
  })
  return context
}

/** An app whose build prints `begun` and then never ends. */
const endlessBuild = (mark = '') => ({
  ...tinyServer('never'),
  'package.json': JSON.stringify({
    name: 'endless',
    private: true,
    scripts: { build: `node -e "console.log('begun'); setInterval(() => {}, 1000)" ${mark}`, start: 'node server.js' },
  }),
})
const server = (text: string, extra = '') => ({ 'server.js': tinyServer(text, extra)['server.js'] ?? '' })

/** Requirements for every deployment, on every runtime. */
export function coreDeploymentSuite(context: DeploymentContext, runtime: 'process' | 'docker'): void {
  const { projectWith, deployReady: live, deployAndWait: deployed } = context

  test('a repository goes live, and the deployment has every field of the contract', async () => {
    await projectWith('first', tinyServer('one'))
    const deployment = await live('first')
    expect(await context.platform.fetchEdge('first.localhost')).toMatchObject({ status: 200, body: 'one' })
    expect(deployment).toMatchObject({
      target: 'production',
      trigger: 'manual',
      source: 'git',
      branch: 'main',
      commit_sha: expect.stringMatching(/^[0-9a-f]{40}$/),
      commit_message: 'First',
      commit_author: 'Test Author',
      is_dirty: false,
      is_current: true,
      can_rollback: true,
      url: context.platform.handle.edge_url.replace('127.0.0.1', 'first.localhost'),
      queue_position: null,
      framework: 'node',
      runtime: context.platform.runtime,
    })
    expect(deployment.steps.map((step) => `${step.name} ${step.status}`)).toEqual([
      'clone done',
      'detect done',
      'install skipped',
      'build skipped',
      'start done',
      'health_check done',
      'route done',
    ])
    expect(deployment.build_log_lines).toBe(deployment.build_log.trimEnd().split('\n').length)
    expect(await context.platform.getProject('first')).toMatchObject({ status: 'live', is_connected: true })
  })

  commonTest(runtime)('a failed build leaves the old version serving and the project live', async () => {
    const repository = await projectWith('careful', tinyServer('good'))
    await live('careful')
    repository.commit({
      'package.json': JSON.stringify({ name: 'tiny', private: true, scripts: { build: 'echo about to break; exit 3', start: 'node server.js' } }),
    })
    const failed = await deployed('careful')
    expect(failed).toMatchObject({
      status: 'failed',
      error: {
        code: 'build_failed',
        message: expect.stringMatching(/^`npm run build` ended with exit code 3 after [\d.]+ s\.$/),
        hint: expect.stringMatching(/\nabout to break$/),
      },
    })
    expect(failed.build_log).toContain('about to break')
    expect(failed.steps.find((step) => step.name === 'build')?.status).toBe('failed')
    expect(await context.platform.fetchEdge('careful.localhost')).toMatchObject({ status: 200, body: 'good' })
    expect((await context.platform.getProject('careful')).status).toBe('live')
  })

  commonTest(runtime)('a rollback restores the earlier commit and reuses its build; a retry builds the same commit again', async () => {
    const repository = await projectWith('returning', tinyServer('old'))
    const first = await live('returning')
    repository.commit(server('new'))
    const second = await live('returning')
    expect((await context.platform.fetchEdge('returning.localhost')).body).toBe('new')
    const again = async (id: string, how: 'rollback' | 'retry') => {
      const { status, body } = await context.platform.api<{ deployment: Deployment }>('POST', `/v1/projects/returning/deployments/${id}/${how}`)
      expect(status).toBe(201)
      return context.platform.waitForEnd('returning', body.deployment.id)
    }
    const back = await again(first.id, 'rollback')
    expect(back).toMatchObject({ status: 'ready', trigger: 'rollback', parent_id: first.id, commit_sha: first.commit_sha })
    expect(back.steps.find((step) => step.name === 'build')?.status).toBe('skipped')
    expect((await context.platform.fetchEdge('returning.localhost')).body).toBe('old')
    expect((await context.platform.getDeployment('returning', first.id)).is_current).toBe(false)

    repository.commit(server('newest'))
    expect(await again(second.id, 'retry')).toMatchObject({ status: 'ready', trigger: 'retry', parent_id: second.id, commit_sha: second.commit_sha })
    expect((await context.platform.fetchEdge('returning.localhost')).body).toBe('new')
  })

  fullTest('an app on a port of its own choice is found there, also after a restart and in its next version', async () => {
    const port = 20_000 + (process.pid % 10_000)
    const version = (text: string) => ({
      'server.js': `require('node:http').createServer((q, r) => (q.url === '/exit' ? process.exit() : r.end('${text}'))).listen(${port}, process.env.HOST, () => console.log('listens'))`,
    })
    const repository = await projectWith('elsewhere', { ...tinyServer('x'), ...version('there') })
    const found = async () => {
      const { id } = await context.platform.deploy('elsewhere')
      const look = () => context.platform.getDeployment('elsewhere', id)
      await until(async () => ((await look()).build_log.includes('listens') ? true : undefined), { what: 'the app to listen' })
      const ended = async () => {
        await context.platform.advance(1_000)
        const seen = await look()
        return seen.finished_at === null ? undefined : seen
      }
      return until(ended, { what: 'the app to be found on its port' })
    }
    const answers = (text: string) =>
      until(async () => ((await context.platform.fetchEdge('elsewhere.localhost')).body === text ? true : undefined), { what: `the answer ${text}` })
    const first = await found()
    expect(first).toMatchObject({ status: 'ready', error: null })
    expect(first.build_log).toContain(`Warning: the app listens on port ${port}, not on`)
    await answers('there')
    await context.platform.fetchEdge('elsewhere.localhost', '/exit').catch(() => 'it ended without an answer')
    await answers('there')

    repository.commit(version('moved'))
    expect(await found()).toMatchObject({ status: 'ready', error: null })
    await answers('moved')
    // The failed version returns the port.
    repository.commit({ 'server.js': `${version('never')['server.js']}.on('listening', () => process.exit(3))` })
    expect((await context.deployAndWait('elsewhere')).error).toMatchObject({ code: 'start_failed' })
    await answers('moved')
  })
}

/** The rest: on processes in the default tier, on Docker in the full one. */
export function extendedDeploymentSuite(context: DeploymentContext, options: { redeploys: number; cancel_ms: number }): void {
  const { projectWith, deployReady: live, deployAndWait: deployed } = context
  const begun = (slug: string, id: string) =>
    until(async () => ((await context.platform.getDeployment(slug, id)).build_log.includes('begun') ? true : undefined), { what: 'the build to run' })

  test(`${options.redeploys} redeploys under constant traffic: no request fails`, async () => {
    const repository = await projectWith('steady', tinyServer('v0'))
    await live('steady')
    const answers = new Map<string, number>()
    let isStopped = false
    const visitor = async () => {
      while (!isStopped) {
        const response = await context.platform.fetchEdge('steady.localhost').catch((error: unknown) => ({ status: 0, body: String(error) }))
        const seen = response.status === 200 ? response.body : `${response.status} ${response.body}`
        answers.set(seen, (answers.get(seen) ?? 0) + 1)
      }
    }
    const visitors = [visitor(), visitor()]
    const versions = Array.from({ length: options.redeploys }, (_, i) => `v${i + 1}`)
    for (const version of versions) {
      repository.commit(server(version))
      await live('steady')
      await until(() => (answers.has(version) ? true : undefined), { what: `an answer of ${version}` })
    }
    isStopped = true
    await Promise.all(visitors)
    expect([...answers.keys()]).toEqual(['v0', ...versions])
  })

  test('an app that exits during startup: start_failed with its output in the log, and the old version serves', async () => {
    const repository = await projectWith('unsteady', tinyServer('good'))
    await live('unsteady')
    repository.commit({ 'server.js': "console.error('no database here'); process.exit(7)" })
    const failed = await deployed('unsteady')
    expect(failed.error).toMatchObject({
      code: 'start_failed',
      message: expect.stringMatching(/with exit code 7 after [\d.]+ s\.$/),
      hint: expect.stringContaining('no database here'),
    })
    expect(failed.build_log).toContain('no database here')
    expect(await context.platform.fetchEdge('unsteady.localhost')).toMatchObject({ status: 200, body: 'good' })
    expect((await context.platform.getProject('unsteady')).status).toBe('live')
  })

  test('canceling a running build leaves nothing behind', async () => {
    const mark = `homeport-test-${context.platform.pid}`
    await projectWith('slow', endlessBuild(mark))
    const { id } = await context.platform.deploy('slow')
    await begun('slow', id)
    const took = await measureActiveTime(async () =>
      expect(await context.platform.api('POST', `/v1/projects/slow/deployments/${id}/cancel`)).toMatchObject({ status: 200, body: { ok: true } }),
    )
    expect(took).toBeLessThan(options.cancel_ms)
    expect(await context.platform.getDeployment('slow', id)).toMatchObject({ status: 'canceled', error: null })
    expect(findProcessesByCommand(mark)).toEqual([])
    expect(await leftovers(context.platform, id)).toEqual([])
    expect(await context.platform.api('POST', `/v1/projects/slow/deployments/${id}/cancel`)).toMatchObject({
      status: 409,
      body: { error: 'deployment_terminal' },
    })
    expect((await context.platform.getProject('slow')).status).toBe('created')
  })

  test('a newer queued deployment replaces an older queued one; a build past its time limit fails with timeout', async () => {
    const repository = await projectWith('eager', endlessBuild())
    const running = await context.platform.deploy('eager')
    await begun('eager', running.id)
    repository.commit(tinyServer('x'))
    const older = await context.platform.deploy('eager')
    expect(older).toMatchObject({ status: 'queued', queue_position: 1 })
    const newer = await context.platform.deploy('eager')
    expect((await context.platform.getDeployment('eager', older.id)).status).toBe('canceled')
    await context.platform.jump(1_801_000)
    expect(await context.platform.waitForEnd('eager', running.id)).toMatchObject({ status: 'failed', error: { code: 'timeout' } })
    expect((await context.platform.waitForEnd('eager', newer.id)).status).toBe('ready')
  })

  test('stop takes a project offline, can be repeated, and a deployment starts it again', async () => {
    await projectWith('resting', tinyServer('here'))
    await live('resting')
    for (let i = 0; i < 2; i++)
      expect(await context.platform.api('POST', '/v1/projects/resting/stop')).toMatchObject({ status: 200, body: { ok: true, status: 'inactive' } })
    expect((await context.platform.fetchEdge('resting.localhost')).status).toBe(503)
    await live('resting')
    expect(await context.platform.fetchEdge('resting.localhost')).toMatchObject({ status: 200, body: 'here' })
    expect((await context.platform.getProject('resting')).status).toBe('live')
  })

  test('a folder is deployed with uncommitted changes; a retry uses the same snapshot', async () => {
    const repository = context.createRepository(tinyServer('committed'))
    const write = (text: string) => writeFileSync(join(repository.folder, 'server.js'), server(text)['server.js'])
    write('uncommitted')
    const { status, body } = await context.platform.api<{ deployment: Deployment }>('POST', '/instance/deploy-folder', {
      path: repository.folder,
      slug: 'folder',
    })
    expect(status).toBe(201)
    const first = await context.platform.waitForEnd('folder', body.deployment.id)
    expect(first).toMatchObject({ status: 'ready', source: 'folder', is_dirty: true, commit_message: 'First' })
    expect((await context.platform.fetchEdge('folder.localhost')).body).toBe('uncommitted')
    write('later')
    const again = await context.platform.api<{ deployment: Deployment }>('POST', `/v1/projects/folder/deployments/${first.id}/retry`)
    expect(await context.platform.waitForEnd('folder', again.body.deployment.id)).toMatchObject({
      status: 'ready',
      error: null,
      is_dirty: true,
      parent_id: first.id,
    })
    expect((await context.platform.fetchEdge('folder.localhost')).body).toBe('uncommitted')
  })

  test('an uploaded archive goes live, and is deployed again by retry and rollback', async () => {
    await context.platform.createProject({ slug: 'uploaded' })
    const ended = async (status: number, json: Record<string, unknown>) => {
      expect(status).toBe(201)
      return context.platform.waitForEnd('uploaded', String(json.deployment_id))
    }
    const upload = async (text: string) => {
      const response = await sendRequest(`${context.platform.handle.api_url}/v1/projects/uploaded/upload`, {
        method: 'POST',
        body: createTarGz([
          { name: 'app-main/', type: '5' },
          { name: 'app-main/package.json', data: '{"name":"x","private":true,"scripts":{"start":"node server.js"}}' },
          { name: 'app-main/server.js', data: "require('node:http').createServer((_, r) => r.end(require('./text.js'))).listen(process.env.PORT)" },
          { name: 'app-main/text.js', type: '2', link: 'lib/text.js' },
          { name: 'app-main/lib/text.js', data: `module.exports = ${JSON.stringify(text)}` },
        ]),
        headers: { authorization: `Bearer ${context.platform.handle.instance.token}`, 'content-type': 'application/gzip' },
      })
      return ended(response.status, response.json)
    }
    const again = async (id: string, how: 'retry' | 'rollback') => {
      const { status, body } = await context.platform.api('POST', `/v1/projects/uploaded/deployments/${id}/${how}`)
      return ended(status, body)
    }
    const served = async () => (await context.platform.fetchEdge('uploaded.localhost')).body

    const first = await upload('first')
    expect(first).toMatchObject({ status: 'ready', error: null, source: 'upload', trigger: 'upload' })
    expect(await served()).toBe('first')
    if (!isFullTier) return
    const second = await upload('second')
    expect(await served()).toBe('second')
    expect(await again(first.id, 'retry')).toMatchObject({ status: 'ready', trigger: 'retry', parent_id: first.id })
    expect(await served()).toBe('first')
    const rolled = await again(second.id, 'rollback')
    expect(rolled).toMatchObject({ status: 'ready', trigger: 'rollback' })
    expect(await again(rolled.id, 'retry')).toMatchObject({ status: 'ready', source: 'upload' })
    expect(await served()).toBe('second')
  })

  test('an app that keeps exiting is restarted with growing delays, then counts as crashed; a good deployment repairs it', async () => {
    const repository = await projectWith(
      'fragile',
      tinyServer('x', `setImmediate(() => server.on('request', ({ url }) => url === '/fall' && setImmediate(() => process.exit(1))))`),
    )
    const crashed = await live('fragile')
    const log = followRuntimeLog(context.platform.handle.instance, 'fragile')
    const count = (state: string) => log.states.filter((one) => one === state).length
    for (let exits = 1; exits <= 5; exits++) {
      await until(() => count('running') === exits || undefined, { what: `start ${exits}` })
      await context.platform.fetchEdge('fragile.localhost', '/fall').catch(() => undefined)
      await until(() => count('exited') === exits || undefined, { what: `exit ${exits}` })
      const isOver = async () => {
        await context.platform.jump(2_000)
        return count('starting') > exits || (await context.platform.getProject('fragile')).status === 'crashed' || undefined
      }
      await until(isOver, { what: `the end of pause ${exits}` })
    }
    expect(await context.platform.getProject('fragile')).toMatchObject({ status: 'crashed' })
    expect((await context.platform.fetchEdge('fragile.localhost')).status).toBe(502)
    const { body: log502 } = await context.platform.api('GET', '/instance/projects/fragile/requests?failure=crashed')
    expect(log502.requests).toMatchObject([{ status: 502, failure: 'crashed', deployment_id: crashed.id }])
    repository.commit(tinyServer('fixed'))
    await live('fragile')
    expect(await context.platform.fetchEdge('fragile.localhost')).toMatchObject({ status: 200, body: 'fixed' })
    expect((await context.platform.getProject('fragile')).status).toBe('live')
    log.close()
  })

  test('an app over its memory limit is killed, and the log says so', async () => {
    const eat = 'const eaten = []; const eat = () => setInterval(() => eaten.push(Buffer.alloc(8e6, 1)), 5)'
    await projectWith('hungry', tinyServer('fed', `${eat}\nsetImmediate(() => server.on('request', ({ url }) => url === '/eat' && eat()))`))
    await context.platform.api('PATCH', '/v1/projects/hungry', { memory_limit_mb: 96 })
    await live('hungry')
    const log = followRuntimeLog(context.platform.handle.instance, 'hungry')
    await context.platform.fetchEdge('hungry.localhost', '/eat')
    await until(() => log.states.includes('oom') || undefined, { what: 'the state oom' })
    log.close()
    expect((await context.platform.api('POST', '/v1/projects/hungry/stop')).status).toBe(200)
  })

  test('delete: 204, the slug is free at once, and nothing is left', async () => {
    await projectWith('leaving', tinyServer('bye'))
    const { id } = await live('leaving')
    expect((await context.platform.api('DELETE', '/v1/projects/leaving')).status).toBe(204)
    expect((await context.platform.fetchEdge('leaving.localhost')).status).toBe(404)
    expect((await context.platform.api('DELETE', '/v1/projects/leaving')).status).toBe(404)
    expect((await context.platform.api('POST', '/v1/projects', { name: 'leaving', slug: 'leaving' })).status).toBe(201)
    await until(async () => ((await leftovers(context.platform, id)).length === 0 ? true : undefined), { what: 'its last files to go' })
  })
}

/** Everything of a deployment on this machine: folders of the data folder, containers and images of the engine. */
async function leftovers(platform: TestPlatform, deploymentId: string): Promise<string[]> {
  const folders = ['bundles', 'work', 'sources'].map((name) => join(platform.data_dir, name, deploymentId)).filter((path) => existsSync(path))
  return [...folders, ...(platform.runtime === 'docker' ? await listDockerLeftovers(deploymentId) : [])]
}
