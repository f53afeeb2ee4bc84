import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { describeSource, type DescribeOptions } from '../../server/builder/index.ts'
import type { PlannedSource } from '../../server/contract/source-plans.ts'
import { needs } from './plan-of.ts'

let folder: string
beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), 'homeport-describe-'))))
afterEach(() => rm(folder, { recursive: true, force: true }))

async function describeFiles(
  files: Record<string, string>,
  { settings = {}, ...more }: Partial<Omit<DescribeOptions, 'settings'>> & { settings?: object } = {},
) {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), text)
  }
  return describeSource({
    folder,
    settings: { node_version: 'auto', install_command: 'auto', build_command: 'auto', root_directory: '.', ...settings },
    variables: [],
    health_path: '/',
    schema_url: 'http://localhost/schema.json',
    ...more,
  })
}

/** `name: value (origin)` of every fact. */
const list = (plan: Pick<PlannedSource, 'services' | 'builds' | 'facts'>) =>
  [...plan.services.flatMap(({ facts }) => facts), ...plan.builds.flatMap(({ facts }) => facts), ...plan.facts].map(
    ({ name, value, origin }) => `${name}: ${value} (${origin})`,
  )

const express = needs({ express: '5' }, { scripts: { start: 'node server.js', build: 'tsc' } })

describe('the source of each detected value', () => {
  test('for a Node app is its script, version file, lock file, or a default', async () => {
    const plan = await describeFiles({ 'package.json': express, '.nvmrc': '22', 'pnpm-lock.yaml': "lockfileVersion: '9.0'" })
    expect(list(plan)).toEqual([
      'port: PORT (default)',
      'health_check: GET / (default)',
      'framework: express (express 5 in package.json)',
      'node_version: 22 (.nvmrc)',
      'package_manager: pnpm 10 (pnpm-lock.yaml)',
      'install_command: pnpm install --frozen-lockfile --prod=false (pnpm-lock.yaml)',
      'build_command: pnpm run build (package.json scripts.build)',
      'start_command: node server.js (package.json scripts.start)',
    ])
    expect(plan).toMatchObject({ file: null, problems: [], services: [{ name: 'web', kind: 'web', is_main: true, build: 0 }], apps: [] })
  })

  test('is the project setting, or the file and line that sets it', async () => {
    const settings = { node_version: '20', build_command: 'make', install_command: 'npm i' }
    expect(list(await describeFiles({ 'package.json': express }, { settings, health_path: '/up' }))).toEqual([
      'port: PORT (default)',
      'health_check: GET /up (project setting)',
      'framework: express (express 5 in package.json)',
      'node_version: 20 (project setting)',
      'package_manager: npm (no lock file)',
      'install_command: npm i (project setting)',
      'build_command: make (project setting)',
      'start_command: node server.js (package.json scripts.start)',
    ])
    const file = 'services:\n  web:\n    port: 4000\n    healthcheck: /ok\nbuild_command: make all\nwatch_paths:\n  - src\nrelease: make migrate\n'
    expect(list(await describeFiles({ 'homeport.yaml': file }, { settings }))).toEqual([
      'port: 4000 (homeport.yaml line 3)',
      'health_check: GET /ok (homeport.yaml line 4)',
      'framework: express (express 5 in package.json)',
      'node_version: 20 (project setting)',
      'package_manager: npm (no lock file)',
      'install_command: npm i (project setting)',
      'build_command: make all (homeport.yaml line 5)',
      'start_command: node server.js (package.json scripts.start)',
      'release_command: make migrate (homeport.yaml line 8)',
      'setting: build_command: make all (homeport.yaml line 5)',
      'setting: watch_paths: src (homeport.yaml line 6)',
    ])
  })

  test.each([
    ['start without a script', { 'package.json': needs({ next: '16' }) }, 'start_command: npm exec -- next start (default of nextjs)'],
    ['main', { 'package.json': needs({}, { main: 'app.js' }), 'app.js': '' }, 'start_command: node app.js (package.json main)'],
    [
      'engines',
      { 'package.json': needs({ koa: '3' }, { main: 'a.js', engines: { node: '20' } }), 'a.js': '' },
      'node_version: 20 (package.json engines.node)',
    ],
    ['a Procfile', { 'package.json': express, Procfile: 'web: node x.js\nworker: node w.js' }, 'start_command: node w.js (Procfile line 2)'],
    ['a Dockerfile', { Dockerfile: 'FROM a\nEXPOSE 80\nCMD ["x"]' }, 'start_command: ["x"] (Dockerfile line 3)'],
    ['a generated Dockerfile', { 'go.mod': 'module x\ngo 1.24', 'main.go': '' }, 'tool: go >=1.24 (go.mod)'],
    ['a static site', { 'site/index.html': '' }, 'output_directory: site (index.html)'],
  ])('for %s', async (_, files: Record<string, string>, fact) => {
    expect(list(await describeFiles(files, fact.includes('site (') ? { settings: { root_directory: 'site' } } : {}))).toContain(fact)
  })
})

test('the start command of a build is listed if a service uses it', async () => {
  const describeCommands = async (worker: string) => {
    const file = `services:\n  web: { command: node web.js }\n  worker: { build: .${worker} }\n`
    return list(await describeFiles({ 'package.json': express, 'homeport.yaml': file })).filter((fact) => fact.startsWith('start_command'))
  }
  const web = 'start_command: node web.js (homeport.yaml line 2)'
  expect(await describeCommands('')).toEqual([web, 'start_command: node server.js (package.json scripts.start)'])
  expect(await describeCommands(', command: node w.js')).toEqual([web, 'start_command: node w.js (homeport.yaml line 3)'])
})

test('services are listed with their connections, volumes, schedules and missing variables', async () => {
  const plan = await describeFiles(
    {
      Dockerfile: 'FROM scratch',
      'homeport.yaml': `services:
  web:
    depends_on: [db]
    volumes: [files:/files]
  nightly:
    command: x
    schedule: "0 3 * * *"
  db:
    image: postgres:16
    volumes: [data:/data]
volumes: { files: {}, data: {} }
required_variables: [KEY, OTHER]
`,
    },
    { variables: ['KEY'] },
  )
  expect(plan).toMatchObject({
    file: 'homeport.yaml',
    missing_variables: ['OTHER'],
    services: [
      { name: 'web', kind: 'web', is_main: true, depends_on: ['db'], volumes: ['files'], build: 0 },
      {
        name: 'nightly',
        kind: 'cron',
        facts: expect.arrayContaining([{ name: 'schedule', value: '0 3 * * *, UTC', origin: 'homeport.yaml line 7' }]),
      },
      { name: 'db', kind: 'image', build: null, volumes: ['data'] },
    ],
    builds: [{ services: ['web', 'nightly'], dockerfile: { path: 'Dockerfile', text: 'FROM scratch', is_generated: false } }],
  })
})

test('problems name the file and the line', async () => {
  const plan = await describeFiles({ 'homeport.yaml': 'services:\n  web:\n    prot: 80\n' })
  expect(plan).toMatchObject({ file: 'homeport.yaml', services: [], homeport_yaml: null, problems: [{ file: 'homeport.yaml', line: 3 }] })
})

const monorepo = {
  'package.json': '{"private":true,"workspaces":["apps/*","packages/*"]}',
  'apps/web/package.json': JSON.stringify({ name: '@x/web', dependencies: { next: '16' } }),
  'apps/api/package.json': JSON.stringify({ name: '@x/api', dependencies: { fastify: '5' }, scripts: { start: 'node a.js' } }),
  'packages/ui/package.json': JSON.stringify({ name: '@x/ui', devDependencies: { vite: '8' }, scripts: { build: 'vite build' } }),
  'packages/config/package.json': '{"name":"@x/config"}',
  'tools/worker/go.mod': 'module worker\ngo 1.24',
  'tools/worker/main.go': '',
  'node_modules/x/package.json': '{"scripts":{"start":"x"}}',
}

describe('a repository with several apps', () => {
  test('lists them without libraries', async () => {
    const plan = await describeFiles(monorepo)
    expect(plan.problems).toHaveLength(1)
    expect(plan.apps).toEqual([
      { directory: 'apps/api', name: '@x/api', framework: 'fastify' },
      { directory: 'apps/web', name: '@x/web', framework: 'nextjs' },
      { directory: 'tools/worker', name: 'worker', framework: 'go' },
    ])
    expect(await describeFiles({}, { settings: { root_directory: 'apps/web' } })).toMatchObject({
      problems: [],
      apps: [],
      builds: [{ framework: 'nextjs' }],
    })
  })

  test('plans several as services of one project, and writes them to a file', async () => {
    const plan = await describeFiles(monorepo, { chosen_apps: ['apps/api', 'apps/web'] })
    expect(plan.services.map(({ name, is_main }) => [name, is_main])).toEqual([
      ['api', false],
      ['web', true],
    ])
    expect(plan.homeport_yaml).toMatch(/ {2}api:\n {4}build: apps\/api\n {4}public: true/)
    const read = await describeFiles({ 'homeport.yaml': plan.homeport_yaml ?? '' })
    expect(read).toMatchObject({ file: 'homeport.yaml', problems: [], apps: [], services: [{ name: 'api' }, { name: 'web', is_main: true }] })
    expect((await describeFiles({}, { chosen_apps: ['../outside'] })).problems[0]?.message).toMatch(/outside of the source/)
  })
})
