import { AxeBuilder } from '@axe-core/playwright'
import { type Page, test as base, expect } from '@playwright/test'
import { type TestPlatform, startTestPlatform } from '../support/platform.ts'
import { type Repository, makeRepository } from '../support/repository.ts'
import { settled, signIn } from './stage.ts'

interface OfWorker {
  /** '': the platform that all tests of a worker share. Another name: one that these tests have for themselves, and that keeps what each leaves. */
  platform_name: string
  workerHome: TestPlatform
  workerOther: () => Promise<TestPlatform>
}

interface OfTest {
  /** A whole platform with the process runtime, without projects. */
  home: TestPlatform
  /** The same once more, for what happens between two; started when the first test of a worker asks for it. */
  startOther: () => Promise<TestPlatform>
  /** The page of a browser that is signed in as the owner. */
  desk: Page
  /** A git repository that goes when the test ends. */
  repository: (files: Record<string, string>) => Repository
}

export const test = base.extend<OfTest, OfWorker>({
  platform_name: ['', { option: true, scope: 'worker' }],
  workerHome: [
    async ({ platform_name: _ }, use) => {
      const home = await startTestPlatform({ runtime: 'process' })
      await use(home)
      await home.remove()
    },
    { scope: 'worker' },
  ],
  workerOther: [
    // oxlint-disable-next-line no-empty-pattern -- Playwright asks for the braces
    async ({}, use) => {
      let other: Promise<TestPlatform> | undefined
      await use(() => (other ??= startTestPlatform({ runtime: 'process' })))
      await (await other)?.remove()
    },
    { scope: 'worker' },
  ],
  async home({ workerHome, platform_name }, use) {
    await use(workerHome)
    if (platform_name === '') await emptied(workerHome)
  },
  async startOther({ workerOther, platform_name }, use) {
    let used: TestPlatform | undefined
    await use(async () => (used = await workerOther()))
    if (used && platform_name === '') await emptied(used)
  },
  /** A failure tells what the page could not fetch, what it complained about, and what it still waits for. */
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
    await use(page)
    if (info.status === info.expectedStatus) return
    await info.attach('what the page saw', {
      body: [...seen, ...[...open].map((url) => `${url}: no answer yet`)].join('\n'),
      contentType: 'text/plain',
    })
  },
  async desk({ home, page }, use) {
    await signIn(page, await home.platform.signInUrl())
    await use(page)
  },
  // oxlint-disable-next-line no-empty-pattern -- Playwright asks for the braces
  async repository({}, use) {
    const made: Repository[] = []
    await use((files) => {
      const repository = makeRepository(files)
      made.push(repository)
      return repository
    })
    for (const repository of made) repository.remove()
  },
})

/** Removes what a test made, so that the next one finds no projects, tokens or other instances. */
async function emptied({ api }: TestPlatform): Promise<void> {
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

const rules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

/** The rules that look at colours, which are all that another theme changes. */
export const rulesOfColour = ['color-contrast', 'link-in-text-block']

/** No finding in axe, however small, and nothing wider than the window. `only`: some rules, where the others have been asked already. */
export async function expectForEverybody(page: Page, name: string, { only }: { only?: string[] } = {}): Promise<void> {
  // Before its script has come, a page is a frame without a content.
  await expect(page.locator('h1').first(), `${name} has its heading`).toBeVisible()
  await settled(page)
  // There are no frames, so axe may report from the page itself; else it opens a second one for each report.
  // Of what is as it should be nothing has to be told: to name each such element takes it longer than to look.
  const axe = new AxeBuilder({ page }).setLegacyMode().options({ resultTypes: ['violations'] })
  const { violations } = await (only ? axe.withRules(only) : axe.withTags(rules)).analyze()
  expect
    .soft(
      violations.map(
        ({ id, impact, nodes }) =>
          `${id} (${impact}): ${nodes.map(({ target, failureSummary }) => `${target.join(' ')} ${failureSummary}`).join('; ')}`,
      ),
      name,
    )
    .toEqual([])
  await expectFits(page, name)
}

/** Nobody has to scroll sideways. */
export async function expectFits(page: Page, name: string): Promise<void> {
  // What is drawn to measure follows a frame after the window.
  const over = () => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
  await expect.configure({ soft: true }).poll(over, `${name} fits its window`).toBe(0)
}

/** Deploys a .tar.gz without a browser. */
export async function upload(to: TestPlatform, slug: string, archive: Buffer): Promise<void> {
  const answer = await fetch(`${to.platform.api_url}/v1/projects/${slug}/upload`, {
    method: 'POST',
    body: new Uint8Array(archive),
    headers: { authorization: `Bearer ${to.platform.instance.token}`, 'content-type': 'application/gzip' },
  })
  const { deployment_id } = (await answer.json()) as { deployment_id: string }
  expect((await to.ended(slug, deployment_id)).status).toBe('ready')
}

/** A server without dependencies that greets, and talks about it. */
export function app(greeting: string, build = `console.log('compiled ${greeting}')`): Record<string, string> {
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

/** A server with pages that may be kept at the edge, and one of every kind of answer. It says in each page how often it was asked. */
export function newsstand(): Record<string, string> {
  return {
    'package.json': JSON.stringify({ name: 'newsstand', private: true, scripts: { start: 'node server.js' } }),
    'server.js': `
const http = require('node:http')
let asked = 0
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
  response.end('<!doctype html><title>newsstand</title><p>asked ' + ++asked + '</p>')
}).listen(process.env.PORT)
process.on('SIGTERM', () => process.exit(0))
`,
  }
}
