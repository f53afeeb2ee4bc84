import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Deployment } from '../../server/contract/deployments.ts'
import { checkRepository, commitToBranch, createGit, waitForPreview, listPreviews, waitForFirstCheck } from '../support/git-branches.ts'
import { followRuntimeLog } from '../support/event-stream.ts'
import { startTestPlatform, type TestPlatform } from '../support/platform.ts'
import { makeRepository, type Repository } from '../support/repository.ts'
import { until } from '../support/until.ts'
import { fullTest } from '../support/full-test.ts'
import { isFullTier } from '../support/tier.ts'

/* Previews of apps with a process: their variables, sleep, and what survives a stop, a restart and a crash. */

const app = (version: string): Record<string, string> => ({
  'package.json': JSON.stringify({ name: 'told', private: true, scripts: { start: 'node server.js' } }),
  'server.js': `
const environment = Object.fromEntries(Object.entries(process.env).filter(([name]) => /^(HOMEPORT_|GREETING|ONLY)/.test(name)))
console.log('this is ${version}')
require('node:http').createServer((request, response) => {
  if (request.url.startsWith('/kept')) response.setHeader('cache-control', 's-maxage=86400')
  response.end(JSON.stringify({ version: '${version}', environment, at: process.hrtime.bigint().toString() }))
}).listen(process.env.PORT, process.env.HOST)
process.on('SIGTERM', () => process.exit(0))
`,
})

interface ReportedEnvironment {
  version: string
  environment: Record<string, string>
  at: string
}

let platform: TestPlatform
let repository: Repository
const slug = 'told'

const ask = async (host: string, path = '/'): Promise<ReportedEnvironment> => {
  const response = await platform.fetchEdge(host, path)
  expect(response.status, response.body).toBe(200)
  return JSON.parse(response.body) as ReportedEnvironment
}
/** Retries until the response comes from the cache. The app's clock lags behind the advanced platform clock, hence the long max-age. */
const stored = (host: string) =>
  until(
    async () => {
      const { headers, body } = await platform.fetchEdge(host, '/kept')
      return headers['x-cache'] === 'HIT' ? (JSON.parse(body) as ReportedEnvironment) : undefined
    },
    { what: `the stored answer of ${host}` },
  )
const version = (host: string, wanted: string) =>
  until(
    async () => {
      const response = await platform.fetchEdge(host)
      return response.status === 200 && response.body.includes(`"version":"${wanted}"`) ? true : undefined
    },
    { what: `${host} serving ${wanted}` },
  )
const push = (branch: string, text: string) => commitToBranch(repository.folder, branch, app(text))
const follow = (query: string) => followRuntimeLog(platform.handle.instance, slug, query)

beforeAll(async () => {
  platform = await startTestPlatform({ runtime: 'process' })
  repository = makeRepository(app('production 1'))
  await platform.createProject({ slug, repo_url: repository.url, pushes: true })
  await waitForFirstCheck(platform, slug)
  const { id } = await platform.deploy(slug)
  expect(await platform.waitForEnd(slug, id)).toMatchObject({ status: 'ready', error: null })
})
afterAll(async () => {
  await platform.remove()
  repository.remove()
})

describe('an app of a preview', () => {
  test('gets the variables of previews, its own address, and its environment name', async () => {
    const { body } = await platform.api<{ deployment_id: string }>('POST', `/v1/projects/${slug}/env-vars`, {
      vars: [
        { key: 'GREETING', value: 'to all' },
        { key: 'GREETING', value: 'to previews', environment: 'preview' },
        { key: 'ONLY', value: 'in production', environment: 'production' },
      ],
    })
    // They reach production with its next deployment.
    expect(await platform.waitForEnd(slug, body.deployment_id)).toMatchObject({ status: 'ready', error: null })
    const sha = push('told', 'preview 1')
    const preview = await waitForPreview(platform, slug, 'told', sha)
    const { environment } = await ask(preview.host)
    expect(environment).toEqual({
      GREETING: 'to previews',
      HOMEPORT_URL: preview.url,
      HOMEPORT_DEPLOYMENT_ID: preview.deployment_id,
      HOMEPORT_GIT_COMMIT_SHA: sha,
      HOMEPORT_ENVIRONMENT: 'preview',
    })
    expect((await ask(`${slug}.localhost`)).environment).toMatchObject({
      GREETING: 'to all',
      ONLY: 'in production',
      HOMEPORT_ENVIRONMENT: 'production',
    })
  })

  fullTest('has its own log, separate from production’s', async () => {
    const preview = await waitForPreview(platform, slug, 'spoken', push('spoken', 'a voice of its own'))
    expect(preview.status).toBe('ready')
    const [own, production] = [follow('&branch=spoken'), follow('')]
    await until(() => own.lines.includes('this is a voice of its own') || undefined, { what: 'the log of the preview' })
    await until(() => production.lines.includes('this is production 1') || undefined, { what: 'the log of production' })
    expect(production.lines).not.toContain('this is a voice of its own')
    own.close()
    production.close()
  })

  fullTest('sleeps and wakes independently; requests to a preview do not count for production', async () => {
    const preview = await waitForPreview(platform, slug, 'sleepy', push('sleepy', 'sleepy'))
    await platform.api('PATCH', '/instance/settings', { sleep_after_s: 60 })
    await platform.advanceInSteps(61_000)
    const of = async () => (await listPreviews(platform, slug)).find((one) => one.branch === 'sleepy')
    await until(async () => ((await of())?.is_cold ? true : undefined), { what: 'the preview to go cold' })
    await until(async () => ((await platform.getProject(slug)).is_cold ? true : undefined), { what: 'production to go cold' })
    await platform.api('PATCH', '/instance/settings', { sleep_after_s: 900 })
    const before = (await platform.getProject(slug)).last_request_at
    expect((await ask(preview.host)).version).toBe('sleepy')
    await until(async () => ((await of())?.is_cold === false ? true : undefined), { what: 'the preview to be warm' })
    await until(async () => ((await of())?.last_request_at != null ? true : undefined), { what: 'the visit of the preview' })
    expect(await platform.getProject(slug)).toMatchObject({ is_cold: true, last_request_at: before })
  })

  fullTest('deploying a preview purges its own cached responses, and none of production’s', async () => {
    const preview = await waitForPreview(platform, slug, 'kept', push('kept', 'kept 1'))
    const [production, before] = [await stored(`${slug}.localhost`), await stored(preview.host)]
    expect(before.version).toBe('kept 1')
    await waitForPreview(platform, slug, 'kept', push('kept', 'kept 2'))
    expect((await ask(preview.host, '/kept')).version).toBe('kept 2')
    expect((await ask(`${slug}.localhost`, '/kept')).at).toBe(production.at)
  })
})

describe('a project', () => {
  fullTest('stopping it stops its previews, and no push starts it; deploying it restores its previews', async () => {
    const preview = await waitForPreview(platform, slug, 'back', push('back', 'back'))
    expect((await platform.api('POST', `/v1/projects/${slug}/stop`)).body).toMatchObject({ status: 'inactive' })
    expect((await platform.fetchEdge(preview.host)).status).toBe(503)
    repository.commit(app('production 2'))
    push('back', 'back again')
    await checkRepository(platform, slug)
    expect(await platform.getProject(slug)).toMatchObject({ status: 'inactive' })
    const { id } = await platform.deploy(slug)
    expect(await platform.waitForEnd(slug, id)).toMatchObject({ status: 'ready' })
    await version(`${slug}.localhost`, 'production 2')
    await version(preview.host, 'back again')
    await version(`told--${slug}.localhost`, 'preview 1')
  })

  fullTest('a killed platform restores its previews, and notices branches pushed and deleted meanwhile', async () => {
    const stays = await waitForPreview(platform, slug, 'stays', push('stays', 'stays'))
    const leaves = await waitForPreview(platform, slug, 'leaves', push('leaves', 'leaves'))
    await platform.kill()
    push('told', 'preview 2')
    const sha = push('new', 'new')
    createGit(repository.folder)('branch', '-D', 'leaves')
    platform = await startTestPlatform({ runtime: 'process', data_dir: platform.data_dir })
    const fresh = await waitForPreview(platform, slug, 'new', sha)
    expect((await ask(fresh.host)).version).toBe('new')
    await version(stays.host, 'stays')
    await version(`told--${slug}.localhost`, 'preview 2')
    await until(async () => ((await platform.fetchEdge(leaves.host)).status === 404 ? true : undefined), { what: 'the end of the deleted branch' })
  })

  fullTest('a branch deleted during its build and pushed again serves the new version', async () => {
    const slow = {
      ...app('first life'),
      'package.json': JSON.stringify({ name: 'slow', private: true, scripts: { build: 'sleep 600', start: 'node server.js' } }),
    }
    const first = commitToBranch(repository.folder, 'lives', slow)
    const building = await until(
      async () => {
        const { body } = await platform.api<{ deployments: Deployment[] }>('GET', `/v1/projects/${slug}/deployments?branch=lives&status=building`)
        return body.deployments[0]
      },
      { what: 'the build' },
    )
    expect(building.commit_sha).toBe(first)
    createGit(repository.folder)('branch', '-D', 'lives')
    await until(async () => ((await platform.getDeployment(slug, building.id)).status === 'canceled' ? true : undefined), {
      what: 'the end of the build',
    })
    const preview = await waitForPreview(platform, slug, 'lives', push('lives', 'second life'))
    expect((await ask(preview.host)).version).toBe('second life')
  })

  test('deleting it deletes its previews', async () => {
    const open = await listPreviews(platform, slug)
    // Those of the tests above.
    expect(open.length).toBeGreaterThan(isFullTier ? 2 : 0)
    expect((await platform.api('DELETE', `/v1/projects/${slug}`)).status).toBe(204)
    for (const one of open) expect((await platform.fetchEdge(one.host)).status).toBe(404)
    await platform.createProject({ slug, repo_url: repository.url, pushes: true })
    await waitForFirstCheck(platform, slug)
    expect(await listPreviews(platform, slug)).toEqual([])
    const again = await waitForPreview(platform, slug, 'told', push('told', 'preview 3'))
    expect(again.host).toBe(`told--${slug}.localhost`)
    expect((await ask(again.host)).version).toBe('preview 3')
  })
})
