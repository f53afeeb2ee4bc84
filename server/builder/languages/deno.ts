import { joinDockerfile, joinCommands, type Language, startWith } from './language.ts'

const entryFiles = ['main.ts', 'server.ts', 'mod.ts', 'index.ts', 'app.ts', 'main.js', 'server.js', 'src/main.ts', 'src/server.ts']

/** Deno: the `start` task, or the entry file. */
export const deno: Language = async (app) => {
  const config = (await app.read('deno.json')) ?? (await app.read('deno.jsonc'))
  if (config === null && !app.names.includes('deno.lock')) return null
  const tasks = /"tasks"\s*:\s*\{([^}]*)\}/.exec(config ?? '')?.[1] ?? ''
  const hasTask = (name: string) => new RegExp(`"${name}"\\s*:`).test(tasks)
  let entry = 'main.ts'
  for (const path of entryFiles) {
    if ((await app.read(path)) === null) continue
    entry = path
    break
  }
  const start = app.procfile ?? (hasTask('start') ? 'deno task start' : `deno run --allow-net --allow-env --allow-read --allow-sys ${entry}`)
  const build = app.build_command ?? (hasTask('build') ? 'deno task build' : null)
  const install = app.install_command ?? `deno cache ${entry} || true`
  return {
    framework: 'deno',
    explanation: [
      `Deno app found (${config === null ? 'deno.lock' : 'deno.json'})`,
      ...(build === null ? [] : [`Build: ${build}`]),
      `Start: ${start}`,
    ],
    dockerfile: joinDockerfile(
      'FROM denoland/deno:2',
      'WORKDIR /app',
      'RUN chown 1000:1000 /app && mkdir -p /deno-dir && chown 1000:1000 /deno-dir',
      'USER 1000:1000',
      'ENV HOME=/tmp DENO_NO_UPDATE_CHECK=1 DENO_DIR=/deno-dir',
      startWith(start),
      'COPY --chown=1000:1000 . .',
      `RUN ${joinCommands(install, build)}`,
    ),
    ignored: ['node_modules', '.env'],
    steps: {
      tools: [{ tool: 'deno', range: '2.x', from: null }],
      install,
      build,
      start,
      variables: { DENO_NO_UPDATE_CHECK: '1', DENO_DIR: '{app}/.homeport/deno' },
    },
  }
}
