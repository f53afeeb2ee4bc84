import {
  readConfig,
  explainFound,
  hasDependency,
  findCommandOption,
  normalizePath,
  findConfigSetting,
  getStartCommand,
  type DetectionContext,
  type Detector,
  type FrameworkDetection,
} from './detector.ts'
import { toText, toRecord } from './manifest.ts'
import { joinInside } from './source-folder.ts'

const angular: Detector = async (app) => {
  if (!hasDependency(app, '@angular/core')) return null
  const explanation = [explainFound(app, 'Angular', '@angular/core')]
  const base = { framework: 'angular', default_build: 'ng build', cache_directories: ['.angular/cache'] }
  const text = await app.source.read(joinInside(app.directory, 'angular.json'))
  const workspace = toRecord(parseJsonWithComments(text ?? '{}'))
  const projects = toRecord(workspace.projects)
  const apps = Object.entries(projects).filter(([, value]) => toRecord(value).projectType !== 'library')
  const [name, chosen] = apps.find(([key]) => key === workspace.defaultProject) ?? apps[0] ?? ['app', {}]
  const build = toRecord(toRecord(toRecord(chosen).architect ?? toRecord(chosen).targets).build)
  const options = toRecord(build.options)
  const output = typeof options.outputPath === 'string' ? { base: options.outputPath } : toRecord(options.outputPath)
  const folder = normalizePath(toText(output.base) ?? undefined) ?? `dist/${name}`
  // The application builder separates browser files from server files; the older builder does not.
  const isApplication = (toText(build.builder) ?? ':application').endsWith(':application')
  const browser = typeof output.browser === 'string' ? output.browser : 'browser'
  const directory = isApplication && browser ? `${folder}/${browser}` : folder
  const isServer = isApplication && options.ssr !== undefined && options.ssr !== false && options.outputMode !== 'static'
  if (isServer) {
    explanation.push('Server-side rendering: the built server is started')
    return { ...base, explanation, work: { kind: 'server', start_command: ['node', `${folder}/server/server.mjs`] } }
  }
  return { ...base, explanation, work: { kind: 'static', output_directory: directory, spa_fallback: options.outputMode !== 'static' } }
}

const createReactApp: Detector = async (app) => {
  const tool = ['react-scripts', '@craco/craco', 'react-app-rewired'].find((dependency) => hasDependency(app, dependency))
  if (!tool) return null
  const folder = normalizePath(app.build_script.match(/BUILD_PATH=['"]?([^\s'"]+)/)?.[1]) ?? 'build'
  return {
    framework: 'create-react-app',
    explanation: [explainFound(app, 'Create React App', tool)],
    default_build: 'react-scripts build',
    // Builds run with CI=true, which makes Create React App treat every warning as an error.
    build_prefix: 'CI=false',
    cache_directories: ['node_modules/.cache'],
    work: { kind: 'static', output_directory: folder, spa_fallback: true },
  }
}

const docusaurus: Detector = async (app) => {
  if (!hasDependency(app, '@docusaurus/core')) return null
  return {
    framework: 'docusaurus',
    explanation: [explainFound(app, 'Docusaurus', '@docusaurus/core')],
    default_build: 'docusaurus build',
    cache_directories: ['node_modules/.cache', '.docusaurus'],
    work: { kind: 'static', output_directory: normalizePath(findCommandOption(app.build_script, ['--out-dir'])) ?? 'build', spa_fallback: false },
  }
}

const vitepress: Detector = async (app) => {
  if (!hasDependency(app, 'vitepress')) return null
  const build = Object.values({ build: app.build_script, ...app.manifest.scripts }).find((script) => /\bvitepress build\b/.test(script)) ?? ''
  const argument = normalizePath(build.match(/\bvitepress build\s+([^\s&|;-][^\s&|;]*)/)?.[1])
  const guess = (await app.source.isFolder(joinInside(app.directory, 'docs/.vitepress'))) ? 'docs' : '.'
  const root = argument ?? (build ? '.' : guess)
  const config = await readConfig(app, joinInside(root, '.vitepress/config'))
  const out = normalizePath(findCommandOption(build, ['--outDir'])) ?? normalizePath(findConfigSetting(config, 'outDir'))
  // Docs starters name their script docs:build.
  const script =
    app.manifest.scripts.build === undefined
      ? Object.keys(app.manifest.scripts).find((name) => /\bvitepress build\b/.test(app.manifest.scripts[name] ?? ''))
      : undefined
  return {
    framework: 'vitepress',
    explanation: [explainFound(app, 'VitePress', 'vitepress')],
    default_build: script ? `${app.script_runner} run ${script}` : root === '.' ? 'vitepress build' : `vitepress build ${root}`,
    work: { kind: 'static', output_directory: out ? joinInside(root, out) : joinInside(root, '.vitepress/dist'), spa_fallback: false },
  }
}

const eleventy: Detector = async (app) => {
  if (!hasDependency(app, '@11ty/eleventy')) return null
  const config = `${await readConfig(app, 'eleventy.config')}\n${await readConfig(app, '.eleventy')}`
  const out =
    normalizePath(findCommandOption(app.build_script, ['--output'])) ??
    normalizePath(findConfigSetting(config, 'output') ?? config.match(/setOutputDirectory\(\s*['"]([^'"]+)['"]/)?.[1])
  return {
    framework: 'eleventy',
    explanation: [explainFound(app, 'Eleventy', '@11ty/eleventy')],
    default_build: 'eleventy',
    work: { kind: 'static', output_directory: out ?? '_site', spa_fallback: false },
  }
}

const gatsby: Detector = async (app) => {
  if (!hasDependency(app, 'gatsby')) return null
  return {
    framework: 'gatsby',
    explanation: [explainFound(app, 'Gatsby', 'gatsby')],
    default_build: 'gatsby build',
    cache_directories: ['.cache'],
    work: { kind: 'static', output_directory: 'public', spa_fallback: false },
  }
}

const vueCli: Detector = async (app) => {
  if (!hasDependency(app, '@vue/cli-service')) return null
  const out = normalizePath(findConfigSetting(await readConfig(app, 'vue.config'), 'outputDir')) ?? 'dist'
  return {
    framework: 'vue-cli',
    explanation: [explainFound(app, 'Vue CLI', '@vue/cli-service')],
    default_build: 'vue-cli-service build',
    work: { kind: 'static', output_directory: out, spa_fallback: true },
  }
}

const uiLibraries: [dependency: string, label: string][] = [
  ['react', 'React'],
  ['vue', 'Vue'],
  ['svelte', 'Svelte'],
  ['solid-js', 'Solid'],
  ['preact', 'Preact'],
  ['lit', 'Lit'],
  ['@builder.io/qwik', 'Qwik'],
]

/** The server that Nitro builds, regardless of the framework on top of it. */
const nitroEntry = '.output/server/index.mjs'
const qwikEntries = ['express', 'fastify', 'node-server'].flatMap((name) => [`server/entry.${name}.js`, `server/entry.${name}.mjs`])

/** Without Nitro, TanStack Start builds a request handler but no program that listens. */
const tanstackEntry = 'dist/server/server.js'

/** Vite frameworks that build a server or a static site, depending on adapters and presets. The build output shows which. */
const builtServers: [dependency: RegExp, framework: string, label: string, output: string][] = [
  [/^@tanstack\/(react-|solid-)?start$/, 'tanstack-start', 'TanStack Start', 'dist/client'],
  [/^@solidjs\/start$/, 'solidstart', 'SolidStart', '.output/public'],
  [/^(@builder\.io\/qwik-city|@qwik\.dev\/router)$/, 'qwik', 'Qwik', 'dist'],
  [/^(nitro|nitropack)$/, 'nitro', 'Nitro', '.output/public'],
]

export const serverOrStatic: Detector = async (app) => {
  for (const [pattern, framework, label, output] of builtServers) {
    const dependency = Object.keys(app.manifest.all_dependencies).find((name) => pattern.test(name))
    if (dependency === undefined) continue
    const default_build =
      framework === 'nitro' ? 'nitro build' : hasDependency(app, 'vinxi') ? 'vinxi build' : framework === 'qwik' ? 'qwik build' : 'vite build'
    // `vinxi start` starts the built server, as the platform does.
    const start = app.manifest.scripts.start?.trim() === 'vinxi start' ? null : getStartCommand(app)
    if (start) {
      const explanation = [explainFound(app, label, dependency), `Started by the script start in ${joinInside(app.directory, 'package.json')}`]
      return { framework, explanation, default_build, work: { kind: 'server', start_command: start } }
    }
    return {
      framework,
      explanation: [
        explainFound(app, label, dependency),
        'If the build outputs a server, it is started; otherwise the files are served as a static site',
      ],
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
  if (!hasDependency(app, 'vite')) return null
  const config = await readConfig(app, 'vite.config')
  const uiLibrary = uiLibraries.find(([dependency]) => hasDependency(app, dependency))?.[1]
  const root = normalizePath(findConfigSetting(config, 'root')) ?? '.'
  const out =
    normalizePath(findCommandOption(app.build_script, ['--outDir'])) ?? resolveOutputDirectory(root, findConfigSetting(config, 'outDir')) ?? 'dist'
  const pages = new Set(config.match(/[\w./-]+\.html(?=['"`])/g))
  const isMultiPage = /appType\s*:\s*['"]mpa['"]/.test(config) || pages.size > 1
  const explanation = [`${explainFound(app, 'Vite', 'vite')}${uiLibrary ? `, with ${uiLibrary}` : ''}`]
  explanation.push(isMultiPage ? 'Multiple pages: unknown paths return 404' : 'Single-page app: unknown paths return index.html')
  return {
    framework: 'vite',
    explanation,
    default_build: 'vite build',
    work: { kind: 'static', output_directory: joinInside(root, out), spa_fallback: !isMultiPage, server_entries: [nitroEntry] },
  }
}

/** `outDir` is relative to `root` and often outside of it: `root: 'src', outDir: '../dist'`. */
function resolveOutputDirectory(root: string, out: string | undefined): string | undefined {
  if (out === undefined || root === '.') return normalizePath(out)
  return out.startsWith('../') ? `../${normalizePath(out.slice(3)) ?? 'dist'}` : normalizePath(out)
}

/** Other bundlers: a static site in the usual output folder. */
export const bundler: Detector = async (app) => {
  const tool = ['parcel', 'parcel-bundler', '@rspack/core', '@rsbuild/core', 'webpack', 'rollup', 'esbuild'].find((name) => hasDependency(app, name))
  if (!tool || app.build_script === '') return null
  const out = normalizePath(findCommandOption(app.build_script, ['--dist-dir', '--out-dir', '-d', '--outdir', '--output-path', '-o'])) ?? 'dist'
  return {
    framework: tool.startsWith('parcel') ? 'parcel' : tool.replace(/^@|\/core$/g, ''),
    explanation: [`${explainFound(app, 'Bundler', tool)}; output folder: ${out}`],
    default_build: null,
    work: { kind: 'static', output_directory: out, spa_fallback: true },
  }
}

/** A folder with an index.html and no build. */
export async function plainSite(app: Pick<DetectionContext, 'source' | 'directory'>): Promise<FrameworkDetection | null> {
  for (const folder of ['.', 'public', 'dist', 'build', 'site', 'www', 'html', 'htdocs', '_site']) {
    if (!(await app.source.has(joinInside(joinInside(app.directory, folder), 'index.html')))) continue
    const explanation = [`Static website found (${joinInside(joinInside(app.directory, folder), 'index.html')}): served without a build`]
    return { framework: 'html', explanation, default_build: null, work: { kind: 'static', output_directory: folder, spa_fallback: false } }
  }
  return null
}

function parseJsonWithComments(text: string): unknown {
  try {
    // angular.json may contain comments and trailing commas.
    return JSON.parse(text.replace(/("(?:\\.|[^"\\])*")|\/\/.*$|\/\*[\s\S]*?\*\//gm, '$1').replace(/("(?:\\.|[^"\\])*")|,(?=\s*[}\]])/g, '$1'))
  } catch {
    return {}
  }
}

export const staticSites: Detector[] = [angular, createReactApp, docusaurus, vitepress, eleventy, gatsby, vueCli]
