import type { ProjectConfig } from './project-config.ts'

/**
 * How to build and start a source folder, as pure data. The builder creates the plan, a runtime executes it, and the build log explains
 * it. The type is in the contract because builder, runtime and deployments must not import each other.
 */
export interface BuildPlan {
  /** `nextjs`, `nuxt`, `sveltekit`, `astro`, `remix`, `react-router`, `nestjs`, `express`, `fastify`, `koa`, `hono`, `node`, `vite`, `tanstack-start`, `solidstart`, `qwik`, `nitro`, `angular`, `create-react-app`, `docusaurus`, `vitepress`, `eleventy`, `html`, `dockerfile`, `django`, `fastapi`, `flask`, `rails`, `laravel`, `spring-boot`, `go`, `rust` ... */
  framework: string
  /** Sentences for the build log: the detected parts, their origin, and the consequence. */
  explanation: string[]
  /** The same as data, as far as a sentence states a fact. */
  facts: PlanFact[]
  work: ServerPlan | StaticPlan | DockerfilePlan | ToolchainPlan
}

export const planFactNames = [
  'framework',
  'node_version',
  'package_manager',
  'tool',
  'workspace',
  'install_command',
  'build_command',
  'start_command',
  'output_directory',
  'dockerfile',
  'base_image',
  'image',
  'directory',
  'port',
  'health_check',
  'schedule',
  'volume',
  'release_command',
  'setting',
] as const

/** A fact of a plan, and its origin. */
export interface PlanFact {
  name: (typeof planFactNames)[number]
  /** null: the plan has none, such as no build command. */
  value: string | null
  /** Such as `package.json scripts.start`, `.nvmrc`, `compose.yaml line 12`, `project setting` or `default`. */
  origin: string
  /** The sentence in the build log; null when another sentence says it. */
  sentence: string | null
}

interface NodeBuildPlan {
  /** Exact or major version of Node, such as `24` or `22.11.0`. */
  node_version: string
  /** null: nothing to install or run. `version` is an exact or major version that npm resolves (`pnpm@10`; yarn 2 and later is `@yarnpkg/cli-dist`), or null for the npm of the Node version. Also needed at run time if `start_command` uses it. */
  package_manager: { name: 'npm' | 'pnpm' | 'yarn'; version: string | null } | null
  /** The folder in which install runs, relative to the source (`.`): the workspace root or `root_directory`. */
  install_directory: string
  /** The folder in which build and start run, relative to the source. */
  app_directory: string
  /** Shell commands, run with the package manager and `node_modules/.bin` on the PATH; null: the step is skipped. */
  install_command: string | null
  build_command: string | null
  /** The files, relative to the source, that determine the installed dependencies (lock file, manifests, .npmrc ...). `['.']` means the whole source, because an install script may read any file. */
  install_inputs: string[]
  /** The key of the dependency cache: sha-256 (hex) of the names and contents of `install_inputs`, the Node version, the package manager and the install command. */
  install_key: string
  /** Folders, relative to `app_directory`, that a framework keeps between builds (`.next/cache`). */
  cache_directories: string[]
}

export interface ServerPlan extends NodeBuildPlan {
  kind: 'server'
  /** The start command as arguments, without a shell (`['node', 'server.js']`). Runs in `app_directory`. */
  start_command: string[]
  /** Variables that the framework needs at run time, such as `ORIGIN`. The project's own variables take precedence. */
  variables: Record<string, string>
}

export interface StaticPlan extends NodeBuildPlan {
  kind: 'static'
  /** The folder that is served after the build, relative to the source. */
  output_directory: string
  /** true: unknown paths get index.html with 200 (single-page app); false: 404.html with 404. */
  spa_fallback: boolean
  /** Server entry points, relative to `app_directory`. If the build creates one of them, the first is started with node instead. */
  server_entries: string[]
}

export interface DockerfilePlan {
  kind: 'dockerfile'
  /** Relative to the source. */
  context_directory: string
  /** Relative to the source; `text` has its text when it is not a file of the source. */
  dockerfile: string
  /** The Dockerfile that the builder wrote for the app's language; null: the source's own. */
  text: string | null
  /** Patterns of files to leave out, besides those of a .dockerignore. */
  ignored: string[]
  /** The port in EXPOSE, if any. The app gets PORT in any case. */
  port: number | null
  /** The stage to build; null: the last one. */
  target: string | null
  /** Values of ARG. They stay in the image's history, so they must not be secret. */
  arguments: Record<string, string>
  /** Files and folders of the source that are outside of the context, and their paths in the image. They are added to the finished image. */
  added_files?: { source: string; path: string }[]
}

/** The programs that build and run apps in other languages than JavaScript. */
export const toolNames = [
  'python',
  'uv',
  'go',
  'rust',
  'ruby',
  'bundler',
  'php',
  'composer',
  'java',
  'maven',
  'gradle',
  'dotnet',
  'elixir',
  'deno',
  'bun',
] as const
export type ToolName = (typeof toolNames)[number]

export interface ToolRequirement {
  tool: ToolName
  /** A semver range; `*`: any version. */
  range: string
  /** The file of the source that requires the range; null: the source has no requirement. */
  from: string | null
  /** The build works without the tool, for example because it installs its own. */
  is_optional?: true
}

/** A tool with the version that the machine has. */
export interface UsedTool extends ToolRequirement {
  version: string
}

/** How to build and start an app of another language with the programs of the machine. */
export interface ToolchainPlan {
  kind: 'toolchain'
  /** The folder of the app, relative to the source, in which install and build run. */
  app_directory: string
  tools: ToolRequirement[]
  /** Shell commands; null: the step is skipped. */
  install_command: string | null
  build_command: string | null
  /** A shell command, which runs in `start_directory`, relative to `app_directory`. PORT and HOST are set. */
  start_command: string
  start_directory: string
  /** Folders of programs, relative to `app_directory`, that come first on the PATH. */
  program_directories: string[]
  /** Variables of build and app. The project's own variables take precedence. `{app}` stands for the absolute path of the app's folder. */
  variables: Record<string, string>
  /** The files, relative to the source, that determine the installed dependencies. `['.']`: the whole source, so that they are not cached. */
  install_inputs: string[]
  /** sha-256 (hex) of the names and contents of `install_inputs`, the tools and the install command. */
  install_key: string
  /** Folders, relative to `app_directory`, that hold the installed dependencies. */
  dependency_directories: string[]
  /** Files and folders, relative to `app_directory`, that the app does not need after the build. */
  discarded: string[]
}

/** The services of a source and their builds. */
export interface SourcePlan {
  /** null: the source does not describe services; its only build is the app. */
  config: ProjectConfig | null
  /** The main service's first, if it is built. `services` share the result. */
  builds: { services: string[]; plan: BuildPlan }[]
}

/** Project settings that override detection; `auto` keeps the detected value. */
export interface BuildSettings {
  node_version: string
  install_command: string
  build_command: string
  root_directory: string
}
