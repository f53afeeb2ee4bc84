import {
  copySource,
  joinDockerfile,
  type Language,
  type LanguageApp,
  joinCommands,
  parseMinorVersion,
  readAll,
  readToolVersion,
  requireAny,
  requireVersion,
  startWith,
  withNode,
} from './language.ts'

const defaultVersion = '3.4'

/** Ruby with Bundler: Rails, Sinatra and other Rack apps, or a plain program. */
export const ruby: Language = async (app) => {
  const gemfile = await app.read('Gemfile')
  if (gemfile === null && !app.names.includes('config.ru')) return null
  const gems = await readAll(app, ['Gemfile', 'Gemfile.lock'])
  const has = (name: string) => new RegExp(`(^\\s*gem\\s+["']${name}["']|^\\s{4}${name}\\s)`, 'm').test(gems)
  const versions: [from: string, version: string | null][] = [
    ['.ruby-version', parseMinorVersion(await app.read('.ruby-version'))],
    ['.tool-versions', await readToolVersion(app, 'ruby')],
    ['Gemfile', parseMinorVersion(/^ruby\s+["']([^"']+)/m.exec(gemfile ?? '')?.[1])],
    ['Gemfile.lock', parseMinorVersion(/RUBY VERSION\s+ruby (\S+)/.exec(gems)?.[1])],
  ]
  const [from, requested] = versions.find(([, one]) => one !== null) ?? ['', null]
  const version = requested ?? defaultVersion
  const isRails = app.names.includes('config/') && (await app.read('config/application.rb')) !== null
  const start = app.procfile ?? (await chooseStart(app, isRails, has))
  const hasNode = app.names.includes('package.json')
  const assets = isRails && (has('sprockets-rails') || has('propshaft')) ? 'SECRET_KEY_BASE_DUMMY=1 bundle exec rails assets:precompile' : null
  const build = app.build_command ?? assets
  // Gems from folders need the whole source.
  const needsSource = app.names.includes('vendor/') || /^\s*(gemspec|gem .*path:)/m.test(gemfile ?? '')
  const inputs = ['Gemfile', 'Gemfile.lock', '.ruby-version'].filter((name) => app.names.includes(name))
  const install = gemfile === null ? null : (app.install_command ?? 'bundle install --jobs 4 --retry 3')
  const commands = [needsSource ? install : null, hasNode ? 'npm install' : null, build].filter((command) => command !== null)
  return {
    framework: isRails ? 'rails' : has('sinatra') ? 'sinatra' : 'ruby',
    explanation: [
      `Ruby app found (${gemfile === null ? 'config.ru' : 'Gemfile'}): Ruby ${version}`,
      ...(isRails
        ? [
            'Rails found: set SECRET_KEY_BASE or RAILS_MASTER_KEY in the project’s variables',
            'Migrations are not run: add a release command, such as rails db:migrate',
          ]
        : []),
      ...(build === null ? [] : [`Build: ${build}`]),
      `Start: ${start}`,
    ],
    dockerfile: joinDockerfile(
      `FROM ruby:${version}-bookworm`,
      `ENV ${Object.entries(variables)
        .map(([name, value]) => `${name}=${value}`)
        .join(' ')} LANG=C.UTF-8`,
      'WORKDIR /app',
      'RUN mkdir tmp log && chown 1000:1000 . tmp log',
      hasNode ? withNode : null,
      startWith(start),
      install === null || needsSource ? null : [`COPY ${inputs.join(' ')} ./`, `RUN ${install}`],
      copySource('COPY --chown=1000:1000 . .', commands.length === 0 ? [] : [...commands, 'chown -R 1000:1000 /app']),
    ),
    ignored: ['node_modules', 'tmp', 'log', '.env', '.bundle'],
    steps: {
      tools: [
        requested === null ? requireAny('ruby') : requireVersion('ruby', requested, from),
        ...(gemfile === null ? [] : [requireAny('bundler')]),
      ],
      install,
      build: joinCommands(hasNode ? 'npm install' : null, build, 'mkdir -p tmp log'),
      start,
      variables: { ...variables, GEM_HOME: '{app}/vendor/bundle' },
      ...(needsSource || app.install_command !== null ? {} : { inputs }),
      dependency_directories: ['vendor/bundle'],
    },
  }
}

const variables = {
  RACK_ENV: 'production',
  RAILS_ENV: 'production',
  RAILS_LOG_TO_STDOUT: '1',
  RAILS_SERVE_STATIC_FILES: '1',
  BUNDLE_WITHOUT: 'development:test',
}

async function chooseStart(app: LanguageApp, isRails: boolean, has: (name: string) => boolean): Promise<string> {
  if (isRails)
    return has('puma') && app.names.includes('config.ru')
      ? `bundle exec puma -b tcp://${app.target.host}:$PORT`
      : `bundle exec rails server -b ${app.target.host} -p $PORT`
  const prefix = app.names.includes('Gemfile') ? 'bundle exec ' : ''
  if (app.names.includes('config.ru'))
    return has('puma') ? `${prefix}puma -b tcp://${app.target.host}:$PORT` : `${prefix}rackup -o ${app.target.host} -p $PORT`
  const program =
    ['app.rb', 'server.rb', 'main.rb'].find((name) => app.names.includes(name)) ?? app.names.find((name) => name.endsWith('.rb')) ?? 'app.rb'
  return has('sinatra') ? `${prefix}ruby ${program} -o ${app.target.host} -p $PORT` : `${prefix}ruby ${program}`
}
