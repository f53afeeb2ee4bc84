import { configText, exec, found, has, ownServer, plainPath, setting, startOf, type App, type Detector } from './app.ts'
import { DetectFailure } from './detect-failure.ts'
import { firstOf, within } from './source-folder.ts'
import { bundler, vite } from './static-sites.ts'

const next: Detector = async (app) => {
  if (!has(app, 'next')) return null
  const config = await configText(app, 'next.config')
  const why = [found(app, 'Next.js', 'next')]
  const base = { framework: 'nextjs', default_build: 'next build', cache_directories: ['.next/cache'] }
  const output = setting(config, 'output')
  const folder = plainPath(setting(config, 'distDir'))
  if (output === 'export') {
    why.push('next.config says output: export: its files are served as a static site')
    return { ...base, why, work: { kind: 'static', output_directory: folder ?? 'out', spa_fallback: false } }
  }
  const own = ownServer(app)
  // Where the site lies in the standalone folder is known for a package that is its own root.
  if (output === 'standalone' && !own && folder === undefined && app.directory === '.') {
    why.push('next.config says output: standalone: its own small server is started')
    const copy =
      "node -e \"const f=require('fs');f.cpSync('.next/static','.next/standalone/.next/static',{recursive:true});if(f.existsSync('public'))f.cpSync('public','.next/standalone/public',{recursive:true})\""
    return {
      ...base,
      why,
      build_suffix: copy,
      work: { kind: 'server', start_command: ['node', '.next/standalone/server.js'], variables: { HOSTNAME: '0.0.0.0' } },
    }
  }
  // A port in the script would win over PORT, so the framework's server is started by itself then.
  const script = app.manifest.scripts.start ?? ''
  const isFixed = /\bnext start\b.*\s(-p|--port|-H|--hostname)\b/.test(script)
  return { ...base, why, work: { kind: 'server', start_command: own ?? (isFixed ? null : startOf(app)) ?? exec(app, 'next', 'start') } }
}

const nuxt: Detector = async (app) => {
  const name = ['nuxt', 'nuxt3', 'nuxt-nightly'].find((dependency) => has(app, dependency))
  if (!name) return null
  const why = [found(app, 'Nuxt', name)]
  const base = { framework: 'nuxt', default_build: 'nuxt build', cache_directories: ['node_modules/.cache'] }
  const config = await configText(app, 'nuxt.config')
  if (/\bnux(t|i) generate\b/.test(app.build_script) || /\bpreset\s*:\s*['"]static['"]/.test(config)) {
    const isSpa = /\bssr\s*:\s*false/.test(config)
    why.push('It is generated as a static site')
    return { ...base, why, work: { kind: 'static', output_directory: '.output/public', spa_fallback: isSpa } }
  }
  return { ...base, why, work: { kind: 'server', start_command: ownServer(app) ?? ['node', '.output/server/index.mjs'] } }
}

/** adapter-node trusts these headers, which the edge sets itself on every request. */
const svelteVariables = { PROTOCOL_HEADER: 'x-forwarded-proto', HOST_HEADER: 'x-forwarded-host' }

const svelteKit: Detector = async (app) => {
  if (!has(app, '@sveltejs/kit')) return null
  const why = [found(app, 'SvelteKit', '@sveltejs/kit')]
  const base = { framework: 'sveltekit', default_build: 'vite build', cache_directories: ['.svelte-kit/cache'] }
  // Newer starters keep the adapter in vite.config.
  const config = `${await configText(app, 'svelte.config')}\n${await configText(app, 'vite.config')}`
  const adapter = config.match(/['"](@sveltejs\/adapter-[a-z-]+|svelte-adapter-[a-z-]+)['"]/)?.[1] ?? '@sveltejs/adapter-auto'
  if (adapter === '@sveltejs/adapter-static') {
    const fallback = setting(config, 'fallback')
    why.push('adapter-static: its files are served as a static site')
    return {
      ...base,
      why,
      work: { kind: 'static', output_directory: plainPath(setting(config, 'pages')) ?? 'build', spa_fallback: fallback === 'index.html' },
    }
  }
  if (adapter === '@sveltejs/adapter-auto') {
    // adapter-auto knows no plain server; under this variable it takes adapter-node.
    why.push('adapter-auto: it is built for Node, with adapter-node')
    const work = { kind: 'server', start_command: ['node', 'build'], variables: svelteVariables } as const
    return { ...base, why, build_prefix: 'GCP_BUILDPACKS=1', work: { ...work, start_command: [...work.start_command] } }
  }
  if (adapter !== '@sveltejs/adapter-node') throw elsewhere('SvelteKit', adapter, '@sveltejs/adapter-node')
  const out = plainPath(setting(config, 'out')) ?? 'build'
  return {
    ...base,
    why: [...why, `adapter-node: its server is started from ${out}`],
    work: { kind: 'server', start_command: ownServer(app) ?? ['node', out], variables: svelteVariables },
  }
}

const astro: Detector = async (app) => {
  if (!has(app, 'astro')) return null
  const why = [found(app, 'Astro', 'astro')]
  const base = { framework: 'astro', default_build: 'astro build', cache_directories: ['node_modules/.astro'] }
  const config = await configText(app, 'astro.config')
  const out = plainPath(setting(config, 'outDir')) ?? 'dist'
  const adapter = config.match(/['"](@astrojs\/(?:node|vercel|netlify|cloudflare|deno)[a-z/-]*)['"]/)?.[1]
  if (adapter?.startsWith('@astrojs/node')) {
    const isMiddleware = setting(config, 'mode') === 'middleware'
    const start = ownServer(app)
    if (isMiddleware && !start)
      throw new DetectFailure(
        'Astro is built as middleware, and nothing starts a server with it.',
        "Set mode: 'standalone' for @astrojs/node, or add a start script to package.json.",
      )
    return {
      ...base,
      why: [...why, '@astrojs/node: its server is started'],
      work: { kind: 'server', start_command: start ?? ['node', `${out}/server/entry.mjs`] },
    }
  }
  const output = setting(config, 'output')
  if (adapter && output !== 'static') throw elsewhere('Astro', adapter, '@astrojs/node')
  return {
    ...base,
    why: [...why, 'No server adapter: its files are served as a static site'],
    work: { kind: 'static', output_directory: out, spa_fallback: false },
  }
}

const reactRouter: Detector = async (app) => {
  const tool = ['@react-router/dev', '@remix-run/dev'].find((dependency) => has(app, dependency))
  if (!tool) return null
  const isRemix = tool === '@remix-run/dev'
  const label = isRemix ? 'Remix' : 'React Router'
  const why = [found(app, label, tool)]
  const config = `${await configText(app, 'react-router.config')}\n${await configText(app, 'vite.config')}`
  const usesVite = !isRemix || /@remix-run\/dev/.test(config)
  const base = {
    framework: isRemix ? 'remix' : 'react-router',
    default_build: isRemix ? (usesVite ? 'remix vite:build' : 'remix build') : 'react-router build',
  }
  const out = plainPath(setting(config, 'buildDirectory')) ?? 'build'
  if (/\bssr\s*:\s*false/.test(config)) {
    why.push('ssr: false: it is served as a single-page app')
    return { ...base, why, work: { kind: 'static', output_directory: `${out}/client`, spa_fallback: true } }
  }
  const server = usesVite ? `./${out}/server/index.js` : './build/index.js'
  return { ...base, why, work: { kind: 'server', start_command: startOf(app) ?? exec(app, isRemix ? 'remix-serve' : 'react-router-serve', server) } }
}

const nest: Detector = async (app) => {
  if (!has(app, '@nestjs/core')) return null
  const config = await firstOf(app.source, app.directory, ['nest-cli.json'])
  const why = [found(app, 'NestJS', '@nestjs/core')]
  const entry = config?.text.match(/"entryFile"\s*:\s*"([^"]+)"/)?.[1] ?? 'main'
  const start = startOf(app, 'start:prod') ?? startOf(app) ?? ['node', `dist/${entry}`]
  return { framework: 'nestjs', why, default_build: 'nest build', work: { kind: 'server', start_command: start } }
}

/** Libraries whose apps start themselves; the first that package.json names is the one that is told. */
const libraries: [dependency: string, framework: string, label: string][] = [
  ['express', 'express', 'Express'],
  ['fastify', 'fastify', 'Fastify'],
  ['koa', 'koa', 'Koa'],
  ['hono', 'hono', 'Hono'],
  ['@hapi/hapi', 'node', 'hapi'],
  ['polka', 'node', 'Polka'],
  ['h3', 'node', 'h3'],
]

const servesFiles = /^(npx (-y |--yes )?)?serve(\s|$)/

/** An app with a server library that has a way to start; a library that only serves a static build's development does not count. */
export const nodeServer: Detector = async (app) => {
  const library = libraries.find(([dependency]) => app.manifest.dependencies[dependency] !== undefined)
  const start = await serverStart(app)
  if (!start) return null
  // The files that its start script would serve need no server of the app.
  if (!library && servesFiles.test(app.manifest.scripts.start ?? '') && ((await vite(app)) ?? (await bundler(app)))) return null
  if (library?.[1] === 'hono' && !has(app, '@hono/node-server') && has(app, 'wrangler'))
    throw elsewhere('Hono', 'wrangler (Cloudflare Workers)', '@hono/node-server')
  const why = library ? found(app, library[2], library[0]) : `Node app found (${start.why})`
  return {
    framework: library?.[1] ?? 'node',
    why: library ? [why, `It is started by ${start.why}`] : [why],
    default_build: null,
    work: { kind: 'server', start_command: start.command, ...(library?.[1] === 'fastify' ? { variables: { FASTIFY_ADDRESS: '0.0.0.0' } } : {}) },
  }
}

/** How a plain server starts: Procfile, start script, `main`, or a file with a usual name. */
async function serverStart(app: App): Promise<{ command: string[]; why: string } | null> {
  const { scripts, main } = app.manifest
  for (const name of ['start:prod', 'start:production', 'start', 'serve:prod']) {
    const command = startOf(app, name)
    if (command) return { command, why: `the script ${name} in ${within(app.directory, 'package.json')}` }
  }
  if (scripts.start !== undefined && has(app, 'vite')) return null
  const candidates = [
    main,
    'server.js',
    'server.mjs',
    'server.cjs',
    'app.js',
    'app.mjs',
    'index.js',
    'index.mjs',
    'index.cjs',
    'main.js',
    'main.mjs',
    'server.ts',
    'index.ts',
    'src/server.js',
    'src/index.js',
    'src/main.js',
    'src/app.js',
    'src/server.ts',
    'src/index.ts',
  ]
  for (const name of candidates) {
    const path = plainPath(name ?? undefined)
    if (path && (await app.source.has(within(app.directory, path)))) {
      const isApp = name === main || (await looksLikeServer(app, path))
      if (isApp) return { command: ['node', path], why: path }
    }
  }
  return null
}

/** A loose file is taken for a server only if it says that it listens. */
async function looksLikeServer(app: App, path: string): Promise<boolean> {
  return /\.listen\s*\(|createServer\s*\(|\bserve\s*\(/.test((await app.source.read(within(app.directory, path))) ?? '')
}

/** `web:` of a Procfile is what its author wants to run. It may hold variables, so a shell reads it. */
export async function procfile(app: App): Promise<string[] | null> {
  const text = await app.source.read(within(app.directory, 'Procfile'))
  const line = text?.match(/^web:\s*(.+)$/m)?.[1]?.trim()
  return line ? ['sh', '-c', `exec ${line}`] : null
}

function elsewhere(label: string, found: string, instead: string): DetectFailure {
  return new DetectFailure(
    `This ${label} app is built for another platform (${found}).`,
    `Install ${instead} and use it in the configuration: it makes a server that runs anywhere.`,
  )
}

export const serverFrameworks: Detector[] = [next, nuxt, svelteKit, astro, reactRouter, nest]
