/**
 * What is to be done with a source folder, as pure data: the builder decides it, a runtime carries it out, the log explains it.
 * It stands with the contract because the rooms that share it (builder, runtime, deploy) may not import each other.
 */
export interface BuildPlan {
  /** `nextjs`, `nuxt`, `sveltekit`, `astro`, `remix`, `react-router`, `nestjs`, `express`, `fastify`, `koa`, `hono`, `node`, `vite`, `tanstack-start`, `solidstart`, `qwik`, `nitro`, `angular`, `create-react-app`, `docusaurus`, `vitepress`, `eleventy`, `html`, `dockerfile` ... */
  framework: string
  /** Sentences for the log: what was found, where, and what follows from it. */
  explanation: string[]
  work: ServerPlan | StaticPlan | DockerfilePlan
}

interface NodeBuildPlan {
  /** Exact or major version of Node, such as `24` or `22.11.0`. */
  node_version: string
  /** null: nothing to install or run. `version` is exact or a major, for npm to resolve (`pnpm@10`; yarn from 2 on is `@yarnpkg/cli-dist`); null: the npm that comes with Node. Needed at run time too when `start_command` names it. */
  package_manager: { name: 'npm' | 'pnpm' | 'yarn'; version: string | null } | null
  /** Folder that install runs in, relative to the source: the workspace root, or `root_directory`. `.` is the source itself. */
  install_directory: string
  /** Folder that build and start run in, relative to the source. */
  app_directory: string
  /** Shell commands, run with the package manager and `node_modules/.bin` on the PATH; null: the step is skipped. */
  install_command: string | null
  build_command: string | null
  /** Files, relative to the source, that installed dependencies depend on (lock file, manifests, .npmrc ...); `['.']`: all of it, when a script at install time may read anything. */
  install_inputs: string[]
  /** sha-256 (hex) over their names and contents, node version, package manager and install command: the key of the dependency cache. */
  install_key: string
  /** Folders, relative to `app_directory`, that a framework keeps between builds (`.next/cache`). */
  cache_directories: string[]
}

export interface ServerPlan extends NodeBuildPlan {
  kind: 'server'
  /** What starts the app, as arguments (no shell): `['node', 'server.js']`; run in `app_directory`. */
  start_command: string[]
  /** Variables that the framework needs at run time, such as `ORIGIN`; the project's own win. */
  variables: Record<string, string>
}

export interface StaticPlan extends NodeBuildPlan {
  kind: 'static'
  /** Folder that is served after the build, relative to the source. */
  output_directory: string
  /** Unknown paths answer with index.html and 200 (a single-page app), else with 404.html and 404. */
  spa_fallback: boolean
  /** Files, relative to `app_directory`, by which a build shows that it made a server: the first that is there is started with node instead. */
  server_entries: string[]
}

export interface DockerfilePlan {
  kind: 'dockerfile'
  /** Relative to the source. */
  context_directory: string
  dockerfile: string
  /** The port of EXPOSE, when there is one. The app is told PORT all the same. */
  port: number | null
}

/** Settings of the project that override what is found. `auto` leaves it to detection. */
export interface BuildSettings {
  node_version: string
  install_command: string
  build_command: string
  root_directory: string
}
