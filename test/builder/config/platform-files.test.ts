import { describe, expect, test } from 'vitest'
import { fillEnvironment } from '../../../server/contract/environment-template.ts'
import { planSource, readProjectConfig } from '../../../server/builder/index.ts'
import { problemsOf, serviceOf, useSource } from './read-source.ts'

const createSource = useSource()
const read = async (files: Record<string, string>) => readProjectConfig(await createSource(files))
const kinds = (services: { name: string; kind: string; command: string[] | null }[]) =>
  services.map(({ name, kind, command }) => [name, kind, command])

describe('Procfile', () => {
  test('web, release and workers', async () => {
    const config = await read({
      Procfile:
        '# processes\nweb: gunicorn app:app --bind :$PORT\nrelease: python manage.py migrate && true\nworker: celery -A app worker\nClock: python clock.py\n\nnonsense\n',
    })
    expect(config).toMatchObject({
      file: 'Procfile',
      main: 'web',
      release: { service: 'web', command: ['/bin/sh', '-c', 'python manage.py migrate && true'] },
    })
    expect(kinds(config.services)).toEqual([
      ['web', 'web', null],
      ['worker', 'worker', ['celery', '-A', 'app', 'worker']],
      ['clock', 'worker', ['python', 'clock.py']],
    ])
    expect(config.explanation.join('\n')).toMatch(/Procfile line 7: it is not NAME: COMMAND/)
  })

  test('a bot has only a worker, whose image starts it', async () => {
    const folder = await createSource({ Procfile: 'worker: python bot.py', 'requirements.txt': 'discord.py', 'bot.py': '' })
    expect(await readProjectConfig(folder)).toMatchObject({ main: null, services: [{ name: 'worker', kind: 'worker', is_public: false }] })
    const settings = { node_version: 'auto', install_command: 'auto', build_command: 'auto', root_directory: '.' }
    const [build] = (await planSource({ folder, settings })).builds
    expect(build?.plan.work).toMatchObject({ kind: 'dockerfile', text: expect.stringContaining('python bot.py') })
  })

  test('without web, the start script serves requests', async () => {
    const config = await read({ Procfile: 'worker: node w.js', 'package.json': '{ "scripts": { "start": "node a.js" } }' })
    expect(config.main).toBe('web')
    expect(kinds(config.services)).toEqual([
      ['worker', 'worker', ['node', 'w.js']],
      ['web', 'web', null],
    ])
  })

  test('app.json adds variables, numbers and cron jobs', async () => {
    const config = await read({
      Procfile: 'web: node a.js\nworker: node w.js\nidle: node i.js',
      'app.json': JSON.stringify({
        env: { SECRET: { generator: 'secret' }, KEY: { description: 'x' }, MODE: 'fast', LEVEL: { value: '3' }, OPT: { required: false } },
        formation: { worker: { quantity: 3 }, idle: { quantity: 0 } },
        scripts: { postdeploy: 'node seed.js' },
        addons: ['heroku-postgresql:mini'],
        cron: [{ command: 'node clean.js', schedule: '@daily' }],
      }),
    })
    expect(config.required_variables).toEqual(['SECRET', 'KEY'])
    expect(config.services.map(({ name, kind, replicas, schedule }) => [name, kind, replicas, schedule])).toEqual([
      ['web', 'web', null, null],
      ['worker', 'worker', 3, null],
      ['cron-1', 'cron', null, '0 0 * * *'],
    ])
    expect(fillEnvironment(serviceOf(config, 'web'), { MODE: 'slow' })).toEqual({ MODE: 'slow', LEVEL: '3' })
    const explanation = config.explanation.join('\n')
    expect(explanation).toMatch(/script “postdeploy” is not run/)
    expect(explanation).toMatch(/“heroku-postgresql:mini” is not added\. homeport db create SLUG/)
    expect(explanation).toMatch(/“idle” is not started/)
  })

  test('refuses a process that is listed twice', async () => {
    expect(await problemsOf(await createSource({ Procfile: 'web: a\nw: b\nW: c' }))).toEqual([
      expect.stringMatching(/^3: “W” is not a valid name of a process/),
    ])
  })
})

test('fly.toml', async () => {
  const config = await read({
    'Dockerfile.fly': 'FROM scratch',
    'fly.toml': `app = "shop"
[build]
  dockerfile = "Dockerfile.fly"
  build-target = "prod"
  [build.args]
    MODE = "fast"
[env]
  LOG = "info"
  PORT = "8080"
[processes]
  app = "node server.js"
  worker = "node worker.js --queue $QUEUE"
[http_service]
  internal_port = 8080
  processes = ["app"]
  [[http_service.checks]]
    path = "/healthz"
    grace_period = "1m30s"
    interval = "15s"
[[services]]
  internal_port = 9090
  processes = ["app"]
  [[services.ports]]
    port = 9090
    handlers = ["http"]
[[services]]
  internal_port = 5432
  processes = ["app"]
[[mounts]]
  source = "data"
  destination = "/data"
  processes = ["app"]
[deploy]
  release_command = "node migrate.js"
[[vm]]
  memory = "512mb"
  cpus = 1
[[statics]]
  guest_path = "/app/public"
`,
  })
  expect(config).toMatchObject({ main: 'app', release: { service: 'app', command: ['node', 'migrate.js'] } })
  const source = { kind: 'build', directory: '.', dockerfile: 'Dockerfile.fly', target: 'prod', arguments: { MODE: 'fast' } }
  expect(serviceOf(config, 'app')).toMatchObject({
    kind: 'web',
    port: 8080,
    memory_mb: 512,
    source,
    environment: { LOG: 'info' },
    volumes: [{ name: 'data', path: '/data' }],
    health_check: { kind: 'path', path: '/healthz', timeout_s: 150 },
    ports: [9090],
  })
  expect(serviceOf(config, 'worker')).toMatchObject({
    kind: 'worker',
    source,
    volumes: [],
    command: ['/bin/sh', '-c', 'node worker.js --queue $QUEUE'],
  })
  expect(config.explanation.join('\n')).toMatch(/fly\.toml line 38: “statics” has no effect here/)
  expect(config.explanation.join('\n')).toMatch(/fly\.toml line \d+: an additional service has no effect/)
})

test.each([
  ['grace_period = 5000', '', 65],
  ['grace_period = "30m"', '', 600],
  ['grace_period = "1s"', 'wait_timeout = "2m"', 120],
  ['', 'wait_timeout = "1s"', 5],
  ['', '', undefined],
])('fly.toml with %j and %j sets a health check timeout of %s s', async (check, deploy, timeout_s) => {
  const text = `[http_service]\ninternal_port = 80\n[[http_service.checks]]\npath = "/up"\n${check}\n[deploy]\n${deploy}\n`
  const { services } = await read({ 'fly.toml': text })
  expect(services[0]?.health_check).toEqual({ kind: 'path', path: '/up', ...(timeout_s && { timeout_s }) })
})

test.each(['railway.json', 'railway.toml'])('%s', async (file) => {
  const json = {
    build: { builder: 'NIXPACKS', buildCommand: 'npm run build' },
    deploy: {
      startCommand: 'node server.js',
      preDeployCommand: ['npm run migrate'],
      healthcheckPath: '/up',
      healthcheckTimeout: 300,
      numReplicas: 2,
      sleepApplication: true,
    },
  }
  const toml = `[build]\nbuildCommand = "npm run build"\n[deploy]\nstartCommand = "node server.js"\npreDeployCommand = ["npm run migrate"]\nhealthcheckPath = "/up"\nhealthcheckTimeout = 300\nnumReplicas = 2\nsleepApplication = true\n`
  const config = await read({ [file]: file.endsWith('json') ? JSON.stringify(json, null, '\t') : toml })
  expect(config).toMatchObject({
    main: 'web',
    settings: { build_command: 'npm run build' },
    release: { service: 'web', command: ['npm', 'run', 'migrate'] },
    services: [{ command: ['node', 'server.js'], replicas: 2, health_check: { path: '/up', timeout_s: 300 } }],
  })
  expect(config.explanation.join('\n')).toMatch(/line \d+: deploy: “sleepApplication” has no effect here/)
})

test('a cron job of railway.json', async () => {
  const config = await read({ 'railway.json': '{ "deploy": { "startCommand": "node clean.js", "cronSchedule": "*/5 * * * *" } }' })
  expect(config).toMatchObject({ main: null, services: [{ kind: 'cron', schedule: '*/5 * * * *', is_public: false }] })
})

test('netlify.toml', async () => {
  const config = await read({
    'site/index.html': 'x',
    'netlify.toml': `[build]\nbase = "site"\ncommand = "npm run docs"\npublish = "out"\n[build.environment]\nNODE_VERSION = "22"\nCI = "1"\n[[redirects]]\nfrom = "/a"\nto = "/b"\n[context.production]\ncommand = "x"\n`,
  })
  expect(config).toMatchObject({
    main: 'web',
    settings: { build_command: 'npm run docs', node_version: '22', root_directory: 'site' },
    services: [{ source: { directory: 'site' }, environment_templates: { CI: [{ variable: 'CI' }] } }],
  })
  const explanation = config.explanation.join('\n')
  expect(explanation).toMatch(/line 4: publish has no effect here/)
  expect(explanation).toMatch(/line 8: “redirects” has no effect here\. Write them into a file _redirects/)
  expect(explanation).toMatch(/line 11: “context” has no effect here/)
})

test('vercel.json', async () => {
  const text = JSON.stringify({
    buildCommand: 'next build',
    outputDirectory: 'out',
    rewrites: [{ source: '/a', destination: '/b' }],
    crons: [{ path: '/api/clean?x=1', schedule: '0 5 * * *' }],
  })
  const config = await read({ 'vercel.json': text, 'package.json': '{ "dependencies": { "next": "15" } }' })
  expect(config).toMatchObject({ main: 'web', settings: { build_command: 'next build' } })
  expect(serviceOf(config, 'web').port).toBe(3000)
  expect(serviceOf(config, 'cron-1')).toMatchObject({ kind: 'cron', schedule: '0 5 * * *' })
  expect(serviceOf(config, 'cron-1').command?.at(-1)).toBe('http://web:3000/api/clean?x=1')
  expect(config.explanation.join('\n')).toMatch(/“rewrites” has no effect here/)
  expect(await read({ 'vercel.json': text })).toMatchObject({ services: [{ name: 'web', port: null }] })
})

test('ignores an app.json of Expo', async () => {
  expect((await read({ 'app.json': '{ "expo": { "name": "x" } }' })).file).toBeNull()
})

test('precedence: homeport.yaml, compose.yaml, Procfile, the others', async () => {
  const files = { 'homeport.yaml': '', 'compose.yaml': 'services: { web: { build: . } }', Procfile: 'web: x', 'fly.toml': '', 'vercel.json': '{}' }
  const found: (string | null)[] = []
  for (const name of [null, ...Object.keys(files)]) {
    if (name !== null) delete files[name as keyof typeof files]
    found.push((await read(files)).file)
  }
  expect(found).toEqual(['homeport.yaml', 'compose.yaml', 'Procfile', 'fly.toml', 'vercel.json', null])
})

test.each([
  ['fly.toml', '[build\n', /^1: The syntax is not valid/],
  ['vercel.json', '{ "a": 1,, }', /^1: Column \d+/],
  ['netlify.toml', `a = ${'['.repeat(5000)}`, /The syntax is not valid/],
])('%s with invalid syntax', async (file, text, expected) => {
  expect(await problemsOf(await createSource({ [file]: text }))).toEqual([expect.stringMatching(expected)])
})
