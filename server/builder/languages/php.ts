import semver from 'semver'
import type { ToolRequirement } from '../../contract/build-plan.ts'
import { copySource, joinDockerfile, joinCommands, type Language, parseMinorVersion, requireAny, requireVersion, withNode } from './language.ts'

const defaultVersion = '8.4'
/** Extensions of the official image that need no installation. */
const includedExtensions = new Set(
  'ctype curl date dom fileinfo filter hash iconv json libxml mbstring openssl pcre pdo phar posix readline reflection session simplexml sodium spl sqlite3 pdo_sqlite standard tokenizer xml xmlreader xmlwriter zlib'.split(
    ' ',
  ),
)
/** Packages that compiling an extension needs. */
const extensionPackages: Record<string, string> = {
  pdo_pgsql: 'libpq-dev',
  pgsql: 'libpq-dev',
  zip: 'libzip-dev',
  gd: 'libpng-dev libjpeg-dev libfreetype6-dev',
  intl: 'libicu-dev',
  gmp: 'libgmp-dev',
  soap: 'libxml2-dev',
}

/** PHP behind Apache: Laravel, Symfony, other composer projects, or plain files. */
export const php: Language = async (app) => {
  const text = await app.read('composer.json')
  const isPlain = text === null
  if (isPlain && !app.names.includes('index.php')) return null
  const required = parseRequirements(text)
  const pinned = parseMinorVersion(await app.read('.php-version'))
  const version = pinned ?? parseMinorVersion(required.php) ?? defaultVersion
  const isLaravel = app.names.includes('artisan')
  const isSymfony = !isLaravel && (required['symfony/framework-bundle'] !== undefined || app.names.includes('symfony.lock'))
  const root = app.names.includes('public/') ? '/public' : app.names.includes('web/') ? '/web' : ''
  const extensions = [
    ...new Set([
      ...(isLaravel || isSymfony ? ['pdo_pgsql', 'zip', 'opcache'] : []),
      ...Object.keys(required).flatMap((name) => (name.startsWith('ext-') ? [name.slice(4)] : [])),
    ]),
  ].filter((name) => /^\w+$/.test(name) && !includedExtensions.has(name))
  const packages = [...new Set(extensions.flatMap((name) => extensionPackages[name]?.split(' ') ?? []))]
  const assets = app.names.includes('package.json') ? 'npm install && npm run build --if-present' : null
  const build = app.build_command ?? assets
  const isImage = app.target.kind === 'image'
  const install = isPlain ? null : (app.install_command ?? 'composer install --no-dev --no-scripts --no-autoloader --no-interaction --prefer-dist')
  const autoload = isPlain ? null : 'composer dump-autoload --optimize --no-dev --no-interaction'
  const start =
    app.procfile ??
    (isLaravel ? `php artisan serve --no-reload --host=${app.target.host} --port=$PORT` : `php -S ${app.target.host}:$PORT -t .${root}`)
  // Both write to folders in their source.
  const hasFolders = isLaravel || isSymfony
  const commands = [autoload, build].filter((command) => command !== null)
  const serverRoot = `/var/www/html${root}`
  return {
    framework: isLaravel ? 'laravel' : isSymfony ? 'symfony' : 'php',
    explanation: [
      `PHP app found (${isPlain ? 'index.php' : 'composer.json'}): PHP ${version}, served ${isImage ? 'by Apache ' : ''}from ${root === '' ? 'the source' : root.slice(1)}`,
      ...(isImage || app.procfile !== null
        ? []
        : ['Served by PHP’s built-in server, which is meant for development. With Docker, Apache serves the app']),
      ...(extensions.length > 0 ? [`Extensions: ${extensions.join(', ')}`] : []),
      ...(isLaravel
        ? [
            'Laravel found: set APP_KEY in the project’s variables',
            'Migrations are not run: add a release command, such as php artisan migrate --force',
          ]
        : []),
      ...(build === null ? [] : [`Build: ${build}`]),
    ],
    dockerfile: joinDockerfile(
      `FROM php:${version}-apache-bookworm`,
      packages.length > 0
        ? `RUN apt-get update && apt-get install -y --no-install-recommends ${packages.join(' ')} unzip && rm -rf /var/lib/apt/lists/*`
        : null,
      extensions.length > 0 ? `RUN docker-php-ext-install -j2 ${extensions.join(' ')}` : null,
      'RUN sed -i \'s/^Listen 80$/Listen ${PORT}/\' /etc/apache2/ports.conf && a2enmod rewrite && mv "$PHP_INI_DIR/php.ini-production" "$PHP_INI_DIR/php.ini"',
      `RUN printf '<VirtualHost *>\\n  DocumentRoot ${serverRoot}\\n  <Directory ${serverRoot}>\\n    AllowOverride All\\n    Require all granted\\n    FallbackResource /index.php\\n  </Directory>\\n</VirtualHost>\\n' > /etc/apache2/sites-available/000-default.conf`,
      isPlain ? null : 'COPY --from=composer:2 /usr/bin/composer /usr/local/bin/composer',
      assets === null ? null : withNode,
      'WORKDIR /var/www/html',
      `RUN ${hasFolders ? `${makeFolders} && chown -R 1000:1000 .` : 'chown 1000:1000 .'}`,
      app.procfile === null ? 'CMD ["apache2-foreground"]' : `CMD ${app.procfile}`,
      isPlain ? null : [`COPY ${['composer.json', 'composer.lock'].filter((name) => app.names.includes(name)).join(' ')} ./`, `RUN ${install}`],
      copySource('COPY --chown=1000:1000 . .', [
        ...commands,
        commands.length > 0 && hasFolders ? 'chown -R 1000:1000 storage bootstrap/cache var' : null,
      ]),
    ),
    ignored: ['vendor', 'node_modules', '.env', 'var/cache', 'storage/logs'],
    steps: {
      tools: [requirePhp(pinned, required.php), ...(isPlain ? [] : [requireAny('composer')])],
      install,
      build: joinCommands(autoload, build, hasFolders ? makeFolders : null),
      start,
      // Without it, the server handles one request at a time.
      variables: { PHP_CLI_SERVER_WORKERS: '4' },
      ...(isPlain || app.install_command !== null ? {} : { inputs: ['composer.json', 'composer.lock'].filter((name) => app.names.includes(name)) }),
      dependency_directories: ['vendor'],
    },
  }
}

const makeFolders = 'mkdir -p storage/framework/views storage/framework/cache storage/framework/sessions storage/logs bootstrap/cache var'

/** Composer writes ranges like npm, except for a single `|`. */
function requirePhp(pinned: string | null, range: string | undefined): ToolRequirement {
  if (pinned !== null) return requireVersion('php', pinned, '.php-version')
  const valid = semver.validRange((range ?? '').replace(/\s*\|\|?\s*/g, ' || ').replaceAll(',', ' '))
  return range === undefined || valid === null ? requireAny('php') : { tool: 'php', range: valid, from: 'composer.json' }
}

function parseRequirements(composer: string | null): Record<string, string> {
  if (composer === null) return {}
  try {
    const { require } = JSON.parse(composer) as { require?: unknown }
    return typeof require === 'object' && require !== null ? (require as Record<string, string>) : {}
  } catch {
    return {}
  }
}
