import {
  joinDockerfile,
  type Language,
  type LanguageApp,
  parseMinorVersion,
  requireAny,
  requireAtLeast,
  startWith,
  unprivileged,
} from './language.ts'

/** Go with modules: the main package in the root, or the one in cmd/. */
export const go: Language = async (app) => {
  const module = await app.read('go.mod')
  if (module === null || !(app.names.some((name) => name.endsWith('.go')) || app.names.includes('cmd/'))) return null
  const requested = parseMinorVersion(/^go\s+(\S+)/m.exec(module)?.[1])
  const version = requested ?? '1'
  const target = await findMainPackage(app, module)
  const build = app.build_command ?? `go build -ldflags="-s -w" -o ${app.target.output}/server ${target}`
  const isVendored = app.names.includes('vendor/')
  const install = isVendored ? null : (app.install_command ?? 'go mod download')
  return {
    framework: 'go',
    explanation: [
      `Go app found (go.mod): Go ${version}, from go.mod`,
      install === null ? 'Dependencies are in vendor/' : `Install: ${install}`,
      `Build: ${build}`,
    ],
    dockerfile: joinDockerfile(
      `FROM golang:${version}-bookworm AS build`,
      'WORKDIR /src',
      // The parts of the standard library that a web app needs are compiled once for all apps.
      'RUN go build net/http',
      install === null ? null : [`COPY ${app.names.includes('go.sum') ? 'go.mod go.sum' : 'go.mod'} ./`, `RUN ${install}`],
      'COPY . .',
      `RUN ${build}`,
      '',
      runtimeStage,
      startWith(app.procfile ?? 'server'),
      'COPY --chown=1000:1000 --from=build /src ./',
      'COPY --from=build /out /usr/local/bin',
    ),
    ignored: ['.env', 'node_modules'],
    steps: {
      tools: [requested === null ? requireAny('go') : requireAtLeast('go', requested, 'go.mod')],
      install,
      build,
      start: app.procfile ?? 'server',
      program_directories: [app.target.output],
    },
  }
}

/** A small system with certificates and time zones, for statically linked programs. */
export const runtimeStage = [
  'FROM debian:bookworm-slim',
  'COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt',
  'COPY --from=build /usr/share/zoneinfo /usr/share/zoneinfo',
  'WORKDIR /app',
  'RUN chown 1000:1000 /app',
  ...unprivileged,
] as const

/** With several commands: the one named like the module, or like a server. */
async function findMainPackage(app: LanguageApp, module: string): Promise<string> {
  if (app.names.includes('main.go')) return '.'
  const commands = (await app.list('cmd')).filter((name) => name.endsWith('/')).map((name) => name.slice(0, -1))
  const moduleName = /^module\s+(\S+)/m.exec(module)?.[1]?.split('/').at(-1)
  const chosen = [moduleName, 'server', 'web', 'api', 'app'].find((name) => name !== undefined && commands.includes(name)) ?? commands[0]
  return chosen === undefined ? '.' : `./cmd/${chosen}`
}
