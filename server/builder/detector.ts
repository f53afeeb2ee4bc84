import type { Manifest } from './manifest.ts'
import type { PackageManagerChoice } from './package-manager.ts'
import { readFirst, joinInside, type SourceFolder } from './source-folder.ts'

/** The app under detection: its folder, its package.json and the commands that run its scripts. */
export interface DetectionContext {
  source: SourceFolder
  /** Relative to the source. */
  directory: string
  manifest: Manifest
  /** The program that runs scripts at build time. */
  script_runner: PackageManagerChoice['script_runner']
  /** The program that runs the start script: npm, which every Node includes, unless package.json forbids npm. */
  start_runner: PackageManagerChoice['name']
  /** The build command: the project's own setting, else the text of the build script; '' when neither exists. */
  build_script: string
}

/** The result of a framework's detector. Paths are relative to the app's folder. */
export interface FrameworkDetection {
  framework: string
  explanation: string[]
  /** Build command for an app without a build script; null when the app has nothing to build. */
  default_build: string | null
  /** Text that the platform puts before the build command. */
  build_prefix?: string
  build_suffix?: string
  cache_directories?: string[]
  work:
    | { kind: 'server'; start_command: string[]; variables?: Record<string, string> }
    | { kind: 'static'; output_directory: string; spa_fallback: boolean; server_entries?: string[] }
}

export type Detector = (app: DetectionContext) => Promise<FrameworkDetection | null>

/** For example `Next.js found (next ^15.2.0 in package.json)`. */
export function explainFound(app: DetectionContext, label: string, dependency: string): string {
  return `${label} found (${dependency} ${app.manifest.all_dependencies[dependency] ?? ''} in ${joinInside(app.directory, 'package.json')})`
}

export const hasDependency = (app: DetectionContext, dependency: string): boolean => app.manifest.all_dependencies[dependency] !== undefined

/** The text of a configuration file without its comments; '' when the file does not exist. */
export async function readConfig(app: DetectionContext, base: string): Promise<string> {
  const file = await readFirst(
    app.source,
    app.directory,
    ['ts', 'mts', 'js', 'mjs', 'cjs', 'cts'].map((extension) => `${base}.${extension}`),
  )
  return (file?.text ?? '').replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|[^:'"`])\/\/.*$/gm, '$1')
}

/** A text value in a configuration file, such as `outDir: 'build'`; undefined when the value is not a literal. */
export function findConfigSetting(text: string, key: string): string | undefined {
  return text.match(new RegExp(`\\b${key}['"]?\\s*:\\s*['"\`]([^'"\`$]+)['"\`]`))?.[1]
}

/** The value of an option of a command, such as `--outDir build`. */
export function findCommandOption(command: string, names: string[]): string | undefined {
  for (const name of names) {
    const value = command.match(new RegExp(`(?:^|\\s)${name}(?:=|\\s+)['"]?([^\\s'";&|]+)`))?.[1]
    if (value) return value
  }
  return undefined
}

/** A path from a configuration file, without a leading `./` and a trailing `/`; undefined when the path leaves the app's folder. */
export function normalizePath(path: string | undefined): string | undefined {
  const plain = path?.replace(/^\.\//, '').replace(/\/+$/, '')
  return plain && !plain.startsWith('/') && !plain.split('/').includes('..') ? plain : undefined
}

/** A command that runs a program of an installed package. */
export function createExecCommand(app: DetectionContext, ...command: string[]): string[] {
  return app.start_runner === 'npm'
    ? ['npm', 'exec', '--', ...command]
    : app.start_runner === 'pnpm'
      ? ['pnpm', 'exec', ...command]
      : ['yarn', 'run', ...command]
}

/** Scripts for development: they watch files, build on request or print warnings. */
const developmentScript =
  /\b(next dev|nuxi? (dev|preview)|astro (dev|preview)|vite($|\s+(dev|serve|preview)|\s*-)|nodemon|ts-node-dev|tsx watch|ng serve|react-scripts start|docusaurus (start|serve)|vitepress (dev|serve|preview)|remix (dev|vite:dev)|react-router dev|vue-cli-service serve|webpack(-dev-server| serve)|parcel($|\s+(?!build))|gatsby (develop|serve)|eleventy\b.*--serve|nest start|fastify start\b.*(-w|--watch)|node --watch|bun (run )?(--watch|--hot|dev\b))/

/** A script that starts the app in production, as arguments: `node x` directly, any other script by its name. */
export function getStartCommand(app: DetectionContext, name = 'start'): string[] | null {
  const script = app.manifest.scripts[name]?.trim()
  if (!script || developmentScript.test(script)) return null
  if (app.manifest.scripts[`pre${name}`] === undefined && /^node(\s+[\w@%+=:,./-]+)+$/.test(script)) return script.split(/\s+/)
  return [app.start_runner, 'run', name]
}

/** The start command if the script runs the app's own server with node. An own server takes precedence over the framework's. */
export function getOwnServerCommand(app: DetectionContext): string[] | null {
  const script = app.manifest.scripts.start ?? ''
  return /(^|\s)node\s/.test(script) ? getStartCommand(app) : null
}
