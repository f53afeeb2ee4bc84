import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Preview } from '../../server/contract/previews.ts'
import { signalFileIn, type TestPlatform, startTestPlatform } from '../support/platform.ts'
import { type Repository, makeRepository, tinyServer } from '../support/repository.ts'
import { until } from '../support/until.ts'

/** Projects in every state, all real: repositories, builds, running apps. For the gallery and for checks of every screen. */
export interface SeededPlatform {
  platform: TestPlatform
  ids: SeededIds
  remove(): Promise<void>
}

/** Deployments that the URLs of screens refer to. */
export interface SeededIds {
  /** Of the project `harbour-shop`: one that serves, one that failed. */
  serving_id: string
  failed_id: string
  /** Of the project `night-ferry`: its build runs until the platform is removed. */
  running_id: string
}

/** A page worth a screenshot, wide and narrow. */
function storefrontPage(title: string): string {
  const boats = ['Wooden dinghy', 'Sea kayak', 'Gaff cutter', 'Pilot boat', 'Folding boat', 'Fishing smack']
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title><style>
body{margin:0;font:17px/1.5 system-ui;color:#12303b;background:#f6f1e7}
header{padding:7vw 6vw 5vw;color:#fff;background:linear-gradient(160deg,#0b3c49,#1c7c7d 70%,#e8a44a)}
h1{margin:0;font-size:clamp(34px,6vw,76px);line-height:1.05}p{max-width:36em}
main{display:grid;gap:22px;grid-template-columns:repeat(auto-fill,minmax(250px,1fr));padding:4vw 6vw}
article{padding:18px;border-radius:14px;background:#fff;box-shadow:0 2px 14px #12303b1a}i{display:block;height:110px;margin-bottom:12px;border-radius:9px}
</style><header><h1>${title}</h1><p>Boats, rope and charts, from the quay at the end of the road. Open when the lamp is lit.</p></header>
<main>${boats.map((boat, index) => `<article><i style="background:hsl(${(title.length * 31 + index * 47) % 360} 45% 62%)"></i><b>${boat}</b><br>from ${(index + 2) * 1450} kr</article>`).join('')}</main>`
}

/** An app that logs in color while it runs, and whose build has output. */
function talkativeApp(version: string, build = "console.log('built')"): Record<string, string> {
  return {
    'package.json': JSON.stringify(
      { name: 'shop', private: true, scripts: { build: 'node build.js', start: 'node server.js' }, engines: { node: '>=20' } },
      null,
      2,
    ),
    'build.js': build,
    'server.js': `
const http = require('node:http')
const page = ${JSON.stringify(storefrontPage(version))}
http.createServer((request, response) => {
  console.log('\\x1b[32m200\\x1b[0m \\x1b[1m' + request.method + '\\x1b[0m ' + request.url + ' \\x1b[2m' + (request.headers['user-agent'] || '-').slice(0, 60) + '\\x1b[0m')
  if (request.url === '/slow') console.error('\\x1b[33mwarning\\x1b[0m the tide table answers slowly')
  response.setHeader('content-type', 'text/html; charset=utf-8')
  if (request.url.startsWith('/boats')) {
    response.setHeader('cache-control', 'public, max-age=300, stale-while-revalidate=600')
    response.setHeader('surrogate-key', 'boats price-list')
    response.setHeader('vary', 'accept-language')
  }
  if (request.url === '/old') response.writeHead(301, { location: '/boats' })
  if (request.url === '/lost') response.writeHead(404)
  if (request.url === '/broken') response.writeHead(500)
  response.end(page)
}).listen(process.env.PORT, () => console.log('\\x1b[36m${version}\\x1b[0m listens on ' + process.env.PORT))
process.on('SIGTERM', () => process.exit(0))
`,
  }
}

const verboseBuild = `
const lines = ['\\x1b[36mvite v8.3.8\\x1b[0m building for production...', 'transforming...', '\\x1b[32m✓\\x1b[0m 214 modules transformed.', 'rendering chunks...',
  '\\x1b[2mdist/\\x1b[0m\\x1b[35massets/index-4f1c.css\\x1b[0m   14.20 kB', '\\x1b[2mdist/\\x1b[0m\\x1b[36massets/index-b7a0.js\\x1b[0m   182.44 kB', '\\x1b[32m✓ built in 1.42s\\x1b[0m']
for (const percent of [3, 20, 57, 88, 100]) process.stdout.write('\\rcompressing ' + percent + ' %')
console.log('')
for (const line of lines) console.log(line)
`

const failingBuild = `
console.log('\\x1b[36mvite v8.3.8\\x1b[0m building for production...')
console.log('transforming...')
console.error("\\x1b[31merror\\x1b[0m during build:")
console.error('src/cart.ts:41:18: Could not resolve "./prices.ts" from "src/cart.ts"')
console.error('    39 | import { harbour } from "./harbour.ts"')
console.error('    41 | import { prices } from "./prices.ts"')
process.exit(1)
`

/**
 * Each state takes as few real deployments as possible, in parallel. `pictures`: more projects and previews, and their
 * screenshots, which are awaited.
 */
export async function createSeededPlatform({ pictures = false } = {}): Promise<SeededPlatform> {
  const platform = await startTestPlatform({ runtime: 'process', ...(pictures ? { screenshots: true } : {}) })
  const folder = mkdtempSync(join(tmpdir(), 'homeport-scene-'))
  const finish_file = signalFileIn(platform.data_dir, 'finish')
  const repositories: Repository[] = []

  /** A repository whose newest commit has an author and a message. */
  const createRepository = (author: string, message: string, files: Record<string, string>) => {
    const repository = makeRepository(files)
    repositories.push(repository)
    commitAs(repository, author, message, { 'README.md': `# ${message}` })
    return repository
  }
  const create = (slug: string, name: string, repository?: Repository) =>
    platform.createProject({ slug, name, ...(repository && { repo_url: repository.url }) })
  const deploy = async (slug: string) => platform.waitForEnd(slug, (await platform.deploy(slug)).id)
  const pages = (name: string) => createRepository('Ida Brekke', `Say what the ${name} is for`, { 'index.html': `<!doctype html><h1>${name}</h1>` })

  async function addStoppedProject(): Promise<void> {
    await create('lighthouse', 'Lighthouse', pages('lighthouse'))
    await deploy('lighthouse')
    await platform.api('POST', '/v1/projects/lighthouse/stop')
  }
  async function addFailedProject(): Promise<void> {
    const files = { ...talkativeApp('1.0'), 'build.js': failingBuild }
    await create('customs', 'Customs declarations', createRepository('Jonas Vik', 'Declare the goods before the ship is in', files))
    await deploy('customs')
  }
  async function addSleepingProject(): Promise<void> {
    await platform.api('PATCH', '/instance/settings', { sleep_after_s: 1 })
    await create('fog-horn', 'Fog horn', createRepository('Jonas Vik', 'Sound twice a minute', tinyServer('Fog horn')))
    await deploy('fog-horn')
    await until(async () => (await platform.getProject('fog-horn')).is_cold || undefined, { what: 'fog-horn asleep' })
    await platform.api('PATCH', '/instance/settings', { sleep_after_s: 900 })
  }
  async function addShop(): Promise<Omit<SeededIds, 'running_id'>> {
    const repository = createRepository('Ida Brekke', 'Open the shop', talkativeApp('Harbour Shop 1.0', verboseBuild))
    await create('harbour-shop', 'Harbour shop', repository)
    const path = '/v1/projects/harbour-shop'
    await platform.api('POST', `${path}/domains`, { hostname: 'boats.example.com' })
    await platform.api('POST', `${path}/domains/purchase`, { hostname: 'harbour.test' })
    await platform.api('POST', `${path}/database`)
    await platform.api('POST', '/instance/projects/harbour-shop/database/dumps')
    await platform.api('POST', '/instance/projects/harbour-shop/env-vars', { vars: environmentVariables })
    await deploy('harbour-shop')
    commitAs(repository, 'Ida Brekke', 'Move the price list into its own file', { 'build.js': failingBuild })
    const failed_id = (await deploy('harbour-shop')).id
    commitAs(repository, 'Ida Brekke', 'Mend the price list, and round to whole øre', talkativeApp('Harbour Shop 1.2', verboseBuild))
    const serving_id = (await deploy('harbour-shop')).id

    const branches: [name: string, author: string, message: string, files: Record<string, string>][] = [
      ['feature/tide-widget', 'Solveig Aas', 'Show the tide beside each berth', talkativeApp('Harbour Shop with tides', verboseBuild)],
      ['round-to-ore', 'Ida Brekke', 'Round to whole øre everywhere', { 'build.js': failingBuild }],
    ]
    if (pictures) branches.push(['winter-colours', 'Jonas Vik', 'Winter colours, and a map that folds', talkativeApp('Winter', verboseBuild)])
    for (const [branch, author, message, files] of branches) {
      const git = (...args: string[]) => execFileSync('git', args, { cwd: repository.folder })
      // The branch appears with its commit, because the platform may check at any moment and deploys what it finds.
      git('switch', '--quiet', '--detach', 'main')
      commitAs(repository, author, message, files)
      git('branch', branch)
    }
    await platform.api('POST', '/instance/projects/harbour-shop/watching/check')
    await until(
      async () => (await listPreviews(platform)).filter(({ status }) => /ready|failed/.test(status)).length === branches.length || undefined,
      {
        what: 'the previews of harbour-shop',
      },
    )
    return { serving_id, failed_id }
  }
  async function sendRequests(): Promise<void> {
    const ask = (paths: string) =>
      paths.split(' ').reduce((before, path) => before.then(() => platform.fetchEdge('harbour-shop.localhost', path)), Promise.resolve<unknown>(0))
    await ask('/ /boats /boats/wooden /slow /cart /checkout /boats /boats /old /lost /broken')
    await platform.api('POST', '/v1/projects/harbour-shop/cache/token')
    await platform.api('POST', '/v1/projects/harbour-shop/cache/purge-tags', { tags: ['price-list', 'boats'] })
    await ask('/boats /boats /boats/wooden /boats /boats/wooden')
  }
  /** Its build occupies one of the build slots, so it comes last. */
  async function addBuildingProject(): Promise<string> {
    const wait = `console.log('waiting for the tide'); setInterval(() => require('node:fs').existsSync(${JSON.stringify(finish_file)}) && process.exit(), 50)`
    await create(
      'night-ferry',
      'Night ferry',
      createRepository('Solveig Aas', 'Sail at eleven on Fridays', talkativeApp('Night ferry', verboseBuild + wait)),
    )
    const { id } = await platform.deploy('night-ferry')
    const isWaiting = async () => (await platform.getDeployment('night-ferry', id)).build_log.includes('waiting for the tide') || undefined
    await until(isWaiting, { what: 'the build of night-ferry' })
    return id
  }
  async function addExtraProjects(): Promise<void> {
    for (const [slug, name] of [
      ['tide-tables', 'Tide tables'],
      ['pilot-book', 'Pilot book'],
    ] as const) {
      await create(slug, name, pages(name))
      await deploy(slug)
    }
  }

  await platform.api('POST', '/v1/tokens', { name: 'Laptop' })
  await create('chart-room', 'Chart room')
  await platform.api('POST', '/instance/tokens', { name: 'Deploys from CI', scope: 'deploy', project: 'chart-room', expires_in_days: 90 })
  const [ids] = await Promise.all([
    addShop(),
    addStoppedProject(),
    addFailedProject(),
    addSleepingProject(),
    ...(pictures ? [addExtraProjects()] : []),
  ])
  await sendRequests()
  await platform.api('POST', '/instance/backups')
  // Before the build that never ends, because screenshots wait for deployments.
  if (pictures) {
    await waitForScreenshots(platform, 'harbour-shop', ids.serving_id)
    for (const { deployment_id, url } of await listPreviews(platform))
      if (url !== null) await waitForScreenshots(platform, 'harbour-shop', deployment_id)
  }
  const running_id = await addBuildingProject()
  return {
    platform,
    ids: { ...ids, running_id },
    async remove() {
      writeFileSync(finish_file, '')
      await platform.remove()
      for (const repository of repositories) repository.remove()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const environmentVariables = [
  { key: 'CURRENCY', value: 'NOK' },
  { key: 'TIDE_API', value: 'https://tides.example.com' },
  { key: 'TIDE_API', value: 'https://staging.tides.example.com', environment: 'preview' },
  { key: 'PAYMENT_KEY', value: 'sk_live_51Hx0', environment: 'production', is_sensitive: true },
  { key: 'PAYMENT_KEY', value: 'sk_test_51Hx0', environment: 'preview', is_sensitive: true },
  { key: 'SIGNING_KEY', value: 'c2lnbmluZw', environment: 'production', is_write_only: true, is_build_secret: true },
  { key: 'SIGNING_KEY', value: '-----BEGIN KEY-----\nMIIB4w\n-----END KEY-----', environment: 'production' },
]

function commitAs(to: Repository, author: string, message: string, files: Record<string, string>): void {
  to.commit(files, message)
  const identity = ['-c', 'user.name=Homeport', '-c', 'user.email=a@example.com']
  execFileSync('git', [...identity, 'commit', '--quiet', '--amend', '--no-edit', `--author=${author} <a@example.com>`], { cwd: to.folder })
}

const listPreviews = async (platform: TestPlatform) =>
  (await platform.api<{ previews: Preview[] }>('GET', '/v1/projects/harbour-shop/previews')).body.previews

async function waitForScreenshots(platform: TestPlatform, slug: string, id: string): Promise<void> {
  await until(
    async () => {
      const { screenshots } = await platform.getDeployment(slug, id)
      return (screenshots.desktop && screenshots.mobile) || undefined
    },
    { what: `the pictures of ${slug}` },
  )
}
