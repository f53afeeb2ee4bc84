import { joinInside, type SourceFolder } from '../source-folder.ts'
import type { DevServerPlan } from './dev-server-plan.ts'

type LanguageServer = (source: SourceFolder, names: ReadonlySet<string>) => Promise<DevServerPlan | null>

/** The development servers of languages other than JavaScript: each reloads when a file changes. */
export const languageServers: LanguageServer[] = [python, rails, phoenix, laravel, go, dotnet, deno]

const plan = (framework: string, label: string, command: string[], explanation: string, more: Partial<DevServerPlan> = {}): DevServerPlan => ({
  framework,
  label,
  command,
  environment: {},
  host_header: 'localhost',
  port: null,
  explanation,
  ...more,
})

/** The interpreter of the folder's virtual environment, as its developers use it. */
async function findPython(source: SourceFolder, names: ReadonlySet<string>): Promise<string[]> {
  for (const folder of ['.venv', 'venv', 'env'])
    for (const program of ['bin/python', 'Scripts/python.exe'])
      if (names.has(`${folder}/`) && (await hasProgram(source, `${folder}/${program}`))) return [`${folder}/${program}`]
  if (names.has('uv.lock')) return ['uv', 'run', 'python']
  if (names.has('poetry.lock')) return ['poetry', 'run', 'python']
  if (names.has('Pipfile')) return ['pipenv', 'run', 'python']
  return ['python3']
}

/** The interpreter is a symlink out of the folder, which `SourceFolder` does not follow. */
async function hasProgram(source: SourceFolder, path: string): Promise<boolean> {
  const folder = path.slice(0, path.lastIndexOf('/'))
  return (await source.list(folder)).includes(path.slice(folder.length + 1))
}

async function python(source: SourceFolder, names: ReadonlySet<string>): Promise<DevServerPlan | null> {
  const files = ['requirements.txt', 'pyproject.toml', 'Pipfile', 'setup.py']
  if (!names.has('manage.py') && !files.some((name) => names.has(name)) && !names.has('app.py')) return null
  const interpreter = await findPython(source, names)
  // Django: ALLOWED_HOSTS knows localhost while it is empty and DEBUG is on; the check of forms compares Origin with Host, so both are the server's own.
  if (names.has('manage.py') && ((await source.read('manage.py')) ?? '').includes('DJANGO_SETTINGS_MODULE'))
    return plan('django', 'Django', [...interpreter, 'manage.py', 'runserver', '127.0.0.1:{port}'], 'Django found (manage.py)', {
      environment: { PYTHONUNBUFFERED: '1' },
    })
  const texts = await Promise.all(
    [...files.slice(0, 3), 'app.py', 'main.py', 'wsgi.py', 'app/__init__.py', 'app/main.py'].map((name) => source.read(name)),
  )
  const text = texts.join('\n').toLowerCase()
  const findModule = async (pattern: RegExp): Promise<string | undefined> => {
    for (const name of ['app.py', 'main.py', 'wsgi.py', 'app/main.py', 'app/__init__.py', 'src/main.py', 'src/app.py'])
      if (pattern.test((await source.read(joinInside('.', name))) ?? '')) return name.replace(/\/__init__\.py$|\.py$/, '').replaceAll('/', '.')
    return undefined
  }
  const python_environment = { PYTHONUNBUFFERED: '1' }
  if (/\bfastapi\b/.test(text)) {
    const module = (await findModule(/FastAPI\(/)) ?? 'main'
    const name = /^(\w+)\s*(?::[^=]+)?=\s*FastAPI\(/m.exec((await source.read(`${module.replaceAll('.', '/')}.py`)) ?? '')?.[1] ?? 'app'
    const command = [...interpreter, '-m', 'uvicorn', `${module}:${name}`, '--reload', '--host', '127.0.0.1', '--port', '{port}']
    // FastAPI: knows no hosts; redirects are made of Host unless the proxy is trusted.
    return plan('fastapi', 'FastAPI', command, 'FastAPI found', { environment: python_environment, host_header: 'public' })
  }
  if (/\bflask\b/.test(text)) {
    const module = (await findModule(/Flask\(|create_app/)) ?? 'app'
    const command = [...interpreter, '-m', 'flask', '--app', module, 'run', '--host', '127.0.0.1', '--port', '{port}']
    // Flask: the debugger's console knows localhost alone (TRUSTED_HOSTS of Werkzeug).
    // FLASK_DEBUG reloads in every version; `run --debug` is missing in those before 2.2.3.
    return plan('flask', 'Flask', command, 'Flask found', { environment: { ...python_environment, FLASK_DEBUG: '1' } })
  }
  if (/\bstreamlit\b/.test(text)) {
    const file = ['app.py', 'main.py', 'streamlit_app.py'].find((name) => names.has(name)) ?? 'app.py'
    const options = ['--server.port', '{port}', '--server.address', '127.0.0.1', '--server.headless', 'true', '--server.runOnSave', 'true']
    // Streamlit: its socket compares Origin with Host.
    return plan('streamlit', 'Streamlit', [...interpreter, '-m', 'streamlit', 'run', file, ...options], 'Streamlit found')
  }
  return null
}

async function rails(source: SourceFolder, names: ReadonlySet<string>): Promise<DevServerPlan | null> {
  if (!names.has('Gemfile') || !/^\s*gem\s+['"]rails['"]/m.test((await source.read('Gemfile')) ?? '')) return null
  const withProcesses = names.has('Procfile.dev') && (await source.has('bin/dev'))
  const command = withProcesses ? ['bin/dev'] : ['bin/rails', 'server', '--port', '{port}', '--binding', '127.0.0.1']
  // Rails: `config.hosts` checks Host and X-Forwarded-Host; forms compare Origin with X-Forwarded-Proto and -Host, so all stay as the browser sent them.
  return plan('rails', 'Rails', command, `Rails found (${withProcesses ? 'bin/dev' : 'bin/rails'})`, {
    environment: { RAILS_DEVELOPMENT_HOSTS: '.localhost' },
    host_header: 'public',
  })
}

async function phoenix(source: SourceFolder): Promise<DevServerPlan | null> {
  if (!/:phoenix\b/.test((await source.read('mix.exs')) ?? '')) return null
  // Phoenix: `check_origin` is off in config/dev.exs.
  return plan('phoenix', 'Phoenix', ['mix', 'phx.server'], 'Phoenix found (mix.exs)', { host_header: 'public' })
}

async function laravel(_source: SourceFolder, names: ReadonlySet<string>): Promise<DevServerPlan | null> {
  if (!names.has('artisan')) return null
  // Laravel: PHP_CLI_SERVER_WORKERS, because its page waits for its own assets; artisan passes on only some variables unless --no-reload is given.
  return plan('laravel', 'Laravel', ['php', 'artisan', 'serve', '--host=127.0.0.1', '--port={port}'], 'Laravel found (artisan)', {
    host_header: 'public',
  })
}

async function go(source: SourceFolder, names: ReadonlySet<string>): Promise<DevServerPlan | null> {
  if (!names.has('go.mod')) return null
  if (names.has('.air.toml')) return plan('go', 'Go', ['air'], 'Go found (.air.toml): reloaded by air')
  const commands = names.has('cmd/') ? (await source.list('cmd')).filter((name) => name.endsWith('/')) : []
  const target = names.has('main.go') || commands.length !== 1 ? '.' : `./cmd/${commands[0]?.slice(0, -1)}`
  return plan('go', 'Go', ['go', 'run', target], 'Go found (go.mod): add .air.toml to reload after each change')
}

async function dotnet(_source: SourceFolder, names: ReadonlySet<string>): Promise<DevServerPlan | null> {
  if (![...names].some((name) => /\.(?:cs|fs)proj$/.test(name))) return null
  return plan('dotnet', '.NET', ['dotnet', 'watch', 'run', '--urls', 'http://127.0.0.1:{port}'], '.NET found', {
    environment: { DOTNET_WATCH_SUPPRESS_LAUNCH_BROWSER: '1', ASPNETCORE_ENVIRONMENT: 'Development' },
  })
}

async function deno(source: SourceFolder, names: ReadonlySet<string>): Promise<DevServerPlan | null> {
  const file = ['deno.json', 'deno.jsonc'].find((name) => names.has(name))
  if (file === undefined || !/"dev"\s*:/.test((await source.read(file)) ?? '')) return null
  return plan('deno', 'Deno', ['deno', 'task', 'dev'], `Deno found (the task dev in ${file})`)
}
