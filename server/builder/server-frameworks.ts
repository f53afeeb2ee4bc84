import {
  readConfig,
  createExecCommand,
  explainFound,
  hasDependency,
  getOwnServerCommand,
  normalizePath,
  findConfigSetting,
  getStartCommand,
  type DetectionContext,
  type Detector,
} from './detector.ts'
import { DetectFailure } from './detect-failure.ts'
import { findWebProcess } from './procfile.ts'
import { readFirst, joinInside } from './source-folder.ts'
import { bundler, vite } from './static-sites.ts'

const next: Detector = async (app) => {
  if (!hasDependency(app, 'next')) return null
  const config = await readConfig(app, 'next.config')
  const explanation = [explainFound(app, 'Next.js', 'next')]
  const base = { framework: 'nextjs', default_build: 'next build', cache_directories: ['.next/cache'] }
  const output = findConfigSetting(config, 'output')
  const folder = normalizePath(findConfigSetting(config, 'distDir'))
  if (output === 'export') {
    explanation.push('output: export in next.config: served as a static site')
    return { ...base, explanation, work: { kind: 'static', output_directory: folder ?? 'out', spa_fallback: false } }
  }
  const ownServer = getOwnServerCommand(app)
  // The position of the site in the standalone folder is known only for a package that is its own root.
  if (output === 'standalone' && !ownServer && folder === undefined && app.directory === '.') {
    explanation.push('output: standalone in next.config: its standalone server is started')
    const copy =
      "node -e \"const f=require('fs');f.cpSync('.next/static','.next/standalone/.next/static',{recursive:true});if(f.existsSync('public'))f.cpSync('public','.next/standalone/public',{recursive:true})\""
    return {
      ...base,
      explanation,
      build_suffix: copy,
      work: { kind: 'server', start_command: ['node', '.next/standalone/server.js'], variables: { HOSTNAME: '0.0.0.0' } },
    }
  }
  // A port in the script would override PORT, so the framework's server is started directly.
  const script = app.manifest.scripts.start ?? ''
  const hasFixedPort = /\bnext start\b.*\s(-p|--port|-H|--hostname)\b/.test(script)
  return {
    ...base,
    explanation,
    work: { kind: 'server', start_command: ownServer ?? (hasFixedPort ? null : getStartCommand(app)) ?? createExecCommand(app, 'next', 'start') },
  }
}

const nuxt: Detector = async (app) => {
  const name = ['nuxt', 'nuxt3', 'nuxt-nightly'].find((dependency) => hasDependency(app, dependency))
  if (!name) return null
  const explanation = [explainFound(app, 'Nuxt', name)]
  const base = { framework: 'nuxt', default_build: 'nuxt build', cache_directories: ['node_modules/.cache'] }
  const config = await readConfig(app, 'nuxt.config')
  if (/\bnux(t|i) generate\b/.test(app.build_script) || /\bpreset\s*:\s*['"]static['"]/.test(config)) {
    const isSpa = /\bssr\s*:\s*false/.test(config)
    explanation.push('Generated as a static site')
    return { ...base, explanation, work: { kind: 'static', output_directory: '.output/public', spa_fallback: isSpa } }
  }
  return { ...base, explanation, work: { kind: 'server', start_command: getOwnServerCommand(app) ?? ['node', '.output/server/index.mjs'] } }
}

/** adapter-node trusts these headers. The edge sets them on every request. */
const svelteVariables = { PROTOCOL_HEADER: 'x-forwarded-proto', HOST_HEADER: 'x-forwarded-host' }

const svelteKit: Detector = async (app) => {
  if (!hasDependency(app, '@sveltejs/kit')) return null
  const explanation = [explainFound(app, 'SvelteKit', '@sveltejs/kit')]
  const base = { framework: 'sveltekit', default_build: 'vite build', cache_directories: ['.svelte-kit/cache'] }
  // Newer starters keep the adapter in vite.config.
  const config = `${await readConfig(app, 'svelte.config')}\n${await readConfig(app, 'vite.config')}`
  const adapter = config.match(/['"](@sveltejs\/adapter-[a-z-]+|svelte-adapter-[a-z-]+)['"]/)?.[1] ?? '@sveltejs/adapter-auto'
  if (adapter === '@sveltejs/adapter-static') {
    const fallback = findConfigSetting(config, 'fallback')
    explanation.push('adapter-static: served as a static site')
    return {
      ...base,
      explanation,
      work: {
        kind: 'static',
        output_directory: normalizePath(findConfigSetting(config, 'pages')) ?? 'build',
        spa_fallback: fallback === 'index.html',
      },
    }
  }
  if (adapter === '@sveltejs/adapter-auto') {
    // adapter-auto does not detect a plain server; this variable makes it use adapter-node.
    explanation.push('adapter-auto: built for Node with adapter-node')
    const work = { kind: 'server', start_command: ['node', 'build'], variables: svelteVariables } as const
    return { ...base, explanation, build_prefix: 'GCP_BUILDPACKS=1', work: { ...work, start_command: [...work.start_command] } }
  }
  if (adapter !== '@sveltejs/adapter-node') throw createWrongPlatformFailure('SvelteKit', adapter, '@sveltejs/adapter-node')
  const out = normalizePath(findConfigSetting(config, 'out')) ?? 'build'
  return {
    ...base,
    explanation: [...explanation, `adapter-node: its server is started from ${out}`],
    work: { kind: 'server', start_command: getOwnServerCommand(app) ?? ['node', out], variables: svelteVariables },
  }
}

const astro: Detector = async (app) => {
  if (!hasDependency(app, 'astro')) return null
  const explanation = [explainFound(app, 'Astro', 'astro')]
  const base = { framework: 'astro', default_build: 'astro build', cache_directories: ['node_modules/.astro'] }
  const config = await readConfig(app, 'astro.config')
  const out = normalizePath(findConfigSetting(config, 'outDir')) ?? 'dist'
  const adapter = config.match(/['"](@astrojs\/(?:node|vercel|netlify|cloudflare|deno)[a-z/-]*)['"]/)?.[1]
  if (adapter?.startsWith('@astrojs/node')) {
    const isMiddleware = findConfigSetting(config, 'mode') === 'middleware'
    const start = getOwnServerCommand(app)
    if (isMiddleware && !start)
      throw new DetectFailure(
        'Astro is built as middleware, and package.json has no script that starts a server with it.',
        "Set mode: 'standalone' for @astrojs/node, or add a start script to package.json.",
      )
    return {
      ...base,
      explanation: [...explanation, '@astrojs/node: its server is started'],
      work: { kind: 'server', start_command: start ?? ['node', `${out}/server/entry.mjs`] },
    }
  }
  const output = findConfigSetting(config, 'output')
  if (adapter && output !== 'static') throw createWrongPlatformFailure('Astro', adapter, '@astrojs/node')
  return {
    ...base,
    explanation: [...explanation, 'No server adapter: served as a static site'],
    work: { kind: 'static', output_directory: out, spa_fallback: false },
  }
}

const reactRouter: Detector = async (app) => {
  const tool = ['@react-router/dev', '@remix-run/dev'].find((dependency) => hasDependency(app, dependency))
  if (!tool) return null
  const isRemix = tool === '@remix-run/dev'
  const label = isRemix ? 'Remix' : 'React Router'
  const explanation = [explainFound(app, label, tool)]
  const config = `${await readConfig(app, 'react-router.config')}\n${await readConfig(app, 'vite.config')}`
  const usesVite = !isRemix || /@remix-run\/dev/.test(config)
  const base = {
    framework: isRemix ? 'remix' : 'react-router',
    default_build: isRemix ? (usesVite ? 'remix vite:build' : 'remix build') : 'react-router build',
  }
  const out = normalizePath(findConfigSetting(config, 'buildDirectory')) ?? 'build'
  if (/\bssr\s*:\s*false/.test(config)) {
    explanation.push('ssr: false: served as a single-page app')
    return { ...base, explanation, work: { kind: 'static', output_directory: `${out}/client`, spa_fallback: true } }
  }
  const server = usesVite ? `./${out}/server/index.js` : './build/index.js'
  return {
    ...base,
    explanation,
    work: { kind: 'server', start_command: getStartCommand(app) ?? createExecCommand(app, isRemix ? 'remix-serve' : 'react-router-serve', server) },
  }
}

const nest: Detector = async (app) => {
  if (!hasDependency(app, '@nestjs/core')) return null
  const config = await readFirst(app.source, app.directory, ['nest-cli.json'])
  const explanation = [explainFound(app, 'NestJS', '@nestjs/core')]
  const entry = config?.text.match(/"entryFile"\s*:\s*"([^"]+)"/)?.[1] ?? 'main'
  const start = getStartCommand(app, 'start:prod') ?? getStartCommand(app) ?? ['node', `dist/${entry}`]
  return { framework: 'nestjs', explanation, default_build: 'nest build', work: { kind: 'server', start_command: start } }
}

/** Libraries of apps that start their own server. The first one in package.json is named in the explanation. */
const serverLibraries: [dependency: string, framework: string, label: string][] = [
  ['express', 'express', 'Express'],
  ['fastify', 'fastify', 'Fastify'],
  ['koa', 'koa', 'Koa'],
  ['hono', 'hono', 'Hono'],
  ['@hapi/hapi', 'node', 'hapi'],
  ['polka', 'node', 'Polka'],
  ['h3', 'node', 'h3'],
]

const staticServeScript = /^(npx (-y |--yes )?)?serve(\s|$)/

/** An app with a server library and a start command. A server library that only serves a static build during development does not count. */
export const nodeServer: Detector = async (app) => {
  const library = serverLibraries.find(([dependency]) => app.manifest.dependencies[dependency] !== undefined)
  const start = await findServerStart(app)
  if (!start) return null
  // A start script that only serves static files needs no server.
  if (!library && staticServeScript.test(app.manifest.scripts.start ?? '') && ((await vite(app)) ?? (await bundler(app)))) return null
  if (library?.[1] === 'hono' && !hasDependency(app, '@hono/node-server') && hasDependency(app, 'wrangler'))
    throw createWrongPlatformFailure('Hono', 'wrangler (Cloudflare Workers)', '@hono/node-server')
  const explanation = library ? explainFound(app, library[2], library[0]) : `Node app found (${start.why})`
  return {
    framework: library?.[1] ?? 'node',
    explanation: library ? [explanation, `Started by ${start.why}`] : [explanation],
    default_build: null,
    work: { kind: 'server', start_command: start.command, ...(library?.[1] === 'fastify' ? { variables: { FASTIFY_ADDRESS: '0.0.0.0' } } : {}) },
  }
}

/** The start command of a plain server: Procfile, start script, `main`, or a file with a common name. */
async function findServerStart(app: DetectionContext): Promise<{ command: string[]; why: string } | null> {
  const { scripts, main } = app.manifest
  for (const name of ['start:prod', 'start:production', 'start', 'serve:prod']) {
    const command = getStartCommand(app, name)
    if (command) return { command, why: `the script ${name} in ${joinInside(app.directory, 'package.json')}` }
  }
  if (scripts.start !== undefined && hasDependency(app, 'vite')) return null
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
    const path = normalizePath(name ?? undefined)
    if (path && (await app.source.has(joinInside(app.directory, path)))) {
      const isApp = name === main || (await looksLikeServer(app, path))
      if (isApp) return { command: ['node', path], why: path }
    }
  }
  return null
}

/** A loose file counts as a server only if its code listens on a port. */
async function looksLikeServer(app: DetectionContext, path: string): Promise<boolean> {
  return /\.listen\s*\(|createServer\s*\(|\bserve\s*\(/.test((await app.source.read(joinInside(app.directory, path))) ?? '')
}

/** The `web:` process of a Procfile. The command may contain variables, so a shell runs it. */
export async function readProcfileCommand(app: DetectionContext): Promise<string[] | null> {
  const command = findWebProcess(await app.source.read(joinInside(app.directory, 'Procfile')))
  return command === null ? null : ['sh', '-c', `exec ${command}`]
}

function createWrongPlatformFailure(label: string, adapter: string, instead: string): DetectFailure {
  return new DetectFailure(
    `This ${label} app is configured for another platform (${adapter}).`,
    `Install ${instead} and use it in the configuration. It builds a server that runs on Node.`,
  )
}

export const serverFrameworks: Detector[] = [next, nuxt, svelteKit, astro, reactRouter, nest]
