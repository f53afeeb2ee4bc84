import { joinDockerfile, joinCommands, type Language, parseMinorVersion, readToolVersion, requireAny, requireVersion, startWith } from './language.ts'

const defaultVersion = '1.18'

/** Elixir with Mix: a release of the app; Phoenix with its assets. */
export const elixir: Language = async (app) => {
  const mix = await app.read('mix.exs')
  if (mix === null) return null
  const tool = await readToolVersion(app, 'elixir')
  const requested = tool ?? parseMinorVersion(await app.read('.elixir-version'))
  const version = requested ?? defaultVersion
  const name = /app:\s*:(\w+)/.exec(mix)?.[1] ?? 'app'
  const isPhoenix = /\{:phoenix,/.test(mix)
  const assets = /"assets\.deploy"/.test(mix) ? ['mix assets.deploy'] : []
  const build = app.build_command ?? ['mix compile', ...assets, `mix release --path ${app.target.output}`].join(' && ')
  const hasDependencies = /defp?\s+deps\b[^[]*\[\s*\{/.test(mix)
  const install = app.install_command ?? (hasDependencies ? 'mix deps.get --only prod && mix deps.compile' : null)
  const prepare = 'mix local.hex --force && mix local.rebar --force'
  const start = app.procfile ?? `bin/${name} start`
  return {
    framework: isPhoenix ? 'phoenix' : 'elixir',
    explanation: [
      `${isPhoenix ? 'Phoenix' : 'Elixir'} app found (mix.exs): Elixir ${version}`,
      ...(isPhoenix ? ['Set SECRET_KEY_BASE in the project’s variables', 'Migrations are not run: add a release command'] : []),
      `Build: ${build}`,
    ],
    dockerfile: joinDockerfile(
      `FROM elixir:${version}`,
      // Whatever is after the source runs again with each change. Neither Mix nor Hex keeps files in HOME that the app reads.
      'ENV MIX_ENV=prod LANG=C.UTF-8 MIX_HOME=/opt/mix HEX_HOME=/opt/hex PHX_SERVER=true RELEASE_DISTRIBUTION=none HOME=/tmp',
      startWith(start),
      'WORKDIR /app',
      hasDependencies
        ? [
            `RUN ${prepare}`,
            `COPY ${['mix.exs', 'mix.lock'].filter((file) => app.names.includes(file)).join(' ')} /src/`,
            app.names.includes('config/') ? 'COPY config /src/config' : null,
            `RUN cd /src && ${install}`,
          ].filter((line) => line !== null)
        : null,
      'COPY . /src',
      `RUN cd /src && ${build} && rmdir /app && mv /out /app && chown -R 1000:1000 /app`,
      'USER 1000:1000',
    ),
    ignored: ['_build', 'deps', 'node_modules', '.env'],
    steps: {
      tools: [requested === null ? requireAny('elixir') : requireVersion('elixir', requested, tool === null ? '.elixir-version' : '.tool-versions')],
      install: joinCommands(hasDependencies ? prepare : null, install),
      build,
      start,
      start_directory: app.target.output,
      variables: { MIX_ENV: 'prod', PHX_SERVER: 'true', RELEASE_DISTRIBUTION: 'none' },
      discarded: ['_build', 'deps'],
    },
  }
}
