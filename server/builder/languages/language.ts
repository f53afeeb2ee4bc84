import type { BuildSettings, ToolName, ToolRequirement } from '../../contract/build-plan.ts'
import { findMainProcess } from '../procfile.ts'
import { joinInside, type SourceFolder } from '../source-folder.ts'

/** The folder of an app under detection. Paths are relative to it. */
export interface LanguageApp {
  /** Names in the folder; names of folders end with a slash. */
  names: readonly string[]
  read(path: string): Promise<string | null>
  list(path: string): Promise<string[]>
  /** The command of the Procfile's web process, else of its first. */
  procfile: string | null
  /** Commands of the project settings; null: detected. */
  install_command: string | null
  build_command: string | null
  target: BuildTarget
}

/** Where an app is built: in an image by a Dockerfile, or in its own folder with the toolchains of the machine. */
export interface BuildTarget {
  kind: 'image' | 'machine'
  /** The address on which the app listens. */
  host: '0.0.0.0' | '127.0.0.1'
  /** The folder for the results of a compiled language. */
  output: string
}

export const buildTargets = {
  image: { kind: 'image', host: '0.0.0.0', output: '/out' },
  machine: { kind: 'machine', host: '127.0.0.1', output: '.homeport/output' },
} as const satisfies Record<BuildTarget['kind'], BuildTarget>

/** How to build and run an app of a language: a Dockerfile that its developers could have written, and the same commands as steps. */
export interface LanguageBuild {
  framework: string
  explanation: string[]
  dockerfile: string
  /** Patterns of files that are not part of the build, in addition to those of a .dockerignore. */
  ignored: string[]
  /** For the target `machine`. */
  steps: LanguageSteps
}

/** The build as steps; paths are relative to the app's folder. `ToolchainPlan` describes the fields. */
export interface LanguageSteps {
  tools: ToolRequirement[]
  install: string | null
  build: string | null
  start: string
  start_directory?: string
  program_directories?: string[]
  variables?: Record<string, string>
  /** Files that determine the dependencies; without them, they are installed by each build. */
  inputs?: string[]
  dependency_directories?: string[]
  discarded?: string[]
}

/** Recognizes the apps of one language; null for any other app. */
export type Language = (app: LanguageApp) => Promise<LanguageBuild | null>

export async function openLanguageApp(source: SourceFolder, directory: string, settings: BuildSettings, target: BuildTarget): Promise<LanguageApp> {
  const read = (path: string) => source.read(joinInside(directory, path))
  return {
    names: await source.list(directory),
    read,
    list: (path) => source.list(joinInside(directory, path)),
    procfile: findMainProcess(await read('Procfile')),
    install_command: settings.install_command === 'auto' ? null : settings.install_command,
    build_command: settings.build_command === 'auto' ? null : settings.build_command,
    target,
  }
}

/** The text of the first of these files that exists; '' when there is none. */
export async function readAny(app: LanguageApp, paths: readonly string[]): Promise<string> {
  for (const path of paths) {
    const text = await app.read(path)
    if (text !== null) return text
  }
  return ''
}

/** The text of these files, one after the other. */
export const readAll = async (app: LanguageApp, paths: readonly string[]): Promise<string> =>
  (await Promise.all(paths.map((path) => app.read(path)))).map((text) => text ?? '').join('\n')

/** The first of these files whose text matches, with the match. */
export async function findInFiles(
  app: LanguageApp,
  paths: readonly string[],
  pattern: RegExp,
): Promise<{ path: string; match: RegExpExecArray } | null> {
  for (const path of paths) {
    const match = pattern.exec((await app.read(path)) ?? '')
    if (match) return { path, match }
  }
  return null
}

/** The user that the app runs as, and a home folder that it can write to. */
export const unprivileged = ['USER 1000:1000', 'ENV HOME=/tmp'] as const

/**
 * The end of a Dockerfile whose app runs in its own source. Everything after the source runs again with each change, so the settings come before it,
 * unless a command still needs root.
 */
export function copySource(copy: string, commands: readonly (string | null)[]): string[] {
  const runs = commands.flatMap((command) => (command === null ? [] : [`RUN ${command}`]))
  return runs.length === 0 ? [...unprivileged, copy] : [copy, ...runs, ...unprivileged]
}

/** Copies Node and npm into a stage, for assets that npm builds. */
export const withNode = [
  'COPY --from=node:24-bookworm-slim /usr/local/bin/node /usr/local/bin/node',
  'COPY --from=node:24-bookworm-slim /usr/local/lib/node_modules /usr/local/lib/node_modules',
  'RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm && ln -s ../lib/node_modules/npm/bin/npx-cli.js /usr/local/bin/npx',
] as const

/** Lines of a Dockerfile; empty entries are left out, `''` groups. */
export const joinDockerfile = (...lines: (string | null | readonly string[])[]): string =>
  `${lines
    .flat()
    .filter((line) => line !== null)
    .join('\n')}\n`

/** A command as the container's main process, through a shell that fills in PORT. A command that is a shell line stays one. */
export const startWith = (command: string): string => `CMD ${replaceShell(command)}`

export const replaceShell = (command: string): string => (/[;&|]/.test(command) ? command : `exec ${command}`)

/** The major and minor version in a text such as `python-3.11.4`, `>=1.22`, `v20`; null when there is none. */
export function parseMinorVersion(text: string | null | undefined): string | null {
  const [, major, minor] = /(\d+)(?:\.(\d+))?/.exec(text ?? '') ?? []
  return major === undefined ? null : minor === undefined ? major : `${major}.${minor}`
}

/** A requirement of the version line `version`, such as `3.11` or `21`. */
export const requireVersion = (tool: ToolName, version: string, from: string): ToolRequirement => ({ tool, range: `${version}.x`, from })

/** A requirement of at least this version. */
export const requireAtLeast = (tool: ToolName, version: string, from: string): ToolRequirement => ({ tool, range: `>=${version}`, from })

export const requireAny = (tool: ToolName): ToolRequirement => ({ tool, range: '*', from: null })

/** Commands, one after the other; null without any. */
export const joinCommands = (...commands: (string | null)[]): string | null => {
  const some = commands.filter((command) => command !== null)
  return some.length === 0 ? null : some.join(' && ')
}

/** The version of a tool in `.tool-versions`. */
export const readToolVersion = async (app: LanguageApp, tool: string): Promise<string | null> =>
  parseMinorVersion((await app.read('.tool-versions'))?.match(new RegExp(`^${tool}\\s+(\\S+)`, 'm'))?.[1])
