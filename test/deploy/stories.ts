import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Deployment } from '../../server/contract/deployments.ts'
import { dockerLeftovers, startTestPlatform, until, type TestPlatform } from '../support/platform.ts'
import { makeRepository, tinyServer, type Repository } from '../support/repository.ts'
import { processesWith } from '../support/processes.ts'
import { spent } from '../support/spent.ts'

/** What a deployment must do, whatever runs it. One suite, every runtime. */
export function deploymentStories(runtime: 'process' | 'docker'): void {
  describe(`deployments on ${runtime}`, () => {
    let home: TestPlatform
    const repositories: Repository[] = []

    beforeAll(async () => {
      home = await startTestPlatform({ runtime })
    })
    afterAll(async () => {
      await home.remove()
      for (const repository of repositories) repository.remove()
    })

    const projectWith = async (slug: string, files: Record<string, string>) => {
      const repository = makeRepository(files)
      repositories.push(repository)
      await home.createProject({ slug, repo_url: repository.url })
      return repository
    }
    const live = async (slug: string) => {
      const { id } = await home.deploy(slug)
      const deployment = await home.ended(slug, id)
      expect(deployment.error).toBeNull()
      expect(deployment.status).toBe('ready')
      return deployment
    }

    test('a repository goes live, and the deployment says all that the contract names', async () => {
      const repository = await projectWith('first', tinyServer('one'))
      const deployment = await live('first')
      expect(await home.edge('first.localhost')).toMatchObject({ status: 200, body: 'one' })
      expect(deployment).toMatchObject({
        target: 'production',
        trigger: 'manual',
        source: 'git',
        branch: 'main',
        commit_sha: repository.commit({}, 'Nothing').length === 40 ? expect.stringMatching(/^[0-9a-f]{40}$/) : '',
        commit_message: 'First',
        commit_author: 'Test Author',
        is_dirty: false,
        is_current: true,
        can_rollback: true,
        url: home.platform.edge_url.replace('127.0.0.1', 'first.localhost'),
        queue_position: null,
        framework: 'node',
        runtime,
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
      expect(await home.project('first')).toMatchObject({ status: 'live', is_connected: true })
    })

    test('20 redeploys under constant traffic: not one request fails', async () => {
      const repository = await projectWith('steady', tinyServer('v0'))
      await live('steady')
      const answers = new Map<string, number>()
      let failures = 0
      let stop = false
      const visitor = async () => {
        while (!stop) {
          const answer = await home.edge('steady.localhost').catch((error: unknown) => ({ status: 0, body: String(error) }))
          if (answer.status !== 200) failures++
          answers.set(answer.body, (answers.get(answer.body) ?? 0) + 1)
          await delay(3)
        }
      }
      const visitors = [visitor(), visitor(), visitor(), visitor()]
      for (let i = 1; i <= 20; i++) {
        repository.commit({ 'server.js': tinyServer(`v${i}`)['server.js'] ?? '' })
        await live('steady')
      }
      await until(() => (answers.has('v20') ? true : undefined), { what: 'the last version' })
      stop = true
      await Promise.all(visitors)
      expect(failures, `answers ${JSON.stringify([...answers])}`).toBe(0)
      expect(answers.size).toBeGreaterThan(10)
    })

    test('a failing build leaves the old version serving and the project live', async () => {
      const repository = await projectWith('careful', tinyServer('good'))
      await live('careful')
      repository.commit({
        'package.json': JSON.stringify({ name: 'tiny', private: true, scripts: { build: 'echo about to break; exit 3', start: 'node server.js' } }),
      })
      const failed = await home.ended('careful', (await home.deploy('careful')).id)
      expect(failed.status).toBe('failed')
      expect(failed.error).toMatchObject({ code: 'build_failed' })
      expect(failed.error?.hint).not.toBe('')
      expect(failed.build_log).toContain('about to break')
      expect(failed.steps.find((step) => step.name === 'build')?.status).toBe('failed')
      expect(await home.edge('careful.localhost')).toMatchObject({ status: 200, body: 'good' })
      expect((await home.project('careful')).status).toBe('live')
    })

    test('an app that ends while it starts: start_failed, its words in the log, the old one serves', async () => {
      const repository = await projectWith('unsteady', tinyServer('good'))
      await live('unsteady')
      repository.commit({ 'server.js': "console.error('no database here'); process.exit(7)" })
      const failed = await home.ended('unsteady', (await home.deploy('unsteady')).id)
      expect(failed.error).toMatchObject({ code: 'start_failed' })
      expect(failed.build_log).toContain('no database here')
      expect(await home.edge('unsteady.localhost')).toMatchObject({ status: 200, body: 'good' })
      expect((await home.project('unsteady')).status).toBe('live')
    })

    test('an app on another port: the error names both', async () => {
      await projectWith('elsewhere', {
        ...tinyServer('x'),
        'server.js': "require('node:http').createServer((q, r) => r.end('x')).listen(3999, '0.0.0.0')",
      })
      const failed = await home.ended('elsewhere', (await home.deploy('elsewhere')).id)
      expect(failed.error?.code).toBe('port_not_detected')
      expect(failed.error?.message).toMatch(/listening on 3999, expected \d+/)
      expect((await home.project('elsewhere')).status).toBe('failed')
    })

    test('cancel of a running build: within 2 s, and nothing is left', async () => {
      const mark = `homeport-test-${Date.now()}`
      await projectWith('slow', {
        ...tinyServer('never'),
        'package.json': JSON.stringify({
          name: 'slow',
          private: true,
          scripts: { build: `node -e "console.log('begun'); setInterval(() => {}, 1000)" ${mark}`, start: 'node server.js' },
        }),
      })
      const { id } = await home.deploy('slow')
      await until(async () => ((await home.deployment('slow', id)).build_log.includes('begun') ? true : undefined), {
        what: 'the build to run',
      })
      const took = await spent(async () => {
        const answer = await home.api('POST', `/v1/projects/slow/deployments/${id}/cancel`)
        expect(answer).toMatchObject({ status: 200, body: { ok: true } })
      })
      expect(took).toBeLessThan(2_000)
      const canceled = await home.deployment('slow', id)
      expect(canceled).toMatchObject({ status: 'canceled', error: null })
      expect(processesWith(mark)).toEqual([])
      expect(await leftovers(home, id)).toEqual([])
      expect(await home.api('POST', `/v1/projects/slow/deployments/${id}/cancel`)).toMatchObject({
        status: 409,
        body: { error: 'deployment_terminal' },
      })
      expect((await home.project('slow')).status).toBe('created')
    })

    test('stop takes it off, may be repeated, and a deployment brings it back', async () => {
      await projectWith('resting', tinyServer('here'))
      await live('resting')
      for (let i = 0; i < 2; i++)
        expect(await home.api('POST', '/v1/projects/resting/stop')).toMatchObject({ status: 200, body: { ok: true, status: 'inactive' } })
      expect((await home.edge('resting.localhost')).status).toBe(503)
      await live('resting')
      expect(await home.edge('resting.localhost')).toMatchObject({ status: 200, body: 'here' })
      expect((await home.project('resting')).status).toBe('live')
    })

    test('rollback puts the earlier commit back, and uses its build again', async () => {
      const repository = await projectWith('returning', tinyServer('old'))
      const first = await live('returning')
      repository.commit({ 'server.js': tinyServer('new')['server.js'] ?? '' })
      await live('returning')
      expect((await home.edge('returning.localhost')).body).toBe('new')
      const { status, body } = await home.api<{ deployment: Deployment }>('POST', `/v1/projects/returning/deployments/${first.id}/rollback`)
      expect(status).toBe(201)
      const back = await home.ended('returning', body.deployment.id)
      expect(back).toMatchObject({ status: 'ready', trigger: 'rollback', parent_id: first.id, commit_sha: first.commit_sha })
      expect(back.steps.find((step) => step.name === 'build')?.status).toBe('skipped')
      expect((await home.edge('returning.localhost')).body).toBe('old')
      expect((await home.deployment('returning', first.id)).is_current).toBe(false)
    })

    test('retry builds the same commit again, not the newest', async () => {
      const repository = await projectWith('again', tinyServer('first'))
      const first = await live('again')
      repository.commit({ 'server.js': tinyServer('second')['server.js'] ?? '' })
      const { body } = await home.api<{ deployment: Deployment }>('POST', `/v1/projects/again/deployments/${first.id}/retry`)
      const again = await home.ended('again', body.deployment.id)
      expect(again).toMatchObject({ status: 'ready', trigger: 'retry', parent_id: first.id, commit_sha: first.commit_sha })
      expect((await home.edge('again.localhost')).body).toBe('first')
    })

    test('a folder is deployed as it lies there; a retry starts from what it was then', async () => {
      const repository = makeRepository(tinyServer('committed'))
      repositories.push(repository)
      writeFileSync(join(repository.folder, 'server.js'), tinyServer('as it lies there')['server.js'] ?? '')
      const { status, body } = await home.api<{ deployment: Deployment }>('POST', '/instance/deploy-folder', {
        path: repository.folder,
        slug: 'folder',
      })
      expect(status).toBe(201)
      const first = await home.ended('folder', body.deployment.id)
      expect(first).toMatchObject({ status: 'ready', source: 'folder', is_dirty: true, commit_message: 'First' })
      expect((await home.edge('folder.localhost')).body).toBe('as it lies there')
      writeFileSync(join(repository.folder, 'server.js'), tinyServer('later')['server.js'] ?? '')
      const again = await home.api<{ deployment: Deployment }>('POST', `/v1/projects/folder/deployments/${first.id}/retry`)
      expect(await home.ended('folder', again.body.deployment.id)).toMatchObject({
        status: 'ready',
        error: null,
        is_dirty: true,
        parent_id: first.id,
      })
      expect((await home.edge('folder.localhost')).body).toBe('as it lies there')
    })

    test('a newer queued deployment takes the place of an older queued one', async () => {
      await projectWith('eager', {
        ...tinyServer('x'),
        'package.json': JSON.stringify({ name: 'x', private: true, scripts: { build: 'sleep 2', start: 'node server.js' } }),
      })
      const running = await home.deploy('eager')
      await until(async () => ((await home.deployment('eager', running.id)).status === 'queued' ? undefined : true), {
        what: 'the first to be claimed',
      })
      const older = await home.deploy('eager')
      expect(older).toMatchObject({ status: 'queued', queue_position: 1 })
      const newer = await home.deploy('eager')
      expect((await home.deployment('eager', older.id)).status).toBe('canceled')
      expect((await home.ended('eager', running.id)).status).toBe('ready')
      expect((await home.ended('eager', newer.id)).status).toBe('ready')
    })

    test('an app that keeps ending comes back with patience, then is crashed; a good deployment mends it', async () => {
      // It has answered before it falls, however long it takes to get to the first question.
      const falls = "setTimeout(() => { console.log('falling'); process.exit(1) }, 700)"
      const repository = await projectWith('fragile', tinyServer('x', `setImmediate(() => server.once('request', () => ${falls}))`))
      await live('fragile')
      await until(async () => ((await home.project('fragile')).status === 'crashed' ? true : undefined), { what: 'crashed' })
      expect((await home.edge('fragile.localhost')).status).toBe(502)
      repository.commit({ 'server.js': tinyServer('mended')['server.js'] ?? '' })
      await live('fragile')
      expect(await home.edge('fragile.localhost')).toMatchObject({ status: 200, body: 'mended' })
      expect((await home.project('fragile')).status).toBe('live')
    })

    test('an app over its memory limit is ended by it, and the log says so', async () => {
      await projectWith(
        'hungry',
        tinyServer(
          'fed',
          `const eaten = []
const eat = () => setInterval(() => eaten.push(Buffer.alloc(8e6, 1)), 5)
setImmediate(() => server.on('request', ({ url }) => url === '/eat' && eat()))`,
        ),
      )
      await home.api('PATCH', '/v1/projects/hungry', { memory_limit_mb: 96 })
      await live('hungry')
      await home.edge('hungry.localhost', '/eat')
      const events = await until(
        async () => {
          const lines = await readEvents(home, '/v1/projects/hungry/runtime-logs', (text) => text.includes('"state":"oom"'), 20_000)
          return lines.includes('"state":"oom"') ? lines : undefined
        },
        { what: 'the state oom' },
      )
      expect(events).toContain('"state":"oom"')
      await home.api('POST', '/v1/projects/hungry/stop')
    })

    test('delete: 204, the name is free at once, and nothing stays behind', async () => {
      await projectWith('leaving', tinyServer('bye'))
      const { id } = await live('leaving')
      expect((await home.api('DELETE', '/v1/projects/leaving')).status).toBe(204)
      expect((await home.edge('leaving.localhost')).status).toBe(404)
      expect((await home.api('DELETE', '/v1/projects/leaving')).status).toBe(404)
      expect((await home.api('POST', '/v1/projects', { name: 'leaving', slug: 'leaving' })).status).toBe(201)
      await until(async () => ((await leftovers(home, id)).length === 0 ? true : undefined), { what: 'the last of it to go' })
    })
  })
}

/** What a deployment has left on this machine: folders of the data folder, containers and images of the engine. */
async function leftovers(home: TestPlatform, deploymentId: string): Promise<string[]> {
  const folders = ['bundles', 'work', 'sources'].map((name) => join(home.data_dir, name, deploymentId)).filter((path) => existsSync(path))
  return [...folders, ...(home.runtime === 'docker' ? await dockerLeftovers(deploymentId) : [])]
}

/** The text of a stream until it holds something, or until time is up. */
export async function readEvents(
  home: TestPlatform,
  path: string,
  enough: (text: string) => boolean,
  timeout_ms: number,
  headers: Record<string, string> = {},
): Promise<string> {
  const controller = new AbortController()
  const timer = setTimeout(() => controller.abort(), timeout_ms)
  let text = ''
  try {
    const response = await fetch(`${home.platform.api_url}${path}`, {
      headers: { authorization: `Bearer ${home.platform.instance.token}`, ...headers },
      signal: controller.signal,
    })
    if (!response.body) return text
    const decoder = new TextDecoder()
    for await (const piece of response.body) {
      text += decoder.decode(piece, { stream: true })
      if (enough(text)) break
    }
  } catch (error) {
    if (!controller.signal.aborted) throw error
  } finally {
    clearTimeout(timer)
    controller.abort()
  }
  return text
}
