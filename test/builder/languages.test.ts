import { describe, expect, test } from 'vitest'
import { needs, usePlanOf } from './plan-of.ts'

const planOf = usePlanOf()

interface LanguageLayout {
  name: string
  files: Record<string, string>
  framework: string
  /** The base image of the first stage. */
  from: string
  /** Lines that the Dockerfile contains; the last one starts the app. */
  lines: string[]
}

const layouts: LanguageLayout[] = [
  {
    name: 'Flask with requirements.txt',
    files: { 'requirements.txt': 'Flask==3.0\n', 'app.py': 'from flask import Flask\napp = Flask(__name__)\n' },
    framework: 'flask',
    from: 'python:3.13-bookworm',
    lines: [
      'COPY requirements.txt ./',
      'RUN pip install --no-cache-dir -r requirements.txt',
      'RUN pip install --no-cache-dir gunicorn',
      'CMD exec gunicorn app:app --bind 0.0.0.0:$PORT',
    ],
  },
  {
    name: 'Flask with a factory and gunicorn',
    files: { 'requirements.txt': 'flask\ngunicorn\n', 'app/__init__.py': 'def create_app():\n  pass\n' },
    framework: 'flask',
    from: 'python:3.13-bookworm',
    lines: ["CMD exec gunicorn 'app:create_app()' --bind 0.0.0.0:$PORT"],
  },
  {
    name: 'FastAPI with uv',
    files: {
      'pyproject.toml': '[project]\nname = "api"\nrequires-python = ">=3.10,<3.12"\ndependencies = ["fastapi>=0.100", "uvicorn"]\n',
      'uv.lock': '',
      'app/main.py': 'api = FastAPI(title="x")\n',
    },
    framework: 'fastapi',
    from: 'python:3.11-bookworm',
    lines: ['COPY pyproject.toml uv.lock ./', 'CMD exec uvicorn app.main:api --host 0.0.0.0 --port $PORT --proxy-headers --forwarded-allow-ips=*'],
  },
  {
    name: 'Django with poetry, static files and Python of .python-version',
    files: {
      '.python-version': '3.12.4\n',
      'pyproject.toml': '[tool.poetry.dependencies]\ndjango = "^5"\n',
      'poetry.lock': '',
      'manage.py': "os.environ.setdefault('DJANGO_SETTINGS_MODULE', 'shop.settings')\n",
      'shop/settings.py': "STATIC_ROOT = BASE_DIR / 'static'\n",
    },
    framework: 'django',
    from: 'python:3.12-bookworm',
    lines: [
      'RUN pip install --no-cache-dir gunicorn',
      'RUN SECRET_KEY=build DJANGO_SECRET_KEY=build python manage.py collectstatic --noinput || true',
      'CMD exec gunicorn shop.wsgi:application --bind 0.0.0.0:$PORT',
    ],
  },
  {
    name: 'Streamlit',
    files: { 'requirements.txt': 'streamlit\n', 'dashboard.py': 'import streamlit as st\n' },
    framework: 'streamlit',
    from: 'python:3.13-bookworm',
    lines: [
      'CMD exec streamlit run dashboard.py --server.port $PORT --server.address 0.0.0.0 --server.headless true --browser.gatherUsageStats false',
    ],
  },
  {
    name: 'Python with a Procfile and requirements that name a file',
    files: { 'requirements.txt': '-r base.txt\n', 'base.txt': '', 'x.py': '', Procfile: 'web: python x.py --port $PORT\nworker: python w.py\n' },
    framework: 'python',
    from: 'python:3.13-bookworm',
    lines: ['RUN pip install --no-cache-dir -r requirements.txt', 'CMD exec python x.py --port $PORT'],
  },
  {
    name: 'Go with a command',
    files: { 'go.mod': 'module example.com/shop\n\ngo 1.22.1\n', 'go.sum': '', 'cmd/tool/main.go': '', 'cmd/shop/main.go': '' },
    framework: 'go',
    from: 'golang:1.22-bookworm AS build',
    lines: [
      'COPY go.mod go.sum ./',
      'RUN go mod download',
      'RUN go build -ldflags="-s -w" -o /out/server ./cmd/shop',
      'FROM debian:bookworm-slim',
      'CMD exec server',
    ],
  },
  {
    name: 'Rust',
    files: {
      'Cargo.toml': '[package]\nname = "my-api"\nrust-version = "1.75"\n\n[dependencies]\n# Of the server\naxum = "0.8"\n',
      'Cargo.lock': '',
      'src/main.rs': 'fn main() {}',
    },
    framework: 'rust',
    from: 'rust:1.75-bookworm AS build',
    lines: ['COPY Cargo.toml Cargo.lock ./', 'CMD exec my-api'],
  },
  {
    name: 'Rails with JavaScript',
    files: {
      Gemfile: 'gem "rails"\ngem "puma"\ngem "propshaft"\n',
      'Gemfile.lock': '   RUBY VERSION\n   ruby 3.3.1p55\n',
      'config.ru': '',
      'config/application.rb': '',
      'package.json': needs({ esbuild: '1' }, { scripts: { build: 'esbuild' } }),
    },
    framework: 'rails',
    from: 'ruby:3.3-bookworm',
    lines: [
      'COPY Gemfile Gemfile.lock ./',
      'RUN bundle install --jobs 4 --retry 3',
      'RUN npm install',
      'RUN SECRET_KEY_BASE_DUMMY=1 bundle exec rails assets:precompile',
      'CMD exec bundle exec puma -b tcp://0.0.0.0:$PORT',
    ],
  },
  {
    name: 'Sinatra',
    files: { Gemfile: 'gem "sinatra"\n', 'app.rb': 'require "sinatra"\n' },
    framework: 'sinatra',
    from: 'ruby:3.4-bookworm',
    lines: ['CMD exec bundle exec ruby app.rb -o 0.0.0.0 -p $PORT'],
  },
  {
    name: 'Laravel with Vite',
    files: {
      'composer.json': JSON.stringify({ require: { php: '^8.2', 'laravel/framework': '^11', 'ext-gd': '*' } }),
      'composer.lock': '{}',
      artisan: '',
      'public/index.php': '',
      'package.json': needs({ vite: '6' }, { scripts: { dev: 'vite', build: 'vite build' } }),
    },
    framework: 'laravel',
    from: 'php:8.2-apache-bookworm',
    lines: [
      'RUN docker-php-ext-install -j2 pdo_pgsql zip opcache gd',
      'COPY composer.json composer.lock ./',
      'RUN npm install && npm run build --if-present',
      'CMD ["apache2-foreground"]',
    ],
  },
  {
    name: 'plain PHP',
    files: { 'index.php': '<?php echo 1;' },
    framework: 'php',
    from: 'php:8.4-apache-bookworm',
    lines: ['COPY --chown=1000:1000 . .', 'CMD ["apache2-foreground"]'],
  },
  {
    name: 'Spring Boot with Maven',
    files: {
      'pom.xml': '<project><parent><artifactId>spring-boot-starter-parent</artifactId></parent><java.version>17</java.version></project>',
      'src/x': '',
    },
    framework: 'spring-boot',
    from: 'maven:3-eclipse-temurin-17 AS build',
    lines: ['RUN mvn -B -q -DskipTests package', 'FROM eclipse-temurin:17-jre', 'CMD exec java -Dserver.port=$PORT -jar app.jar'],
  },
  {
    name: 'Kotlin with Gradle',
    files: { 'build.gradle.kts': 'kotlin { jvmToolchain(21) }\n', gradlew: '', 'settings.gradle.kts': '' },
    framework: 'java',
    from: 'gradle:8-jdk21 AS build',
    lines: ['RUN sh ./gradlew build -x test --no-daemon', 'CMD exec java -jar app.jar'],
  },
  {
    name: '.NET in a solution',
    files: {
      'shop.sln': '',
      'src/Shop.Web/Shop.Web.csproj': '<Project Sdk="Microsoft.NET.Sdk.Web"><TargetFramework>net9.0</TargetFramework></Project>',
      'src/Shop.Core/Shop.Core.csproj': '<Project Sdk="Microsoft.NET.Sdk"></Project>',
    },
    framework: 'dotnet',
    from: 'mcr.microsoft.com/dotnet/sdk:9.0 AS build',
    lines: [
      'RUN dotnet publish src/Shop.Web/Shop.Web.csproj -c Release -o /out',
      'CMD exec env ASPNETCORE_URLS=http://0.0.0.0:$PORT dotnet Shop.Web.dll',
    ],
  },
  {
    name: 'Phoenix',
    files: {
      'mix.exs': 'def project, do: [app: :shop]\ndefp deps do\n [{:phoenix, "~> 1.7"}]\nend\n"assets.deploy": []',
      'mix.lock': '',
      'config/config.exs': '',
      '.tool-versions': 'erlang 27\nelixir 1.17.2-otp-27\n',
    },
    framework: 'phoenix',
    from: 'elixir:1.17',
    lines: ['COPY config /src/config', 'RUN cd /src && mix compile && mix assets.deploy && mix release --path /out', 'CMD exec bin/shop start'],
  },
  {
    name: 'Deno',
    files: { 'deno.json': '{"tasks": {"start": "deno serve main.ts"}}', 'main.ts': '' },
    framework: 'deno',
    from: 'denoland/deno:2',
    lines: ['CMD exec deno task start'],
  },
  {
    name: 'Bun',
    files: { 'package.json': needs({ hono: '4' }, { scripts: { start: 'bun src/index.ts' } }), 'bun.lock': '', 'src/index.ts': '' },
    framework: 'bun',
    from: 'oven/bun:1',
    lines: ['COPY --chown=1000:1000 package.json bun.lock ./', 'RUN bun install --frozen-lockfile', 'CMD exec bun run start'],
  },
]

describe('languages without a Dockerfile', () => {
  test.each(layouts)('$name', async ({ files, framework, from, lines }) => {
    const plan = await planOf(files)
    expect(plan).toMatchObject({ framework, work: { kind: 'dockerfile', port: null } })
    const text = (plan.work.kind === 'dockerfile' && plan.work.text) || ''
    const written = text.split('\n')
    expect(written[0]).toBe(`FROM ${from}`)
    // The command that collects the results is part of the same step.
    for (const line of lines) expect(written.filter((one) => one === line || one.startsWith(`${line} && `))).toHaveLength(1)
    expect(text).toContain(`\n${lines.at(-1)}\n`)
    expect(written).toContain('USER 1000:1000')
  })

  test('a Node server stays one, whatever else its repository contains', async () => {
    const files = {
      'package.json': needs({ express: '5' }, { scripts: { start: 'node server.js' } }),
      'requirements.txt': 'flask',
      'app.py': '',
      'go.mod': 'module x',
    }
    expect(await planOf(files)).toMatchObject({ framework: 'express' })
    expect(await planOf({ 'package.json': needs({ next: '16' }), 'composer.json': '{}' })).toMatchObject({ framework: 'nextjs' })
  })

  test('a go.mod without Go files is not a Go app', async () => {
    expect(await planOf({ 'go.mod': 'module x', 'requirements.txt': 'flask', 'app.py': '' })).toMatchObject({ framework: 'flask' })
  })

  test('a site with a requirements.txt for its tools is a site', async () => {
    expect(await planOf({ 'index.html': '<p>Hi</p>', 'requirements.txt': 'black' })).toMatchObject({ framework: 'html' })
  })

  test.each([
    ['an app', { 'main.py': '' }, 'COPY . .'],
    ['Rack', { Gemfile: 'gem "rack"\n', 'config.ru': '' }, 'COPY --chown=1000:1000 . .'],
    ['PHP', { 'index.php': '' }, 'COPY --chown=1000:1000 . .'],
    ['Go', { 'go.mod': 'module x\n', 'main.go': '' }, 'COPY --from=build /out /usr/local/bin'],
    ['Rust', { 'Cargo.toml': '[package]\nname = "x"\n\n[dev-dependencies]\ny = "1"\n', 'src/main.rs': '' }, 'COPY --from=build /image /'],
  ])('a change of the source of %s repeats only the steps that depend on it', async (_name, files, last) => {
    const { work } = await planOf(files)
    const lines = ((work.kind === 'dockerfile' && work.text) || '').trimEnd().split('\n')
    expect(lines.at(-1)).toBe(last)
    expect(lines.filter((line) => line.endsWith(' . .'))).toHaveLength(1)
  })

  test('commands of the project settings override the detected ones', async () => {
    const settings = { install_command: 'pip install -r prod.txt', build_command: 'python build.py' }
    const { work } = await planOf({ 'requirements.txt': 'flask', 'app.py': 'app = Flask(x)' }, settings)
    expect(work.kind === 'dockerfile' && work.text).toContain('RUN pip install -r prod.txt\n')
    expect(work.kind === 'dockerfile' && work.text).toContain('RUN python build.py\n')
  })

  test.each(layouts)('$name with the toolchains of the machine', async ({ files, framework, lines }) => {
    const image = await planOf(files)
    const { work, explanation } = await planOf(files, {}, { builds_dockerfiles: false })
    if (work.kind !== 'toolchain') throw new Error(`planned as ${work.kind}`)
    expect(image).toMatchObject({ framework })
    expect(explanation.at(-1)).toBe('Built with the toolchains of this machine')
    expect(work.tools.length).toBeGreaterThan(0)
    const commands = [work.install_command, work.build_command, work.start_command].join(' ')
    expect(commands).not.toMatch(/0\.0\.0\.0|(^|\s)\/(out|app|usr)\b/)
    // The same command starts the app both ways, apart from its address.
    const start = (lines.at(-1) ?? '').replace(/^CMD /, '').replaceAll('0.0.0.0', '127.0.0.1')
    if (!start.includes('apache2')) expect(work.start_command).toBe(start)
  })

  test('the requested version becomes a range', async () => {
    const rangeOf = async (files: Record<string, string>) => {
      const { work } = await planOf(files, {}, { builds_dockerfiles: false })
      return work.kind === 'toolchain' ? work.tools[0] : undefined
    }
    expect(await rangeOf({ 'go.mod': 'module x\n\ngo 1.22\n', 'main.go': '' })).toEqual({ tool: 'go', range: '>=1.22', from: 'go.mod' })
    expect(await rangeOf({ 'go.mod': 'module x\n', '.python-version': '3.12.1\n' })).toMatchObject({ tool: 'go', range: '*' })
  })
})
