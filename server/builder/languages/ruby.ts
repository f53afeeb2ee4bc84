import { dockerfile, type Language, type LanguageApp, parseVersion, readAll, readToolVersion, startWith, unprivileged, withNode } from './language.ts'

const defaultVersion = '3.4'

/** Ruby with Bundler: Rails, Sinatra and other Rack apps, or a plain program. */
export const ruby: Language = async (app) => {
  const gemfile = await app.read('Gemfile')
  if (gemfile === null && !app.names.includes('config.ru')) return null
  const gems = await readAll(app, ['Gemfile', 'Gemfile.lock'])
  const has = (name: string) => new RegExp(`(^\\s*gem\\s+["']${name}["']|^\\s{4}${name}\\s)`, 'm').test(gems)
  const version =
    parseVersion(await app.read('.ruby-version')) ??
    (await readToolVersion(app, 'ruby')) ??
    parseVersion(/^ruby\s+["']([^"']+)/m.exec(gemfile ?? '')?.[1]) ??
    parseVersion(/RUBY VERSION\s+ruby (\S+)/.exec(gems)?.[1]) ??
    defaultVersion
  const isRails = app.names.includes('config/') && (await app.read('config/application.rb')) !== null
  const start = app.procfile ?? (await chooseStart(app, isRails, has))
  const hasNode = app.names.includes('package.json')
  const assets = isRails && (has('sprockets-rails') || has('propshaft')) ? 'SECRET_KEY_BASE_DUMMY=1 bundle exec rails assets:precompile' : null
  const build = app.build_command ?? assets
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
    dockerfile: dockerfile(
      `FROM ruby:${version}-bookworm`,
      'ENV RACK_ENV=production RAILS_ENV=production RAILS_LOG_TO_STDOUT=1 RAILS_SERVE_STATIC_FILES=1 BUNDLE_WITHOUT=development:test LANG=C.UTF-8',
      'WORKDIR /app',
      hasNode ? withNode : null,
      gemfile === null
        ? null
        : [
            app.names.includes('vendor/') || /^\s*(gemspec|gem .*path:)/m.test(gemfile)
              ? 'COPY . .'
              : `COPY ${['Gemfile', 'Gemfile.lock', '.ruby-version'].filter((name) => app.names.includes(name)).join(' ')} ./`,
            `RUN ${app.install_command ?? 'bundle install --jobs 4 --retry 3'}`,
          ],
      'COPY . .',
      hasNode ? 'RUN npm install' : null,
      build === null ? null : `RUN ${build}`,
      'RUN mkdir -p tmp log && chown -R 1000:1000 /app',
      unprivileged,
      startWith(start),
    ),
    ignored: ['node_modules', 'tmp', 'log', '.env', '.bundle'],
  }
}

async function chooseStart(app: LanguageApp, isRails: boolean, has: (name: string) => boolean): Promise<string> {
  if (isRails)
    return has('puma') && app.names.includes('config.ru') ? 'bundle exec puma -b tcp://0.0.0.0:$PORT' : 'bundle exec rails server -b 0.0.0.0 -p $PORT'
  const prefix = app.names.includes('Gemfile') ? 'bundle exec ' : ''
  if (app.names.includes('config.ru')) return has('puma') ? `${prefix}puma -b tcp://0.0.0.0:$PORT` : `${prefix}rackup -o 0.0.0.0 -p $PORT`
  const program =
    ['app.rb', 'server.rb', 'main.rb'].find((name) => app.names.includes(name)) ?? app.names.find((name) => name.endsWith('.rb')) ?? 'app.rb'
  return has('sinatra') ? `${prefix}ruby ${program} -o 0.0.0.0 -p $PORT` : `${prefix}ruby ${program}`
}
