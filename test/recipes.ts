interface RecipeFile {
  path: string
  /** How the README names the file: by its path or its folder. */
  named: string
  /** The text of a new file, or what is inserted before a text of an existing one. */
  change: string | { before: string; insert: string }[]
}

export interface Recipe {
  /** The words in bold that the recipe begins with. */
  name: string
  readme: string
  files: RecipeFile[]
  /** The tests that show that it works. */
  run: string[]
}

/** One example of each recipe. The number of files is what a change of that kind costs. */
export const recipes: Recipe[] = [
  {
    name: 'An operation',
    readme: 'server/README.md',
    files: [
      {
        path: 'server/contract/instance.ts',
        named: 'server/contract/',
        change: [
          {
            before: '  getSession: operation({',
            insert: `  greet: operation({
    method: 'GET',
    path: '/instance/greeting',
    group: 'Instance',
    summary: 'Get a greeting',
    access: 'caller',
    params: empty,
    query: empty,
    success: { status: 200, json: z.object({ greeting: z.string() }) },
    errors: [],
  }),
`,
          },
        ],
      },
      {
        path: 'server/features/instance.ts',
        named: 'server/features/',
        change: [
          { before: "  'getSession' | 'followInstance'", insert: "  'greet' |" },
          { before: '    async getSession({ caller }) {', insert: "    async greet() {\n      return { greeting: 'Good evening' }\n    },\n" },
        ],
      },
      {
        path: 'test/api/greeting.test.ts',
        named: 'test/api/',
        change: `import { afterAll, beforeAll, expect, test } from 'vitest'
import { createApiContext, type ApiContext } from './api-context.ts'

let context: ApiContext
beforeAll(async () => void (context = await createApiContext()))
afterAll(() => context.close())

test('200', async () => {
  expect(await context.request('member', 'GET', '/instance/greeting')).toMatchObject({ status: 200, body: { greeting: 'Good evening' } })
})
`,
      },
    ],
    run: ['test/api/greeting.test.ts', 'test/http/openapi.test.ts'],
  },
  {
    name: 'A command',
    readme: 'server/README.md',
    files: [
      {
        path: 'server/cli/greet.ts',
        named: 'server/cli/',
        change: `import { type CliCommand, exitCodes } from './command.ts'

export const greet: CliCommand = {
  summary: 'Prints a greeting.',
  usage: ['greet'],
  options: {},
  async run(context) {
    context.terminal.out('Good evening')
    return exitCodes.success
  },
}
`,
      },
      {
        path: 'server/cli/command-line.ts',
        named: 'server/cli/command-line.ts',
        change: [
          { before: 'import { createHelpCommand }', insert: "import { greet } from './greet.ts'\n" },
          { before: '  samples,\n', insert: '  greet,\n' },
        ],
      },
    ],
    run: ['test/cli/help.test.ts'],
  },
  {
    name: 'A runtime',
    readme: 'server/README.md',
    files: [
      {
        path: 'server/runtime/plain/plain-runtime.ts',
        named: 'server/runtime/',
        change: `import { createProcessRuntime } from '../process/process-runtime.ts'
import type { Runtime, RuntimeOptions } from '../runtime.ts'

export const createPlainRuntime = (options: RuntimeOptions): Runtime => ({ ...createProcessRuntime(options), name: 'plain' })
`,
      },
      {
        path: 'server/contract/runtimes.ts',
        named: 'server/contract/runtimes.ts',
        change: [
          {
            before: '} as const satisfies Record<string, RuntimeTraits>',
            insert: `  plain: {
    label: 'Plain',
    placement: 'plainly',
    summary: 'Apps run plainly.',
    how_to_start: 'Restart Homeport.',
    isolates: false,
    uses_host_network: true,
    keeps_apps_running: false,
    pulls_images: false,
    database_server: 'embedded',
  },
`,
          },
        ],
      },
      {
        path: 'server/runtime/index.ts',
        named: 'server/runtime/index.ts',
        change: [
          { before: 'import { createProcessRuntime }', insert: "import { createPlainRuntime } from './plain/plain-runtime.ts'\n" },
          { before: 'process: createProcessRuntime(options)', insert: 'plain: createPlainRuntime(options), ' },
        ],
      },
      {
        path: 'test/runtime/plain.test.ts',
        named: 'test/runtime/',
        change: `import { describe } from 'vitest'
import { createRuntimes } from '../../server/runtime/index.ts'
import { processDriver } from './process-driver.ts'
import { runtimeSuite } from './suite.ts'

describe('plain runtime', () => void runtimeSuite({ ...processDriver, create: (options) => createRuntimes(options).plain }))
`,
      },
    ],
    run: ['test/runtime/plain.test.ts', 'test/runtime/choose-runtime.test.ts', 'test/store/sqlite.test.ts'],
  },
  {
    name: 'A language',
    readme: 'server/builder/README.md',
    files: [
      {
        path: 'server/builder/languages/crystal.ts',
        named: 'languages/',
        change: `import { dockerfile, type Language, startWith, unprivileged } from './language.ts'

export const crystal: Language = async (app) => {
  if (!app.names.includes('shard.yml')) return null
  return {
    framework: 'crystal',
    explanation: ['Crystal app found (shard.yml)'],
    dockerfile: dockerfile('FROM crystallang/crystal:1', 'COPY . .', 'RUN shards build', unprivileged, startWith(app.procfile ?? 'bin/server')),
    ignored: ['lib'],
  }
}
`,
      },
      {
        path: 'server/builder/languages/index.ts',
        named: 'languages/index.ts',
        change: [
          { before: 'import { deno }', insert: "import { crystal } from './crystal.ts'\n" },
          { before: 'deno, ruby', insert: 'crystal, ' },
        ],
      },
    ],
    run: ['test/builder/languages.test.ts', 'test/builder/detect.test.ts'],
  },
  {
    name: 'A page',
    readme: 'renderer/README.md',
    files: [
      {
        path: 'renderer/features/greeting/page.tsx',
        named: 'renderer/features/<group>/page.tsx',
        change: `import { useTitle } from '../../lib/use-title.ts'

export default function GreetingPage() {
  useTitle('Greeting')
  return <h1>Good evening</h1>
}
`,
      },
      {
        path: 'renderer/routes.ts',
        named: 'renderer/routes.ts',
        change: [
          { before: "  help: () => import('./features/help/page.tsx')", insert: "  greeting: () => import('./features/greeting/page.tsx'),\n" },
          { before: "  '/help': lazyWithRetry", insert: "  '/greeting': lazyWithRetry(lazyImports.greeting),\n" },
        ],
      },
    ],
    run: ['test/renderer/copy.test.ts', 'test/renderer/styles.test.ts'],
  },
]
