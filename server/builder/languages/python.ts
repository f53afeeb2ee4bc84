import type { ToolRequirement } from '../../contract/build-plan.ts'
import {
  copySource,
  joinDockerfile,
  findInFiles,
  joinCommands,
  type Language,
  type LanguageApp,
  parseMinorVersion,
  readAll,
  readAny,
  readToolVersion,
  requireAny,
  requireVersion,
  startWith,
  withNode,
} from './language.ts'

const defaultVersion = '3.13'
const knownVersions = ['3.14', '3.13', '3.12', '3.11', '3.10', '3.9']
const entryFiles = ['main.py', 'app.py', 'server.py', 'api.py', 'run.py', 'wsgi.py', 'app/main.py', 'app/__init__.py', 'src/main.py', 'src/app.py']

/** Python with uv, poetry, pipenv or pip: Django, FastAPI, Flask, Streamlit, or a plain program. */
export const python: Language = async (app) => {
  const manifests = ['requirements.txt', 'pyproject.toml', 'Pipfile', 'setup.py', 'manage.py']
  const found = manifests.find((name) => app.names.includes(name)) ?? entryFiles.slice(0, 5).find((name) => app.names.includes(name))
  const hasProgram = app.names.some((name) => name.endsWith('.py') && name !== 'setup.py') || app.names.includes('app/') || app.names.includes('src/')
  if (!found || (!hasProgram && app.procfile === null)) return null
  const dependencies = (await readAll(app, ['requirements.txt', 'pyproject.toml', 'Pipfile'])).toLowerCase()
  const has = (name: string) => new RegExp(`(^|[\\s"'])${name}([\\s"'=<>~!\\[;,]|$)`, 'm').test(dependencies)
  const version = await choosePythonVersion(app)
  const install = await chooseInstall(app)
  const start = await chooseStart(app, has)
  const missing = start.missing.length > 0 ? `pip install --no-cache-dir ${start.missing.join(' ')}` : null
  const commands = [install.command, missing].filter((command) => command !== null)
  const hasAssets = app.names.includes('package.json')
  const assets = hasAssets && app.build_command === null ? 'npm install && npm run build --if-present' : null
  const build = app.build_command ?? start.build
  return {
    framework: start.framework,
    explanation: [
      `Python app found (${found}): Python ${version.version}${version.from === null ? '' : `, from ${version.from}`}`,
      install.explanation,
      ...start.explanation,
      `Start: ${start.command}`,
    ],
    dockerfile: joinDockerfile(
      `FROM python:${version.version}-bookworm`,
      `ENV ${Object.entries(variables)
        .map(([name, value]) => `${name}=${value}`)
        .join(' ')} PIP_ROOT_USER_ACTION=ignore PATH=/app/.venv/bin:$PATH`,
      'WORKDIR /app',
      'RUN chown 1000:1000 /app',
      hasAssets ? withNode : null,
      startWith(start.command),
      install.inputs === null ? null : [`COPY ${install.inputs.join(' ')} ./`, ...commands.map((command) => `RUN ${command}`)],
      copySource('COPY . .', [...(install.inputs === null ? commands : []), assets, build]),
    ),
    ignored: ['.venv', 'venv', '__pycache__', '*.pyc', 'node_modules', '.env'],
    steps: {
      tools: [version.requirement, ...(install.tools ?? [])],
      // The variable names the selected interpreter of the machine.
      install: joinCommands('"${PYTHON:-python3}" -m venv .venv', ...commands),
      build: joinCommands(assets, build),
      start: start.command,
      program_directories: ['.venv/bin'],
      variables: { ...variables, VIRTUAL_ENV: '{app}/.venv' },
      ...(install.inputs === null ? {} : { inputs: install.inputs }),
      dependency_directories: ['.venv'],
    },
  }
}

/** Bytecode is kept: official images have none of the standard library, which pip then compiles once instead of each start. */
const variables = { PYTHONUNBUFFERED: '1', PIP_DISABLE_PIP_VERSION_CHECK: '1' }

interface PythonVersion {
  /** For the image. */
  version: string
  from: string | null
  /** For the machine. */
  requirement: ToolRequirement
}

async function choosePythonVersion(app: LanguageApp): Promise<PythonVersion> {
  const pin = (version: string, from: string): PythonVersion => ({ version, from, requirement: requireVersion('python', version, from) })
  for (const file of ['.python-version', 'runtime.txt']) {
    const version = parseMinorVersion(await app.read(file))
    if (version) return pin(version, file)
  }
  const tool = await readToolVersion(app, 'python')
  if (tool) return pin(tool, '.tool-versions')
  const pipfile = (await app.read('Pipfile'))?.match(/python_version\s*=\s*["']([^"']+)/)?.[1]
  if (pipfile) return pin(parseMinorVersion(pipfile) ?? defaultVersion, 'Pipfile')
  const range = (await app.read('pyproject.toml'))?.match(/(?:requires-python|^python)\s*=\s*["']([^"']+)/m)?.[1]
  const fitting = range === undefined ? [] : [...new Set([defaultVersion, ...knownVersions])].filter((version) => fits(version, range))
  const [first] = fitting
  if (first === undefined) return { version: defaultVersion, from: null, requirement: requireAny('python') }
  const requirement: ToolRequirement = { tool: 'python', range: fitting.map((version) => `${version}.x`).join(' || '), from: 'pyproject.toml' }
  return { version: first, from: 'pyproject.toml', requirement }
}

/** Whether a minor version satisfies a range such as `>=3.10,<3.13`, `^3.11` or `~=3.12`. */
function fits(version: string, range: string): boolean {
  const minor = (text: string) => Number(text.split('.')[1] ?? 0)
  return range.split(',').every((part) => {
    const [, operator = '', bound = ''] = /^\s*([<>=~^!]*)\s*([\d.]+)/.exec(part) ?? []
    const difference = minor(version) - minor(bound)
    if (operator === '<') return difference < 0 || (difference === 0 && bound.split('.').length > 2 && !bound.endsWith('.0'))
    if (operator === '<=') return difference <= 0
    if (operator === '==' || operator === '~' || (operator === '~=' && bound.split('.').length > 2)) return difference === 0
    return operator === '!=' || difference >= 0
  })
}

interface InstallSteps {
  /** The files that the command reads; null: the whole source. */
  inputs: string[] | null
  command: string | null
  explanation: string
  tools?: ToolRequirement[]
}

/** Installs a package manager that the image does not have. */
const ensure = (program: string): string => `(command -v ${program} >/dev/null || pip install --no-cache-dir ${program})`

/** Dependencies are a separate layer, which is built again when these files change. */
async function chooseInstall(app: LanguageApp): Promise<InstallSteps> {
  const has = (name: string) => app.names.includes(name)
  if (app.install_command !== null)
    return { inputs: null, command: app.install_command, explanation: `Install: ${app.install_command}, from the project settings` }
  if (has('uv.lock'))
    return {
      inputs: ['pyproject.toml', 'uv.lock', '.python-version', 'README.md'].filter(has),
      command: `${ensure('uv')} && uv sync --frozen --no-dev --no-install-project --python "$(command -v python3)"`,
      tools: [{ ...requireAny('uv'), is_optional: true }],
      explanation: 'uv.lock found: installed with uv',
    }
  if (has('poetry.lock'))
    return {
      inputs: ['pyproject.toml', 'poetry.lock'].filter(has),
      command: `${ensure('poetry')} && POETRY_VIRTUALENVS_CREATE=false poetry install --only main --no-root --no-interaction`,
      explanation: 'poetry.lock found: installed with poetry',
    }
  if (has('Pipfile'))
    return {
      inputs: ['Pipfile', 'Pipfile.lock'].filter(has),
      command: `${ensure('pipenv')} && pipenv install --system${has('Pipfile.lock') ? ' --deploy' : ' --skip-lock'}`,
      explanation: 'Pipfile found: installed with pipenv',
    }
  const requirements = await app.read('requirements.txt')
  if (requirements !== null) {
    // A line that names another file or folder needs the source.
    const isAlone = !/^\s*(-r|-c|-e|-f|--requirement|--constraint|--editable|--find-links|\.|file:)|@\s*file:/m.test(requirements)
    return {
      inputs: isAlone ? ['requirements.txt'] : null,
      command: 'pip install --no-cache-dir -r requirements.txt',
      explanation: 'requirements.txt found: installed with pip',
    }
  }
  if (has('pyproject.toml') || has('setup.py'))
    return { inputs: null, command: 'pip install --no-cache-dir .', explanation: 'The package itself is installed with pip' }
  return { inputs: null, command: null, explanation: 'Nothing to install: no requirements.txt and no pyproject.toml' }
}

interface StartCommand {
  framework: string
  command: string
  explanation: string[]
  /** Packages that the command needs and the app does not list. */
  missing: string[]
  build: string | null
}

async function chooseStart(app: LanguageApp, has: (name: string) => boolean): Promise<StartCommand> {
  const detected = (await django(app, has)) ?? (await fastApi(app, has)) ?? (await flask(app, has)) ?? (await streamlit(app, has)) ?? plain(app)
  if (app.procfile === null) return detected
  return { ...detected, command: app.procfile, explanation: [...detected.explanation, 'Start: from the Procfile'], missing: [] }
}

const start = (framework: string, command: string, more: Partial<StartCommand> = {}): StartCommand => ({
  framework,
  command,
  explanation: [],
  missing: [],
  build: null,
  ...more,
})

async function django(app: LanguageApp, has: (name: string) => boolean): Promise<StartCommand | null> {
  if (!app.names.includes('manage.py')) return null
  const settingsModule = /DJANGO_SETTINGS_MODULE["'],\s*["']([\w.]+)/.exec(await readAny(app, ['manage.py']))?.[1] ?? 'config.settings'
  const project = settingsModule.split('.')[0] ?? 'config'
  const settings = await readAll(app, [`${settingsModule.replaceAll('.', '/')}.py`, `${project}/settings/base.py`])
  const usesAsgi = has('uvicorn') || has('daphne')
  const command = usesAsgi
    ? has('uvicorn')
      ? `uvicorn ${project}.asgi:application --host ${app.target.host} --port $PORT`
      : `daphne -b ${app.target.host} -p $PORT ${project}.asgi:application`
    : `gunicorn ${project}.wsgi:application --bind ${app.target.host}:$PORT`
  return start('django', command, {
    explanation: ['Django found (manage.py)', 'Migrations are not run: add a release command, such as python manage.py migrate'],
    missing: usesAsgi || has('gunicorn') ? [] : ['gunicorn'],
    // Settings may require secrets that exist only at run time.
    build: /^STATIC_ROOT\s*=/m.test(settings) ? 'SECRET_KEY=build DJANGO_SECRET_KEY=build python manage.py collectstatic --noinput || true' : null,
  })
}

async function fastApi(app: LanguageApp, has: (name: string) => boolean): Promise<StartCommand | null> {
  if (!has('fastapi') && !has('starlette') && !has('litestar')) return null
  const found = await findInFiles(app, entryFiles, /^(\w+)\s*(?::\s*\w+\s*)?=\s*(?:FastAPI|Starlette|Litestar)\(/m)
  const target = found ? `${toModule(found.path)}:${found.match[1]}` : 'main:app'
  return start('fastapi', `uvicorn ${target} --host ${app.target.host} --port $PORT --proxy-headers --forwarded-allow-ips=*`, {
    explanation: [`FastAPI found${found ? ` (${found.path})` : ''}`],
    missing: has('uvicorn') || has('fastapi\\[standard\\]') ? [] : ['uvicorn'],
  })
}

async function flask(app: LanguageApp, has: (name: string) => boolean): Promise<StartCommand | null> {
  if (!has('flask') && !has('quart')) return null
  const instance = await findInFiles(app, entryFiles, /^(\w+)\s*=\s*(?:Flask|Quart)\(/m)
  const factory = instance ? null : await findInFiles(app, entryFiles, /^def\s+(create_app|make_app)\(/m)
  const target = instance
    ? `${toModule(instance.path)}:${instance.match[1]}`
    : factory
      ? `'${toModule(factory.path)}:${factory.match[1]}()'`
      : 'app:app'
  return start('flask', `gunicorn ${target} --bind ${app.target.host}:$PORT`, {
    explanation: [`Flask found${instance || factory ? ` (${(instance ?? factory)?.path})` : ''}`],
    missing: has('gunicorn') ? [] : ['gunicorn'],
  })
}

async function streamlit(app: LanguageApp, has: (name: string) => boolean): Promise<StartCommand | null> {
  if (!has('streamlit')) return null
  const found = await findInFiles(
    app,
    ['streamlit_app.py', ...entryFiles, ...app.names.filter((name) => name.endsWith('.py'))],
    /\bimport streamlit\b/,
  )
  return start(
    'streamlit',
    `streamlit run ${found?.path ?? 'app.py'} --server.port $PORT --server.address ${app.target.host} --server.headless true --browser.gatherUsageStats false`,
    {
      explanation: [`Streamlit found${found ? ` (${found.path})` : ''}`],
    },
  )
}

function plain(app: LanguageApp): StartCommand {
  const programs = app.names.filter((name) => name.endsWith('.py') && name !== 'setup.py')
  const entry = entryFiles.find((path) => app.names.includes(path)) ?? (programs.length === 1 ? programs[0] : undefined) ?? 'main.py'
  return start('python', `python ${entry}`, {
    explanation: [`The app must listen on ${app.target.kind === 'image' ? '0.0.0.0' : 'the address in HOST'} and on the port in PORT`],
  })
}

const toModule = (path: string): string =>
  path
    .replace(/\.py$/, '')
    .replace(/\/__init__$/, '')
    .replaceAll('/', '.')
