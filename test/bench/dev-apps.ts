import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'

/** A project with a development server, and the edit that is measured. */
export interface DevApp {
  name: string
  /** Its source: a folder of `test/apps`, or files. */
  source: string | Record<string, string>
  /** The file that is edited, and the text that an edit replaces. */
  file: string
  find: string
  /** The command, if none is detected in the folder. */
  command?: string[]
  /** The server does not reload the page by itself, so the page is loaded until it shows the edit. */
  is_reloaded?: boolean
  /** The program that it requires on the machine, and how to detect it. */
  needs?: string[]
}

const python = 'import django, flask'
export const devApps: DevApp[] = [
  { name: 'vite-react', source: 'vite-react', file: 'src/App.tsx', find: 'Count is {count}' },
  { name: 'vite-vue', source: 'vite-vue', file: 'src/App.vue', find: 'Welcome to Vite and Vue' },
  { name: 'vite-solid', source: 'vite-solid', file: 'src/App.tsx', find: 'Count is {count()}' },
  { name: 'sveltekit', source: 'sveltekit', file: 'src/routes/+page.svelte', find: 'Welcome to SvelteKit' },
  { name: 'nextjs', source: 'nextjs', file: 'app/page.tsx', find: 'Rendered by Next.js' },
  { name: 'nuxt', source: 'nuxt', file: 'app/app.vue', find: 'Welcome to Nuxt' },
  { name: 'astro', source: 'astro', file: 'src/pages/index.astro', find: 'Welcome to Astro' },
  { name: 'angular', source: 'angular', file: 'src/app/app.html', find: 'Welcome to {{ title() }}' },
  { name: 'react-router', source: 'react-router', file: 'app/routes/home.tsx', find: 'Welcome to React Router' },
  {
    name: 'express',
    source: 'express',
    file: 'routes/index.js',
    find: "title: 'Express'",
    command: ['node', '--watch', 'bin/www'],
    is_reloaded: true,
  },
  {
    name: 'flask',
    source: {
      'requirements.txt': 'flask\n',
      'app.py': 'from flask import Flask\n\napp = Flask(__name__)\n\n\n@app.get("/")\ndef index():\n    return "Welcome to Flask"\n',
    },
    file: 'app.py',
    find: 'Welcome to Flask',
    is_reloaded: true,
    needs: ['/usr/bin/python3', '-c', python],
  },
  {
    name: 'django',
    source: {
      'manage.py':
        'import os, sys\n\nos.environ.setdefault("DJANGO_SETTINGS_MODULE", "site_settings")\nfrom django.core.management import execute_from_command_line\n\nexecute_from_command_line(sys.argv)\n',
      'site_settings.py': 'SECRET_KEY = "of a test"\nDEBUG = True\nROOT_URLCONF = "urls"\nINSTALLED_APPS = []\n',
      'urls.py':
        'from django.http import HttpResponse\nfrom django.urls import path\n\nurlpatterns = [path("", lambda request: HttpResponse("Welcome to Django"))]\n',
    },
    file: 'urls.py',
    find: 'Welcome to Django',
    is_reloaded: true,
    needs: ['/usr/bin/python3', '-c', python],
  },
]

const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'homeport-ci', 'dev-apps')

/** The folder of an app with its packages, which are installed once. Throws with the reason if they are not available. */
export function prepareDevApp({ name, source, needs }: DevApp): string {
  const folder = join(cache, name)
  if (needs)
    try {
      execFileSync(needs[0] ?? '', needs.slice(1), { stdio: 'pipe' })
    } catch {
      throw new Error(`not installed: ${needs.join(' ')} fails`)
    }
  mkdirSync(folder, { recursive: true })
  if (typeof source === 'string')
    cpSync(join(import.meta.dirname, '../apps', source), folder, { recursive: true, filter: (path) => !/\/(yarn\.lock|pnpm-lock\.yaml)$/.test(path) })
  else
    for (const [path, text] of Object.entries(source)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), text)
    }
  useNpm(folder)
  if (existsSync(join(folder, 'package.json')) && !existsSync(join(folder, 'node_modules'))) {
    // npm reads no lock file of another package manager.
    const command = existsSync(join(folder, 'package-lock.json')) ? 'ci' : 'install'
    try {
      execFileSync('npm', [command, '--no-audit', '--no-fund', '--loglevel=error'], { cwd: folder, stdio: 'pipe' })
    } catch (error) {
      rmSync(join(folder, 'node_modules'), { recursive: true, force: true })
      throw error
    }
  }
  return folder
}

/** Other package managers may not be installed, and a project that names one would be started with it. */
function useNpm(folder: string): void {
  const path = join(folder, 'package.json')
  if (!existsSync(path)) return
  const { packageManager: _, ...rest } = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>
  writeFileSync(path, `${JSON.stringify(rest, null, 2)}\n`)
}

/** Saves the file with this text in place of the edited one. */
export function createEditor({ file, find }: DevApp, folder: string): { edit(text: string): void; restore(): void } {
  const path = join(folder, file)
  const original = readFileSync(path, 'utf8')
  if (!original.includes(find)) throw new Error(`${path} has no ${find}`)
  const isTitle = find.startsWith('title: ')
  return {
    edit: (text) => writeFileSync(path, original.replace(find, isTitle ? `title: '${text}'` : text)),
    restore: () => writeFileSync(path, original),
  }
}
