import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { describe, expect, test } from 'vitest'
import { createDockerView, instanceIdOf } from '../support/docker.ts'
import { checkRepository, commitToBranch, waitForFirstCheck, waitForPreview } from '../support/git-branches.ts'
import { until } from '../support/platform.ts'
import type { Repository } from '../support/repository.ts'
import { requires } from '../support/requirements.ts'
import { runProgram } from '../support/runtime.ts'
import { useSharedDeploymentContext } from './deployment-suite.ts'
import { fullTest } from '../support/full-test.ts'

/** A stand-in for Redis, as a prebuilt image: it stores what it is sent, and counts its starts. */
const store = `
const { appendFileSync, readFileSync, writeFileSync } = require('node:fs')
appendFileSync('/data/starts', 'x')
require('node:http').createServer((request, response) => {
  if (request.url.startsWith('/set/')) writeFileSync('/data/value', request.url.slice(5))
  let value = ''
  try { value = readFileSync('/data/value', 'utf8') } catch {}
  response.end(JSON.stringify({ value, mark: process.env.MARK, starts: readFileSync('/data/starts', 'utf8').length, variables: Object.keys(process.env).sort() }))
}).listen(6379)
`
const server = `
require('node:http').createServer(async (request, response) => {
  if (request.url === '/hold') return response.write('begun')
  const cache = await fetch('http://cache:6379' + request.url).then((r) => r.json(), (error) => ({ error: String(error.cause ?? error) }))
  const api = await fetch('http://api:4000').then((r) => r.text(), (error) => String(error.cause ?? error))
  response.end(JSON.stringify({ ...cache, api }))
}).listen(process.env.PORT, process.env.HOST)
`
const files = ({ version = 'one', mark = '1', image = 'node:24-bookworm-slim' } = {}) => ({
  'package.json': JSON.stringify({ name: 'stored', private: true, scripts: { start: 'node server.js' } }),
  'server.js': server,
  'api.js': `require('node:http').createServer((request, response) => response.end('api ${version} ' + process.env.HOMEPORT_ENVIRONMENT)).listen(process.env.PORT, process.env.HOST)`,
  'homeport.yaml': `
services:
  web: { build: ., command: node server.js, port: 3000, depends_on: [cache, api] }
  api: { build: ., command: node api.js, port: 4000 }
  cache:
    image: "${image}"
    command: ["node", "-e", ${JSON.stringify(store)}]
    environment: { MARK: "${mark}" }
    volumes: ["cache:/data"]
    port: 6379
volumes: { cache: {} }
`,
})

interface Answer {
  value: string
  starts: number
  /** The definition of the responding image; not there while none responds. */
  mark?: string
  variables: string[]
  api: string
}

describe.skipIf(!requires('docker').ok)('image services next to an app, on Docker', () => {
  const context = useSharedDeploymentContext('docker')
  const read = async (slug: string, path = '/') => JSON.parse((await context.platform.fetchEdge(`${slug}.localhost`, path)).body) as Answer

  let repository: Repository

  test('an image keeps running across versions, and gets no variable of the project', async () => {
    repository = await context.projectWith('stored', files())
    await context.deployReady('stored')
    const first = await read('stored')
    expect(first).toMatchObject({ starts: 1, api: 'api one production' })
    // A prebuilt image gets the variables of the file, and none of the project.
    expect(first.variables).toContain('MARK')
    expect(first.variables.filter((name) => /^(HOMEPORT_|DATABASE_URL|SECRET)/.test(name))).toEqual([])
    repository.commit(files({ version: 'two' }))
    await context.deployReady('stored')
    expect(await read('stored')).toMatchObject({ starts: 1, api: 'api two production' })
  })

  fullTest('an image keeps its volume when replaced, and returns to the live version when the next one fails', async () => {
    repository.commit(files({ version: 'three', mark: '2' }))
    await context.deployReady('stored')
    expect(await read('stored')).toMatchObject({ starts: 2, api: 'api three production' })

    // A failed version returns the image to the live one.
    repository.commit({ ...files({ version: 'four', mark: '3' }), 'api.js': 'process.exit(3)' })
    expect((await context.deployAndWait('stored')).status).toBe('failed')
    // Its own image may have started, or not yet when the other service failed.
    const { api } = await until(
      async () => {
        const answer = await read('stored')
        return answer.mark === '2' ? answer : undefined
      },
      { what: 'the image of the live version' },
    )
    expect(api).toBe('api three production')
  })

  fullTest('an image that the file drops stops once no version needs it', async () => {
    const repository = await context.projectWith('dropped', files())
    const first = await context.deployReady('dropped')
    const { starts } = await read('dropped')
    const listRunning = () =>
      runProgram('docker', ['ps', '-q', '--filter', 'label=homeport.service=cache', '--filter', `label=homeport.project=${id}`])
    const { id } = await context.platform.getProject('dropped')
    expect((await listRunning()).trim()).not.toBe('')
    const [withoutCache = ''] = files()['homeport.yaml'].replace(', depends_on: [cache, api]', '').split('  cache:')
    // A request keeps the version with the image busy, so that it stops late: after the next version needs the image again, which keeps running.
    const held = get(context.platform.handle.instance.edge_url, { path: '/hold', headers: { host: 'dropped.localhost' } }).on('error', () => {})
    const [response] = (await once(held, 'response')) as [IncomingMessage]
    await once(response, 'data')
    repository.commit({ ...files({ version: 'five' }), 'homeport.yaml': withoutCache })
    await context.deployReady('dropped')
    repository.commit(files({ version: 'six' }))
    await context.deployReady('dropped')
    held.destroy()
    const containersOfFirst = () => runProgram('docker', ['ps', '-q', '--filter', `label=homeport.deployment=${first.id}`])
    await until(async () => (await containersOfFirst()).trim() === '' || undefined, { what: 'the held version to end' })
    repository.commit(files({ version: 'seven' }))
    await context.deployReady('dropped')
    expect(await read('dropped')).toMatchObject({ api: 'api seven production', starts })

    repository.commit({ ...files({ version: 'eight' }), 'homeport.yaml': withoutCache })
    await context.deployReady('dropped')
    await until(async () => (await listRunning()).trim() === '' || undefined, { what: 'the image to end' })
  })

  fullTest('a version that fails while the live one sleeps does not wake it, and its image is there when it wakes', async () => {
    const repository = await context.projectWith('asleep', files())
    await context.deployReady('asleep')
    const { id } = await context.platform.getProject('asleep')
    const listStates = async () => {
      const filters = ['label=homeport.service=cache', `label=homeport.project=${id}`].flatMap((filter) => ['--filter', filter])
      return (await runProgram('docker', ['ps', ...filters, '--format', '{{.State}}'])).split('\n').filter(Boolean)
    }
    // The first version shares the image of the live one, the second replaces it.
    for (const { mark, states } of [
      { mark: '1', states: ['paused'] },
      { mark: '2', states: [] },
    ]) {
      await until(
        async () => {
          await context.platform.advanceInSteps(60_000)
          return (await context.platform.getProject('asleep')).is_cold || undefined
        },
        { what: 'the environment to sleep' },
      )
      await until(async () => (await listStates())[0] === 'paused' || undefined, { what: 'the image to be frozen' })
      // Images run before the release command.
      const withRelease = files({ version: 'next', mark })
      repository.commit({ ...withRelease, 'homeport.yaml': `${withRelease['homeport.yaml']}release: node -e "process.exit(4)"\n` })
      expect((await context.deployAndWait('asleep')).error).toMatchObject({ message: expect.stringContaining('exited with code 4') })
      expect(await listStates()).toEqual(states)
      expect((await context.platform.getProject('asleep')).is_cold).toBe(true)
      // Images without a health check count as ready once started, so the app may respond before this one.
      const woken = await until(
        async () => {
          const answer = await read('asleep')
          return answer.mark === undefined ? undefined : answer
        },
        { what: 'the image of the live version' },
      )
      expect(woken).toMatchObject({ mark: '1', api: 'api one production' })
    }
  })

  test('an image that does not exist fails the build by name, and the live version stays', async () => {
    await context.projectWith('missing-image', files({ image: 'homeport-no-such-image:9' }))
    const failed = await context.deployAndWait('missing-image')
    expect(failed).toMatchObject({ status: 'failed', error: { code: 'build_failed', message: expect.stringContaining('homeport-no-such-image:9') } })
  })

  fullTest('a deleted project leaves no container, network or volume', async () => {
    const { body } = await context.platform.api<{ user: { id: string } }>('GET', '/instance/session')
    const instance = instanceIdOf(body.user.id)
    const mine = (kind: string) => runProgram('docker', [kind, 'ls', '-q', '--filter', `label=homeport.instance=${instance}`])
    expect((await mine('volume')).trim()).not.toBe('')
    for (const slug of ['stored', 'dropped', 'asleep', 'missing-image']) await context.platform.api('DELETE', `/v1/projects/${slug}`)
    const view = createDockerView(instance)
    await until(
      async () => {
        const [containers, volumes, networks] = await Promise.all([view.containers(), mine('volume'), mine('network')])
        // The instance’s own network stays.
        return (containers.length === 0 && volumes.trim() === '' && networks.trim().split('\n').length <= 1) || undefined
      },
      { what: 'everything to be removed' },
    )
  })

  fullTest('production and two previews have separate networks: names resolve to their own services', async () => {
    const repository = context.createRepository(files())
    const slug = 'branches'
    await context.platform.createProject({ slug, repo_url: repository.url, previews: true })
    await waitForFirstCheck(context.platform, slug)
    await context.deployReady(slug)
    const commits = ['red', 'blue'].map((branch) => ({ branch, sha: commitToBranch(repository.folder, branch, files({ version: branch })) }))
    await checkRepository(context.platform, slug)
    for (const { branch, sha } of commits) await waitForPreview(context.platform, slug, branch, sha)
    const hosts = ['branches', 'red--branches', 'blue--branches']
    for (const host of hosts) await read(host, `/set/${host}`)
    const answers = await Promise.all(hosts.map((host) => read(host)))
    expect(answers.map(({ value, starts, api }) => ({ value, starts, api }))).toEqual([
      { value: 'branches', starts: 1, api: 'api one production' },
      { value: 'red--branches', starts: 1, api: 'api red preview' },
      { value: 'blue--branches', starts: 1, api: 'api blue preview' },
    ])
  })
})
