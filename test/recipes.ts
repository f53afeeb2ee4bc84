export interface Recipe {
  /** The README that contains it. */
  document: string
  title: string
  /** By file: its content, or a change of its content. */
  changes: Record<string, string | ((text: string) => string)>
  /** The tests that the change must pass. */
  tests: string[]
}

/** Inserts a text after the first occurrence of another one. */
const after = (anchor: string, added: string) => (text: string) => {
  if (!text.includes(anchor)) throw new Error(`The file has no ${anchor}`)
  return text.replace(anchor, () => anchor + added)
}

/** One example of each recipe. */
export const recipes: Recipe[] = [
  {
    document: 'server/contract/README.md',
    title: 'Add an operation',
    changes: {
      'server/contract/previews.ts': after(
        'export const watchOperations = {',
        `
  getExample: operation({
    method: 'GET',
    path: '/instance/projects/{slug}/example',
    resource: 'project',
    group: 'Instance',
    summary: 'Get the name of a project',
    access: 'caller',
    params: projectParams,
    query: empty,
    success: { status: 200, json: z.object({ name: z.string() }) },
    errors: ['project_not_found'],
  }),`,
      ),
      'server/features/previews.ts': (text) =>
        after(
          'Pick<OperationHandlers, ',
          `'getExample' | `,
        )(after('\n  return {', '\n    getExample: async ({ project }) => ({ name: project.name }),\n')(text)),
      'test/api/example.test.ts': `
import { expect, test } from 'vitest'
import { createApiContext } from './api-context.ts'

test('200 with the name of the project', async () => {
  const context = await createApiContext()
  await context.platform.createProject({ slug: 'example', name: 'Example' })
  const { status, body } = await context.request('member', 'GET', '/instance/projects/example/example')
  expect([status, body]).toEqual([200, { name: 'Example' }])
  await context.close()
})
`,
    },
    tests: ['test/api/example.test.ts', 'test/http/openapi.test.ts'],
  },
  {
    document: 'server/runtime/README.md',
    title: 'Add a runtime',
    changes: {
      'server/runtime/example.ts': `
import { createProcessRuntime } from './process/process-runtime.ts'
import type { Runtime, RuntimeOptions } from './runtime.ts'

export const createExampleRuntime = (options: RuntimeOptions): Runtime => ({ ...createProcessRuntime(options), name: 'example' })
`,
      'server/contract/runtimes.ts': (text) =>
        text.replace(
          '} as const satisfies Record<string, RuntimeTraits>',
          `  example: {
    label: 'Example',
    placement: 'as an example',
    summary: 'Apps run as examples.',
    how_to_start: 'Restart Homeport.',
    isolates: false,
    is_cluster: false,
    limits_cpu: false,
    uses_host_network: true,
    keeps_apps_running: false,
    builds_dockerfiles: false,
    keeps_written_files: true,
    runs_images: false,
    pulls_images: false,
    database_server: 'embedded',
  },
$&`,
        ),
      'server/runtime/index.ts': (text) =>
        after(
          `docker/engine.ts'\n`,
          `import { createExampleRuntime } from './example.ts'\n`,
        )(after('createDockerRuntime(options, engine), ', 'example: createExampleRuntime(options), ')(text)),
    },
    tests: ['test/runtime/drivers.test.ts', 'test/runtime/choose-runtime.test.ts', 'test/store/sqlite.test.ts'],
  },
  {
    document: 'server/runtime/README.md',
    title: 'Add a tool of a language',
    changes: {
      'server/contract/build-plan.ts': after('export const toolNames = [', `\n  'example',`),
      'server/runtime/process/tool-definitions.ts': after(
        'toolDefinitions: Record<ToolName, ToolDefinition> = {',
        `
  example: {
    label: 'Example',
    programs: ['example'],
    folders: [],
    version_arguments: ['--version'],
    how_to_install: 'Example',
  },`,
      ),
    },
    tests: ['test/runtime/toolchains.test.ts'],
  },
  {
    document: 'renderer/README.md',
    title: 'Add a page',
    changes: {
      'renderer/features/example/page.tsx': `
import { useProject } from '../../api/projects.ts'
import { useTitle } from '../../lib/use-title.ts'

export default function ExamplePage({ slug }: { slug: string }) {
  const { data: project } = useProject(slug)
  useTitle(\`Example · \${project?.name ?? slug}\`)
  return <h2>A page by recipe</h2>
}
`,
      'renderer/routes.ts': after(
        'projectPages: ProjectPage[] = [',
        `\n  { path: '/example', tab: 'Overview', label: 'Example', page: lazyPage(() => import('./features/example/page.tsx')) },`,
      ),
    },
    tests: ['test/renderer/copy.test.ts', 'test/renderer/styles.test.ts'],
  },
  {
    document: 'server/cli/README.md',
    title: 'Add a command',
    changes: {
      'server/cli/example.ts': `
import { type CliCommand, exitCodes } from './command.ts'

export const example: CliCommand = {
  summary: 'Prints an example.',
  usage: ['example'],
  options: {},
  async run({ terminal }) {
    terminal.out('a command by recipe')
    return exitCodes.success
  },
}
`,
      'server/cli/command-line.ts': (text) =>
        after(
          `import { env } from './env.ts'\n`,
          `import { example } from './example.ts'\n`,
        )(after('export const clientCommands = {', '\n  example,')(text)),
    },
    tests: ['test/cli/help.test.ts'],
  },
  {
    document: 'server/builder/README.md',
    title: 'Add a language',
    changes: {
      'server/builder/languages/example.ts': `
import { joinDockerfile, type Language, startWith, unprivileged } from './language.ts'

export const example: Language = async (app) =>
  app.names.includes('example.toml')
    ? {
        framework: 'example',
        explanation: ['Example app found (example.toml)'],
        dockerfile: joinDockerfile('FROM example', 'COPY . .', unprivileged, startWith('example run')),
        ignored: [],
        steps: { tools: [], install: null, build: null, start: 'example run' },
      }
    : null
`,
      'server/builder/languages/index.ts': (text) =>
        after(`import { elixir } from './elixir.ts'\n`, `import { example } from './example.ts'\n`)(after('Language[] = [', 'example, ')(text)),
    },
    tests: ['test/builder/languages.test.ts'],
  },
  {
    document: 'server/builder/README.md',
    title: 'Add a Node framework',
    changes: {
      'server/builder/server-frameworks.ts': (text) =>
        text
          .replace(
            /(?=export const serverFrameworks)/,
            `const example: Detector = async (app) =>
  hasDependency(app, 'example')
    ? { framework: 'example-node', explanation: [explainFound(app, 'Example', 'example')], default_build: null, work: { kind: 'server', start_command: ['example'] } }
    : null

`,
          )
          .replace('serverFrameworks: Detector[] = [', '$&example, '),
      'renderer/lib/frameworks.ts': after('Record<string, string> = {', `\n  'example-node': 'Example',`),
    },
    tests: ['test/builder/detect.test.ts'],
  },
  {
    document: 'server/builder/README.md',
    title: 'Add a development server',
    changes: {
      'server/builder/development/dev-tools.ts': after(
        'devTools: DevTool[] = [',
        `\n  { framework: 'example', label: 'Example', pattern: /\\bexample\\s+dev\\b/, arguments: portOption },`,
      ),
    },
    tests: ['test/builder/dev-server.test.ts'],
  },
  {
    document: 'server/builder/README.md',
    title: 'Read another configuration file',
    changes: {
      'server/builder/config/example.ts': `
import type { ProjectConfig } from '../../contract/project-config.ts'
import type { SourceFolder } from '../source-folder.ts'
import { addService, finishPlatformFile, openPlatformFile } from './platform-file.ts'

/** A file with the command of the app. */
export async function readExampleConfig(file: string, text: string, source: SourceFolder): Promise<ProjectConfig> {
  const context = openPlatformFile(file, source)
  const web = addService('web', { line: 1, column: 1 }, context)
  web.config.command = ['sh', '-c', text.trim()]
  return finishPlatformFile(context, web)
}
`,
      'server/builder/config/read-project-config.ts': (text) =>
        after(
          `import { readAppJson } from './app-json.ts'\n`,
          `import { readExampleConfig } from './example.ts'\n`,
        )(after('{ files: homeportFiles, read: readHomeportYaml },', `\n  { files: ['example.conf'], read: readExampleConfig },`)(text)),
    },
    tests: ['test/builder/config/plan-source.test.ts'],
  },
  {
    document: 'server/api/README.md',
    title: 'Add a public route',
    changes: {
      'server/api/public-routes/example.ts': `
import { textResponse } from '../response.ts'
import type { PublicRoute } from './public-route.ts'

export const exampleRoute: PublicRoute = {
  path: '/example',
  rate_limit: true,
  handle: async () => textResponse(200, 'text/plain; charset=utf-8', 'a route by recipe'),
}
`,
      'server/api/public-routes/index.ts': (text) =>
        after(
          `import { openApiDocument } from '../openapi/document.ts'\n`,
          `import { exampleRoute } from './example.ts'\n`,
        )(after('\n  return [', '\n    exampleRoute,')(text)),
    },
    tests: ['test/http/public-routes.test.ts'],
  },
]
