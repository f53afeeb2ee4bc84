import { configText, found, has, option, plainPath, setting, startOf, type App, type Detector, type Recipe } from './app.ts'
import { asText, record } from './manifest.ts'
import { within } from './source-folder.ts'

const angular: Detector = async (app) => {
  if (!has(app, '@angular/core')) return null
  const why = [found(app, 'Angular', '@angular/core')]
  const base = { framework: 'angular', default_build: 'ng build', cache_directories: ['.angular/cache'] }
  const text = await app.source.read(within(app.directory, 'angular.json'))
  const workspace = record(parseLoosely(text ?? '{}'))
  const projects = record(workspace.projects)
  const apps = Object.entries(projects).filter(([, value]) => record(value).projectType !== 'library')
  const [name, chosen] = apps.find(([key]) => key === workspace.defaultProject) ?? apps[0] ?? ['app', {}]
  const build = record(record(record(chosen).architect ?? record(chosen).targets).build)
  const options = record(build.options)
  const output = typeof options.outputPath === 'string' ? { base: options.outputPath } : record(options.outputPath)
  const folder = plainPath(asText(output.base) ?? undefined) ?? `dist/${name}`
  // The application builder parts what browsers get from what a server needs; the older one does not.
  const isApplication = (asText(build.builder) ?? ':application').endsWith(':application')
  const browser = typeof output.browser === 'string' ? output.browser : 'browser'
  const directory = isApplication && browser ? `${folder}/${browser}` : folder
  const isServer = isApplication && options.ssr !== undefined && options.ssr !== false && options.outputMode !== 'static'
  if (isServer) {
    why.push('Server-side rendering: its server is started')
    return { ...base, why, work: { kind: 'server', start_command: ['node', `${folder}/server/server.mjs`] } }
  }
  return { ...base, why, work: { kind: 'static', output_directory: directory, spa_fallback: options.outputMode !== 'static' } }
}

const createReactApp: Detector = async (app) => {
  const tool = ['react-scripts', '@craco/craco', 'react-app-rewired'].find((dependency) => has(app, dependency))
  if (!tool) return null
  const folder = plainPath(app.build_script.match(/BUILD_PATH=['"]?([^\s'"]+)/)?.[1]) ?? 'build'
  return {
    framework: 'create-react-app',
    why: [found(app, 'Create React App', tool)],
    default_build: 'react-scripts build',
    // Under CI, which builds here are, it would take every warning for an error.
    build_prefix: 'CI=false',
    cache_directories: ['node_modules/.cache'],
    work: { kind: 'static', output_directory: folder, spa_fallback: true },
  }
}

const docusaurus: Detector = async (app) => {
  if (!has(app, '@docusaurus/core')) return null
  return {
    framework: 'docusaurus',
    why: [found(app, 'Docusaurus', '@docusaurus/core')],
    default_build: 'docusaurus build',
    cache_directories: ['node_modules/.cache', '.docusaurus'],
    work: { kind: 'static', output_directory: plainPath(option(app.build_script, ['--out-dir'])) ?? 'build', spa_fallback: false },
  }
}

const vitepress: Detector = async (app) => {
  if (!has(app, 'vitepress')) return null
  const build = Object.values({ build: app.build_script, ...app.manifest.scripts }).find((script) => /\bvitepress build\b/.test(script)) ?? ''
  const given = plainPath(build.match(/\bvitepress build\s+([^\s&|;-][^\s&|;]*)/)?.[1])
  const guess = (await app.source.isFolder(within(app.directory, 'docs/.vitepress'))) ? 'docs' : '.'
  const root = given ?? (build ? '.' : guess)
  const config = await configText(app, within(root, '.vitepress/config'))
  const out = plainPath(option(build, ['--outDir'])) ?? plainPath(setting(config, 'outDir'))
  // Docs starters name their script docs:build.
  const script =
    app.manifest.scripts.build === undefined
      ? Object.keys(app.manifest.scripts).find((name) => /\bvitepress build\b/.test(app.manifest.scripts[name] ?? ''))
      : undefined
  return {
    framework: 'vitepress',
    why: [found(app, 'VitePress', 'vitepress')],
    default_build: script ? `${app.runner} run ${script}` : root === '.' ? 'vitepress build' : `vitepress build ${root}`,
    work: { kind: 'static', output_directory: out ? within(root, out) : within(root, '.vitepress/dist'), spa_fallback: false },
  }
}

const eleventy: Detector = async (app) => {
  if (!has(app, '@11ty/eleventy')) return null
  const config = `${await configText(app, 'eleventy.config')}\n${await configText(app, '.eleventy')}`
  const out =
    plainPath(option(app.build_script, ['--output'])) ??
    plainPath(setting(config, 'output') ?? config.match(/setOutputDirectory\(\s*['"]([^'"]+)['"]/)?.[1])
  return {
    framework: 'eleventy',
    why: [found(app, 'Eleventy', '@11ty/eleventy')],
    default_build: 'eleventy',
    work: { kind: 'static', output_directory: out ?? '_site', spa_fallback: false },
  }
}

const gatsby: Detector = async (app) => {
  if (!has(app, 'gatsby')) return null
  return {
    framework: 'gatsby',
    why: [found(app, 'Gatsby', 'gatsby')],
    default_build: 'gatsby build',
    cache_directories: ['.cache'],
    work: { kind: 'static', output_directory: 'public', spa_fallback: false },
  }
}

const vueCli: Detector = async (app) => {
  if (!has(app, '@vue/cli-service')) return null
  const out = plainPath(setting(await configText(app, 'vue.config'), 'outputDir')) ?? 'dist'
  return {
    framework: 'vue-cli',
    why: [found(app, 'Vue CLI', '@vue/cli-service')],
    default_build: 'vue-cli-service build',
    work: { kind: 'static', output_directory: out, spa_fallback: true },
  }
}

const flavours: [dependency: string, label: string][] = [
  ['react', 'React'],
  ['vue', 'Vue'],
  ['svelte', 'Svelte'],
  ['solid-js', 'Solid'],
  ['preact', 'Preact'],
  ['lit', 'Lit'],
  ['@builder.io/qwik', 'Qwik'],
]

/** What Nitro builds, whichever framework is on top of it. */
const nitroEntry = '.output/server/index.mjs'
const qwikEntries = ['express', 'fastify', 'node-server'].flatMap((name) => [`server/entry.${name}.js`, `server/entry.${name}.mjs`])

/** Without Nitro TanStack Start leaves a handler for requests, and no program that listens. */
const tanstackEntry = 'dist/server/server.js'

/** Frameworks on Vite whose build may be a server or a static site, by adapters and presets: its output tells. */
const builtServers: [dependency: RegExp, framework: string, label: string, output: string][] = [
  [/^@tanstack\/(react-|solid-)?start$/, 'tanstack-start', 'TanStack Start', 'dist/client'],
  [/^@solidjs\/start$/, 'solidstart', 'SolidStart', '.output/public'],
  [/^(@builder\.io\/qwik-city|@qwik\.dev\/router)$/, 'qwik', 'Qwik', 'dist'],
  [/^(nitro|nitropack)$/, 'nitro', 'Nitro', '.output/public'],
]

export const builtServer: Detector = async (app) => {
  for (const [pattern, framework, label, output] of builtServers) {
    const dependency = Object.keys(app.manifest.all_dependencies).find((name) => pattern.test(name))
    if (dependency === undefined) continue
    const default_build =
      framework === 'nitro' ? 'nitro build' : has(app, 'vinxi') ? 'vinxi build' : framework === 'qwik' ? 'qwik build' : 'vite build'
    // `vinxi start` starts what the build left, as the platform does.
    const start = app.manifest.scripts.start?.trim() === 'vinxi start' ? null : startOf(app)
    if (start) {
      const why = [found(app, label, dependency), `It is started by the script start in ${within(app.directory, 'package.json')}`]
      return { framework, why, default_build, work: { kind: 'server', start_command: start } }
    }
    return {
      framework,
      why: [found(app, label, dependency), 'A server is started if the build leaves one, else its files are served as a static site'],
      default_build,
      work: {
        kind: 'static',
        output_directory: output,
        spa_fallback: false,
        server_entries: [nitroEntry, ...qwikEntries, ...(framework === 'tanstack-start' ? [tanstackEntry] : [])],
      },
    }
  }
  return null
}

export const vite: Detector = async (app) => {
  if (!has(app, 'vite')) return null
  const config = await configText(app, 'vite.config')
  const flavour = flavours.find(([dependency]) => has(app, dependency))?.[1]
  const root = plainPath(setting(config, 'root')) ?? '.'
  const out = plainPath(option(app.build_script, ['--outDir'])) ?? outputBeside(root, setting(config, 'outDir')) ?? 'dist'
  const pages = new Set(config.match(/[\w./-]+\.html(?=['"`])/g))
  const isMultiPage = /appType\s*:\s*['"]mpa['"]/.test(config) || pages.size > 1
  const why = [`${found(app, 'Vite', 'vite')}${flavour ? `, with ${flavour}` : ''}`]
  why.push(isMultiPage ? 'Several pages: an unknown path is a 404' : 'One page: unknown paths get index.html, so that its router can answer')
  return {
    framework: 'vite',
    why,
    default_build: 'vite build',
    work: { kind: 'static', output_directory: within(root, out), spa_fallback: !isMultiPage, server_entries: [nitroEntry] },
  }
}

/** `outDir` counts from `root`, and often steps out of it: `root: 'src', outDir: '../dist'`. */
function outputBeside(root: string, out: string | undefined): string | undefined {
  if (out === undefined || root === '.') return plainPath(out)
  return out.startsWith('../') ? `../${plainPath(out.slice(3)) ?? 'dist'}` : plainPath(out)
}

/** Other bundlers: nothing to start, and the usual folder. */
export const bundler: Detector = async (app) => {
  const tool = ['parcel', 'parcel-bundler', '@rspack/core', '@rsbuild/core', 'webpack', 'rollup', 'esbuild'].find((name) => has(app, name))
  if (!tool || app.build_script === '') return null
  const out = plainPath(option(app.build_script, ['--dist-dir', '--out-dir', '-d', '--outdir', '--output-path', '-o'])) ?? 'dist'
  return {
    framework: tool.startsWith('parcel') ? 'parcel' : tool.replace(/^@|\/core$/g, ''),
    why: [`${found(app, 'A bundler', tool)}; its result is expected in ${out}`],
    default_build: null,
    work: { kind: 'static', output_directory: out, spa_fallback: true },
  }
}

/** A folder with an index.html and nothing to build. */
export async function plainHtml(app: Pick<App, 'source' | 'directory'>): Promise<Recipe | null> {
  for (const folder of ['.', 'public', 'dist', 'build', 'site', 'www', 'html', 'htdocs', '_site']) {
    if (!(await app.source.has(within(within(app.directory, folder), 'index.html')))) continue
    const why = [`A plain website found (${within(within(app.directory, folder), 'index.html')}): its files are served as they are`]
    return { framework: 'html', why, default_build: null, work: { kind: 'static', output_directory: folder, spa_fallback: false } }
  }
  return null
}

function parseLoosely(text: string): unknown {
  try {
    // angular.json may hold comments and trailing commas.
    return JSON.parse(text.replace(/("(?:\\.|[^"\\])*")|\/\/.*$|\/\*[\s\S]*?\*\//gm, '$1').replace(/("(?:\\.|[^"\\])*")|,(?=\s*[}\]])/g, '$1'))
  } catch {
    return {}
  }
}

export const staticSites: Detector[] = [angular, createReactApp, docusaurus, vitepress, eleventy, gatsby, vueCli]
