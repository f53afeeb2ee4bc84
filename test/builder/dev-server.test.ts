import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { detectDevServer } from '../../server/builder/index.ts'
import { createTempFolder } from '../support/instance-process.ts'

const folder = createTempFolder('dev-server')
afterAll(() => folder.remove())
let count = 0

function write(files: Record<string, string>): string {
  const path = join(folder.path, String(++count))
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(path, name)), { recursive: true })
    writeFileSync(join(path, name), text)
  }
  return path
}
const withScripts = (scripts: Record<string, string>, dependencies: Record<string, string> = {}) => ({
  'package.json': JSON.stringify({ name: 'x', scripts, dependencies }),
})

describe('package.json', () => {
  test.each([
    ['vite', 'vite', ['npm', 'run', 'dev', '--', '--port', '{port}', '--strictPort', '--host', '127.0.0.1'], 'localhost'],
    ['next dev --turbopack', 'nextjs', ['npm', 'run', 'dev', '--', '--port', '{port}', '--hostname', '127.0.0.1'], 'public'],
    ['nuxt dev', 'nuxt', ['npm', 'run', 'dev', '--', '--port', '{port}', '--host', '127.0.0.1'], 'localhost'],
    ['astro dev', 'astro', ['npm', 'run', 'dev', '--', '--port', '{port}', '--host', '127.0.0.1'], 'localhost'],
    ['react-router dev', 'react-router', ['npm', 'run', 'dev', '--', '--port', '{port}', '--strictPort', '--host', '127.0.0.1'], 'public'],
    ['tsc -b && vite', 'vite', ['npm', 'run', 'dev', '--', '--port', '{port}', '--strictPort', '--host', '127.0.0.1'], 'localhost'],
    // Another program starts it, and would not pass on arguments.
    ['concurrently "vite" "node server.js"', 'vite', ['npm', 'run', 'dev'], 'localhost'],
    ['node --watch server.js', 'node', ['npm', 'run', 'dev'], 'localhost'],
    ['./run-everything', null, ['npm', 'run', 'dev'], 'localhost'],
  ])('%s', async (script, framework, command, host_header) => {
    expect(await detectDevServer(write(withScripts({ dev: script })))).toMatchObject({ framework, command, host_header, port: null })
  })

  test('a port in the script is used', async () => {
    const plan = await detectDevServer(write(withScripts({ dev: 'vite --port 3000' })))
    expect(plan).toMatchObject({ port: 3000, command: ['npm', 'run', 'dev'] })
  })

  test('SvelteKit is detected, although its script is that of Vite', async () => {
    expect(await detectDevServer(write(withScripts({ dev: 'vite dev' }, { '@sveltejs/kit': '2' })))).toMatchObject({ framework: 'sveltekit' })
  })

  test('pnpm gets arguments without --', async () => {
    const plan = await detectDevServer(write({ ...withScripts({ dev: 'vite' }), 'pnpm-lock.yaml': '' }))
    expect(plan?.command.slice(0, 4)).toEqual(['pnpm', 'run', 'dev', '--port'])
  })

  test('start is used only if it runs a development server', async () => {
    expect(await detectDevServer(write(withScripts({ start: 'react-scripts start' })))).toMatchObject({
      framework: 'create-react-app',
      environment: { WDS_SOCKET_PORT: '0' },
    })
    expect(await detectDevServer(write(withScripts({ start: 'node server.js' })))).toBeNull()
  })
})

describe('other languages', () => {
  test('Django, with the interpreter of its virtual environment', async () => {
    const files = { 'manage.py': 'os.environ["DJANGO_SETTINGS_MODULE"]', 'venv/bin/python': '', 'package.json': '{"scripts":{"dev":"vite"}}' }
    expect(await detectDevServer(write(files))).toMatchObject({
      framework: 'django',
      command: ['venv/bin/python', 'manage.py', 'runserver', '127.0.0.1:{port}'],
    })
  })

  test.each([
    [{ 'requirements.txt': 'flask', 'main.py': 'from flask import Flask\nserver = Flask(__name__)' }, 'flask', '--app main run --host'],
    [{ 'requirements.txt': 'fastapi', 'app/main.py': 'from fastapi import FastAPI\napi = FastAPI()' }, 'fastapi', 'uvicorn app.main:api --reload'],
    [{ Gemfile: "gem 'rails'" }, 'rails', 'bin/rails server --port {port}'],
    [{ 'go.mod': 'module x', '.air.toml': '' }, 'go', 'air'],
    [{ 'go.mod': 'module x', 'cmd/web/main.go': '' }, 'go', 'go run ./cmd/web'],
    [{ 'mix.exs': '{:phoenix, "~> 1.7"}' }, 'phoenix', 'mix phx.server'],
    [{ artisan: '' }, 'laravel', 'php artisan serve'],
  ])('%j', async (files, framework, command) => {
    const plan = await detectDevServer(write(files))
    expect([plan?.framework, plan?.command.join(' ')]).toEqual([framework, expect.stringContaining(command)])
  })

  test('null without a development server', async () => {
    expect(await detectDevServer(write({ 'index.html': '' }))).toBeNull()
  })
})

describe('explicit commands', () => {
  test('homeport.yaml overrides package.json', async () => {
    const files = { ...withScripts({ dev: 'vite' }), 'homeport.yaml': 'dev: { command: make watch, port: 8000 }' }
    expect(await detectDevServer(write(files))).toMatchObject({ command: ['make', 'watch'], port: 8000, explanation: 'Started by homeport.yaml' })
  })

  test('a command on the command line overrides both, and gets the port the way its framework expects', async () => {
    const plan = await detectDevServer(write({ 'homeport.yaml': 'dev: make' }), ['npx', 'next', 'dev', '-p', '4000'])
    expect(plan).toMatchObject({ command: ['npx', 'next', 'dev', '-p', '4000'], port: 4000, host_header: 'public' })
  })
})
