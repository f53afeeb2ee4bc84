import { joinDockerfile, type Language, startWith, unprivileged } from './language.ts'

/** Bun: the start script runs bun, or there is a bun lock file and a program that uses its API. Other apps with such a lock file run on Node. */
export const bun: Language = async (app) => {
  const lock = ['bun.lock', 'bun.lockb'].find((name) => app.names.includes(name))
  const manifest = await app.read('package.json')
  const scripts = parseScripts(manifest)
  const entry = ['index.ts', 'server.ts', 'src/index.ts', 'src/server.ts', 'index.js']
  // An app with bun as a dependency is started by Node's tools.
  if (manifest === null || /"bun"\s*:/.test(manifest)) return null
  const usesBun = /^bun\s(?!.*(--watch|--hot|\bdev\b))/.test(scripts.start ?? '')
  if (!usesBun && !(lock !== undefined && scripts.start === undefined && (await readsBunApi(app.read, entry)))) return null
  const program = entry.find((path) => app.names.includes(path)) ?? 'src/index.ts'
  const start = app.procfile ?? (scripts.start === undefined ? `bun ${program}` : 'bun run start')
  const build = app.build_command ?? (scripts.build === undefined ? null : 'bun run build')
  const inputs = lock === undefined ? ['package.json'] : ['package.json', lock]
  const install = app.install_command ?? `bun install${lock === undefined ? '' : ' --frozen-lockfile'}`
  return {
    framework: 'bun',
    explanation: [`Bun app found (${lock ?? 'the start script in package.json'})`, ...(build === null ? [] : [`Build: ${build}`]), `Start: ${start}`],
    dockerfile: joinDockerfile(
      'FROM oven/bun:1',
      'WORKDIR /app',
      'RUN chown 1000:1000 /app',
      unprivileged,
      startWith(start),
      `COPY --chown=1000:1000 ${inputs.join(' ')} ./`,
      `RUN ${install}`,
      build === null ? 'ENV NODE_ENV=production' : null,
      'COPY --chown=1000:1000 . .',
      build === null ? null : [`RUN ${build}`, 'ENV NODE_ENV=production'],
    ),
    ignored: ['node_modules', '.env'],
    steps: {
      tools: [{ tool: 'bun', range: '1.x', from: null }],
      install,
      build,
      start,
      program_directories: ['node_modules/.bin'],
      variables: { NODE_ENV: 'production' },
      dependency_directories: ['node_modules'],
    },
  }
}

function parseScripts(manifest: string | null): Record<string, string | undefined> {
  try {
    const { scripts } = JSON.parse(manifest ?? '{}') as { scripts?: Record<string, string> }
    return scripts ?? {}
  } catch {
    return {}
  }
}

async function readsBunApi(read: (path: string) => Promise<string | null>, entry: readonly string[]): Promise<boolean> {
  for (const path of entry) if (/\bBun\.(serve|file|env)\b|from ['"]bun['"]/.test((await read(path)) ?? '')) return true
  return false
}
