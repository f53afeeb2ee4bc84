import { type Page, test as base, expect } from '@playwright/test'
import { type TestPlatform, startTestPlatform } from '../support/platform.ts'
import { type Repository, makeRepository } from '../support/repository.ts'
import { findViolations } from './accessibility.ts'
import { isFullTier } from '../support/tier.ts'
import { preventPrefetch, waitForAnimations, signIn } from './screen-navigation.ts'

interface WorkerFixtures {
  /** '': the platform that all tests of a worker share. Another name: a separate one, which keeps what its tests leave. */
  platform_name: string
  workerPlatform: TestPlatform
  startWorkerSecondPlatform: () => Promise<TestPlatform>
}

interface TestFixtures {
  /** A whole platform with the process runtime, without projects. */
  platform: TestPlatform
  /** A second one, for tests between two instances; started when the first test of a worker needs it. */
  startSecondPlatform: () => Promise<TestPlatform>
  /** A page of a browser that is signed in as the owner. */
  dashboard: Page
  /** A git repository that is removed when the test ends. */
  createRepository: (files: Record<string, string>) => Repository
}

export const test = base.extend<TestFixtures, WorkerFixtures>({
  platform_name: ['', { option: true, scope: 'worker' }],
  workerPlatform: [
    async ({ platform_name: _ }, use) => {
      const platform = await startTestPlatform({ runtime: 'process' })
      await use(platform)
      await platform.remove()
    },
    { scope: 'worker' },
  ],
  startWorkerSecondPlatform: [
    // oxlint-disable-next-line no-empty-pattern -- Playwright requires the braces
    async ({}, use) => {
      let secondPlatform: Promise<TestPlatform> | undefined
      await use(() => (secondPlatform ??= startTestPlatform({ runtime: 'process' })))
      await (await secondPlatform)?.remove()
    },
    { scope: 'worker' },
  ],
  async platform({ workerPlatform, platform_name }, use) {
    await use(workerPlatform)
    if (platform_name === '') await removeTestData(workerPlatform)
  },
  async startSecondPlatform({ startWorkerSecondPlatform, platform_name }, use) {
    let secondPlatform: TestPlatform | undefined
    await use(async () => (secondPlatform = await startWorkerSecondPlatform()))
    if (secondPlatform && platform_name === '') await removeTestData(secondPlatform)
  },
  /** On failure, reports the page's failed requests, its errors, and its open requests. */
  async page({ page }, use, info) {
    const seen: string[] = []
    const open = new Set<string>()
    page.on('request', (request) => open.add(request.url()))
    page.on('requestfinished', (request) => open.delete(request.url()))
    page.on('requestfailed', (request) => {
      open.delete(request.url())
      seen.push(`${request.url()}: ${request.failure()?.errorText}`)
    })
    page.on('console', (message) => message.type() === 'error' && seen.push(message.text()))
    page.on('pageerror', ({ message }) => seen.push(message))
    if (!isFullTier) await preventPrefetch(page)
    await use(page)
    if (info.status === info.expectedStatus) return
    await info.attach('what the page saw', {
      body: [...seen, ...[...open].map((url) => `${url}: no answer yet`)].join('\n'),
      contentType: 'text/plain',
    })
  },
  async dashboard({ platform, page }, use) {
    await signIn(page, await platform.handle.signInUrl())
    await use(page)
  },
  // oxlint-disable-next-line no-empty-pattern -- Playwright requires the braces
  async createRepository({}, use) {
    const repositories: Repository[] = []
    await use((files) => {
      const repository = makeRepository(files)
      repositories.push(repository)
      return repository
    })
    for (const repository of repositories) repository.remove()
  },
})

/** Removes everything that a test created, so that the next one finds no projects, tokens or remotes. */
async function removeTestData({ api }: TestPlatform): Promise<void> {
  const { projects } = (await api<{ projects: { slug: string }[] }>('GET', '/v1/projects?limit=100')).body
  const { remotes } = (await api<{ remotes: { id: string }[] }>('GET', '/instance/remotes')).body
  const { api_tokens } = (await api<{ api_tokens: { id: string }[] }>('GET', '/v1/tokens?limit=100')).body
  const paths = [
    ...projects.map(({ slug }) => `/v1/projects/${slug}`),
    ...remotes.map(({ id }) => `/instance/remotes/${id}`),
    ...api_tokens.map(({ id }) => `/v1/tokens/${id}`),
  ]
  await Promise.all(paths.map((path) => api('DELETE', path)))
}

export { expect } from '@playwright/test'

/** No axe finding of any severity, and nothing wider than the window. `only`: a subset of the rules, when the others were checked before. */
export async function expectAccessible(page: Page, name: string, { only }: { only?: string[] } = {}): Promise<void> {
  // Before its script has loaded, a page is a frame without content.
  await expect(page.locator('h1').first(), `${name} has its heading`).toBeVisible()
  await waitForAnimations(page)
  expect.soft(await findViolations(page, only), name).toEqual([])
  await expectNoHorizontalScroll(page, name)
}

/** The page has no horizontal scrolling. */
export async function expectNoHorizontalScroll(page: Page, name: string): Promise<void> {
  // Elements with measured sizes follow the window a frame later.
  const over = () => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
  await expect.configure({ soft: true }).poll(over, `${name} fits its window`).toBe(0)
}

/** Deploys a .tar.gz without a browser. */
export async function uploadArchive(to: TestPlatform, slug: string, archive: Buffer, name?: string): Promise<void> {
  const response = await fetch(`${to.handle.api_url}/v1/projects/${slug}/upload${name === undefined ? '' : `?${new URLSearchParams({ name })}`}`, {
    method: 'POST',
    body: new Uint8Array(archive),
    headers: { authorization: `Bearer ${to.handle.instance.token}`, 'content-type': 'application/gzip' },
  })
  const { deployment_id } = (await response.json()) as { deployment_id: string }
  expect((await to.waitForEnd(slug, deployment_id)).status).toBe('ready')
}

/** Replaces the files of a volume. */
export async function uploadIntoVolume(to: TestPlatform, slug: string, volume: string, archive: Buffer): Promise<void> {
  const response = await fetch(`${to.handle.api_url}/instance/projects/${slug}/volumes/${volume}/upload`, {
    method: 'POST',
    body: new Uint8Array(archive),
    headers: { authorization: `Bearer ${to.handle.instance.token}`, 'content-type': 'application/gzip' },
  })
  expect(response.status, await response.text()).toBe(200)
}

/** A server without dependencies that greets and logs. */
export function greetingAppFiles(greeting: string, build = `console.log('compiled ${greeting}')`): Record<string, string> {
  return {
    'package.json': JSON.stringify({ name: 'app', private: true, scripts: { build: 'node build.js', start: 'node server.js' } }),
    'build.js': build,
    'server.js': `
const http = require('node:http')
let count = 0
http.createServer((request, response) => {
  if (request.headers['user-agent'] !== 'Homeport-Health-Check') console.log('visit ' + ++count + ' to ' + request.url)
  if (request.url.startsWith('/many/')) for (let line = 0; line < Number(request.url.slice(6)); line++) console.log('line ' + line)
  response.setHeader('content-type', 'text/html')
  response.end('<!doctype html><title>app</title><h1>${greeting}</h1>')
}).listen(process.env.PORT, () => console.log('\\x1b[36m${greeting}\\x1b[0m listens'))
process.on('SIGTERM', () => process.exit(0))
`,
  }
}

/** A server with cacheable pages, and one of every kind of response. Each page shows how often it was requested. */
export function cacheableAppFiles(): Record<string, string> {
  return {
    'package.json': JSON.stringify({ name: 'newsstand', private: true, scripts: { start: 'node server.js' } }),
    'server.js': `
const http = require('node:http')
let requests = 0
const tags = { '/news': 'news front', '/weather': 'weather front', '/tides': 'tides' }
http.createServer((request, response) => {
  const path = request.url.split('?')[0]
  if (tags[path]) {
    response.setHeader('cache-control', 'public, max-age=600, stale-while-revalidate=60')
    response.setHeader('surrogate-key', tags[path])
  } else response.setHeader('cache-control', 'no-store')
  response.statusCode = { '/lost': 404, '/broken': 500, '/moved': 302 }[path] || 200
  if (path === '/moved') response.setHeader('location', '/news')
  response.setHeader('content-type', 'text/html')
  response.end('<!doctype html><title>newsstand</title><p>asked ' + ++requests + '</p>')
}).listen(process.env.PORT)
process.on('SIGTERM', () => process.exit(0))
`,
  }
}
