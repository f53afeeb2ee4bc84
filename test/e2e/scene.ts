import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Preview } from '../../server/contract/previews.ts'
import { type TestPlatform, startTestPlatform, until } from '../support/platform.ts'
import { type Repository, makeRepository } from '../support/repository.ts'

/** A harbour with ships in every state, all of it real: repositories, builds, running apps. For the gallery and for looks at every screen. */
export interface Scene {
  home: TestPlatform
  /** Of the project `harbour-shop`: one that serves, one that failed. */
  serving_id: string
  failed_id: string
  /** Of the project `night-ferry`: its build runs until `finishBuild` is called. */
  running_id: string
  finishBuild(): void
  remove(): Promise<void>
}

/** A page that is worth a picture, wide and narrow. */
function storefront(title: string): string {
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

/** An app that talks while it runs, in colour, and whose build has something to say. */
export function talkativeApp(version: string, build = "console.log('built')"): Record<string, string> {
  return {
    'package.json': JSON.stringify(
      { name: 'shop', private: true, scripts: { build: 'node build.js', start: 'node server.js' }, engines: { node: '>=20' } },
      null,
      2,
    ),
    'package-lock.json': JSON.stringify({ name: 'shop', lockfileVersion: 3, requires: true, packages: { '': { name: 'shop' } } }, null, 2),
    'build.js': build,
    'server.js': `
const http = require('node:http')
const page = ${JSON.stringify(storefront(version))}
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

const buildTalk = `
const lines = ['\\x1b[36mvite v8.3.8\\x1b[0m building for production...', 'transforming...', '\\x1b[32m✓\\x1b[0m 214 modules transformed.', 'rendering chunks...',
  '\\x1b[2mdist/\\x1b[0m\\x1b[35massets/index-4f1c.css\\x1b[0m   14.20 kB', '\\x1b[2mdist/\\x1b[0m\\x1b[36massets/index-b7a0.js\\x1b[0m   182.44 kB', '\\x1b[32m✓ built in 1.42s\\x1b[0m']
for (const percent of [3, 20, 57, 88, 100]) process.stdout.write('\\rcompressing ' + percent + ' %')
console.log('')
for (const line of lines) console.log(line)
`

const brokenBuild = `
console.log('\\x1b[36mvite v8.3.8\\x1b[0m building for production...')
console.log('transforming...')
console.error("\\x1b[31merror\\x1b[0m during build:")
console.error('src/cart.ts:41:18: Could not resolve "./prices.ts" from "src/cart.ts"')
console.error('    39 | import { harbour } from "./harbour.ts"')
console.error('    41 | import { prices } from "./prices.ts"')
process.exit(1)
`

/** `pictures`: screenshots are taken too, and waited for. */
export async function setScene({ pictures = false } = {}): Promise<Scene> {
  const home = await startTestPlatform({ runtime: 'process', ...(pictures ? { screenshots: true } : {}) })
  const gates = mkdtempSync(join(tmpdir(), 'homeport-scene-'))
  const gate = join(gates, 'go')
  const repositories: Repository[] = []
  const repository = (files: Record<string, string>) => {
    const made = makeRepository(files)
    repositories.push(made)
    return made
  }
  const signed = (made: Repository, author: string, files: Record<string, string | null>, message: string) => {
    made.commit(files, message)
    execFileSync(
      'git',
      [
        '-c',
        'user.name=Homeport',
        '-c',
        'user.email=a@example.com',
        'commit',
        '--quiet',
        '--amend',
        '--no-edit',
        `--author=${author} <a@example.com>`,
      ],
      { cwd: made.folder },
    )
  }
  const deploy = async (slug: string) => home.ended(slug, (await home.deploy(slug)).id)

  for (const [name, slug] of [
    ['Lighthouse', 'lighthouse'],
    ['Tide tables', 'tide-tables'],
    ['Pilot book', 'pilot-book'],
  ] as const) {
    const made = repository({ 'index.html': `<!doctype html><title>${name}</title><h1>${name}</h1>` })
    signed(made, 'Ida Brekke', { 'about.html': `<h1>About ${name}</h1>` }, `Say what the ${name.toLowerCase()} is for`)
    await home.createProject({ name, slug, repo_url: made.url })
    await deploy(slug)
  }
  await home.api('POST', '/v1/projects/lighthouse/stop')

  const broken = repository(talkativeApp('1.0', brokenBuild))
  signed(broken, 'Jonas Vik', { 'README.md': '# Customs' }, 'Declare the goods before the ship is in')
  await home.createProject({ name: 'Customs declarations', slug: 'customs', repo_url: broken.url })
  await deploy('customs')

  const shop = repository(talkativeApp('Harbour Shop 1.0', buildTalk))
  signed(shop, 'Ida Brekke', { 'README.md': '# Shop' }, 'Open the shop')
  await home.createProject({ name: 'Harbour shop', slug: 'harbour-shop', repo_url: shop.url })
  await home.api('POST', '/v1/projects/harbour-shop/domains', { hostname: 'boats.example.com' })
  await home.api('POST', '/v1/projects/harbour-shop/domains/purchase', { hostname: 'harbour.test' })
  await home.api('POST', '/v1/projects/harbour-shop/database')
  await home.api('POST', '/instance/projects/harbour-shop/database/dumps')
  // Its production is deployed by hand here, version by version.
  await home.api('PATCH', '/instance/projects/harbour-shop/watching', { deploys_pushes: false })
  await home.api('POST', '/v1/projects/harbour-shop/env-vars', {
    vars: [
      { key: 'CURRENCY', value: 'NOK' },
      { key: 'TIDE_API', value: 'https://tides.example.com' },
      { key: 'PAYMENT_KEY', value: 'sk_live_51Hx0', environment: 'production', is_sensitive: true },
      { key: 'SIGNING_KEY', value: '-----BEGIN KEY-----\nMIIB4w\n-----END KEY-----', environment: 'production' },
    ],
  })
  await deploy('harbour-shop')
  signed(shop, 'Jonas Vik', talkativeApp('Harbour Shop 1.1', buildTalk), 'Show prices with and without duty')
  await deploy('harbour-shop')
  signed(shop, 'Ida Brekke', { 'build.js': brokenBuild }, 'Move the price list into its own file')
  const failed_id = (await deploy('harbour-shop')).id
  signed(shop, 'Ida Brekke', talkativeApp('Harbour Shop 1.2', buildTalk), 'Mend the price list, and round to whole øre')
  const serving_id = (await deploy('harbour-shop')).id
  const horn = repository(talkativeApp('Fog horn'))
  signed(horn, 'Jonas Vik', { 'README.md': '# Fog horn' }, 'Sound twice a minute')
  await home.createProject({ name: 'Fog horn', slug: 'fog-horn', repo_url: horn.url })
  await deploy('fog-horn')
  await home.edge('fog-horn.localhost')
  // Both fall asleep; the shop is woken again by its visitors.
  await home.api('PATCH', '/instance/settings', { sleep_after_s: 1 })
  for (const slug of ['fog-horn', 'harbour-shop'])
    await until(async () => (await home.project(slug)).is_cold || undefined, { what: `${slug} asleep` })
  await home.api('PATCH', '/instance/settings', { sleep_after_s: 900 })
  for (const path of ['/', '/boats', '/boats/wooden', '/slow', '/cart', '/checkout', '/boats', '/boats', '/old', '/lost', '/broken'])
    await home.edge('harbour-shop.localhost', path)
  await home.api('POST', '/v1/projects/harbour-shop/cache/token')
  await home.api('POST', '/v1/projects/harbour-shop/cache/purge-tags', { tags: ['price-list', 'boats'] })
  for (const path of ['/boats', '/boats', '/boats/wooden', '/boats', '/boats/wooden']) await home.edge('harbour-shop.localhost', path)

  if (pictures) await pictured(home, 'harbour-shop', serving_id)

  // What previews have redeploys nothing.
  await home.api('POST', '/v1/projects/harbour-shop/env-vars', {
    vars: [
      { key: 'TIDE_API', value: 'https://staging.tides.example.com', environment: 'preview' },
      { key: 'PAYMENT_KEY', value: 'sk_test_51Hx0', environment: 'preview', is_sensitive: true },
    ],
  })
  await home.createProject({ name: 'Chart room', slug: 'chart-room' })
  await home.api('POST', '/instance/backups')
  for (const [branch, author, files, message] of [
    ['feature/tide-widget', 'Solveig Aas', talkativeApp('Harbour Shop with tides', buildTalk), 'Show the tide beside each berth'],
    ['round-to-ore', 'Ida Brekke', { 'build.js': brokenBuild }, 'Round to whole øre everywhere'],
    ['winter-colours', 'Jonas Vik', talkativeApp('Harbour Shop in winter', buildTalk), 'Winter colours, and a map that folds'],
  ] as const) {
    execFileSync('git', ['switch', '--quiet', '-c', branch, 'main'], { cwd: shop.folder })
    signed(shop, author, files, message)
    const sha = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: shop.folder, encoding: 'utf8' }).trim()
    await home.api('POST', '/instance/projects/harbour-shop/watching/check')
    await until(
      async () => {
        const { body } = await home.api<{ previews: Preview[] }>('GET', '/v1/projects/harbour-shop/previews')
        return body.previews.find((one) => one.branch === branch && one.commit_sha === sha && /ready|failed/.test(one.status))
      },
      { what: `the preview of ${branch}` },
    )
  }

  const ferry = repository(
    talkativeApp(
      'Night ferry',
      `${buildTalk}
console.log('waiting for the tide')
const timer = setInterval(() => require('node:fs').existsSync(${JSON.stringify(gate)}) && clearInterval(timer), 50)`,
    ),
  )
  signed(ferry, 'Solveig Aas', { 'README.md': '# Night ferry' }, 'Sail at eleven on Fridays')
  await home.createProject({ name: 'Night ferry', slug: 'night-ferry', repo_url: ferry.url })
  const running_id = (await home.deploy('night-ferry')).id
  await until(async () => (await home.deployment('night-ferry', running_id)).build_log.includes('waiting for the tide') || undefined, {
    what: 'the build of the ferry',
  })

  await home.api('POST', '/v1/tokens', { name: 'Deploys from CI' })

  if (pictures) {
    const { previews } = (await home.api<{ previews: Preview[] }>('GET', '/v1/projects/harbour-shop/previews')).body
    for (const { deployment_id, url } of previews) if (url !== null) await pictured(home, 'harbour-shop', deployment_id)
  }

  return {
    home,
    serving_id,
    failed_id,
    running_id,
    finishBuild: () => {
      if (!existsSync(gate)) writeFileSync(gate, '')
    },
    async remove() {
      writeFileSync(gate, '')
      await home.remove()
      for (const made of repositories) made.remove()
      rmSync(gates, { recursive: true, force: true })
    },
  }
}

async function pictured(home: TestPlatform, slug: string, id: string): Promise<void> {
  await until(
    async () => {
      const { screenshots } = await home.deployment(slug, id)
      return (screenshots.desktop && screenshots.mobile) || undefined
    },
    { what: `the pictures of ${slug}` },
  )
}
