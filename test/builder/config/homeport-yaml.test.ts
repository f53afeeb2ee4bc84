import { describe, expect, test } from 'vitest'
import { readProjectConfig } from '../../../server/builder/index.ts'
import { problemsOf, serviceOf, useSource } from './read-source.ts'

const createSource = useSource()
const read = async (text: string, files: Record<string, string> = {}) => readProjectConfig(await createSource({ 'homeport.yaml': text, ...files }))
const problems = async (text: string, files: Record<string, string> = {}) => problemsOf(await createSource({ 'homeport.yaml': text, ...files }))

/** The example of the guide. */
const example = `services:
  web:     { build: ., command: node server.js, port: 3000, healthcheck: /healthz, replicas: 2, environment: { LOG: info } }
  worker:  { build: ., command: node worker.js }
  nightly: { build: ., command: node clean.js, schedule: "0 3 * * *" }
  cache:   { image: "redis:7", volumes: ["cache:/data"] }
release:   npm run migrate
volumes:   { cache: {} }
`

describe('homeport.yaml', () => {
  test('parses the example of the guide', async () => {
    const config = await read(example)
    expect(config).toMatchObject({
      file: 'homeport.yaml',
      main: 'web',
      release: { service: 'web', command: ['npm', 'run', 'migrate'] },
      required_variables: [],
      settings: {},
    })
    expect(config.services.map(({ name, kind, is_public, command }) => ({ name, kind, is_public, command }))).toEqual([
      { name: 'web', kind: 'web', is_public: true, command: ['node', 'server.js'] },
      { name: 'worker', kind: 'worker', is_public: false, command: ['node', 'worker.js'] },
      { name: 'nightly', kind: 'cron', is_public: false, command: ['node', 'clean.js'] },
      { name: 'cache', kind: 'image', is_public: false, command: null },
    ])
    expect(serviceOf(config, 'web')).toMatchObject({
      port: 3000,
      replicas: 2,
      environment: { LOG: 'info' },
      health_check: { kind: 'path', path: '/healthz' },
      source: { kind: 'build', directory: '.', dockerfile: null },
    })
    expect(serviceOf(config, 'nightly')).toMatchObject({ schedule: '0 3 * * *', time_zone: null })
    expect(serviceOf(config, 'cache')).toMatchObject({
      source: { kind: 'image', image: 'redis:7' },
      volumes: [{ name: 'cache', path: '/data', is_read_only: false }],
    })
  })

  test('additional ports, and the health check timeout', async () => {
    const { services, explanation } = await read(
      'services: { web: { port: 80, ports: [9090, "9091", 80, 9090], healthcheck: { path: /up, timeout: 2m, interval: 5s } }, api: { port: 81, healthcheck: { path: /up } } }',
    )
    expect(services).toMatchObject([
      { ports: [9090, 9091], health_check: { kind: 'path', path: '/up', timeout_s: 120, interval_s: 5 } },
      { health_check: { kind: 'path', path: '/up' } },
    ])
    expect(Object.keys(services[1] ?? {})).not.toContain('ports')
    expect(explanation.join('\n')).toContain('additional ports 9090, 9091, each with an address')
    expect((await read('public_ports: [9090]')).settings).toEqual({ public_ports: [9090] })
  })

  test('a source without a file has no services', async () => {
    expect(await readProjectConfig(await createSource({ 'index.html': 'hi' }))).toMatchObject({ file: null, services: [], main: null })
  })

  test('settings alone describe one web service', async () => {
    const config = await read(
      'node_version: 22\nmemory_limit_mb: 256\nalways_warm: true\nbuild_command: npm run make\nrequired_variables: [STRIPE_KEY]',
    )
    expect(config.settings).toEqual({ node_version: '22', memory_limit_mb: 256, always_warm: true, build_command: 'npm run make' })
    expect(config).toMatchObject({ main: 'web', required_variables: ['STRIPE_KEY'] })
    expect(config.services).toMatchObject([{ name: 'web', kind: 'web', is_public: true, source: { kind: 'build', directory: '.' } }])
  })

  test.each([
    ['node server.js --port 3000', ['node', 'server.js', '--port', '3000']],
    ['node server.js --port $PORT', ['/bin/sh', '-c', 'node server.js --port $PORT']],
    ['"npm run a && npm run b"', ['/bin/sh', '-c', 'npm run a && npm run b']],
    ['[node, "a b.js"]', ['node', 'a b.js']],
  ])('command: %s', async (text, command) => {
    expect((await read(`services: { web: { command: ${text} } }`)).services[0]?.command).toEqual(command)
  })

  test('values can refer to project variables', async () => {
    const { services } = await read('services: { web: { environment: { URL: "db://${USER:-app}:${PASS}@db", PRICE: "5$$" } } }')
    expect(services[0]).toMatchObject({
      environment: { PRICE: '5$' },
      environment_templates: { URL: ['db://', { variable: 'USER', operator: ':-', word: ['app'] }, ':', { variable: 'PASS' }, '@db'] },
    })
  })

  test('env files of the source are defaults', async () => {
    const { services } = await read('services: { web: { env_file: [a.env, b.env], environment: [MODE=x, PORT=8080] } }', {
      'a.env': 'KEY="1"\nMODE=y',
    })
    expect(services[0]).toMatchObject({
      port: 8080,
      environment: { MODE: 'x' },
      environment_templates: { KEY: [{ variable: 'KEY', operator: '-', word: ['1'] }] },
    })
    expect(services[0]?.environment).not.toHaveProperty('PORT')
  })

  test('the only service with a port is main; another public one has its own address', async () => {
    expect((await read('services: { api: { port: 80 }, jobs: { command: a } }')).main).toBe('api')
    expect((await read('services: { jobs: { command: a } }')).main).toBeNull()
    const config = await read('services: { web: {}, docs: { port: 80, public: true }, admin: { port: 81 } }')
    expect(config.services.map(({ name, kind, is_public }) => [name, kind, is_public])).toEqual([
      ['web', 'web', true],
      ['docs', 'web', true],
      ['admin', 'web', false],
    ])
  })

  test('files of the source are copied into an image', async () => {
    const config = await read(
      'services: { web: { image: "nginx:1", port: 80, volumes: ["./nginx.conf:/etc/nginx/nginx.conf:ro", "./data:/data"] } }',
      {
        'nginx.conf': 'events {}',
      },
    )
    expect(config.services[0]).toMatchObject({
      source: { kind: 'image', image: 'nginx:1', files: [{ source: 'nginx.conf', path: '/etc/nginx/nginx.conf' }] },
      volumes: [{ name: 'data', path: '/data' }],
    })
  })
})

describe('errors name the line', () => {
  test.each<[text: string, expected: RegExp[]]>([
    ['services:\n  web:\n    comand: x', [/^3: services\.web: “comand” is not a known key\. Did you mean command\?/]],
    ['servces: {}', [/^1: “servces” is not a known key\. Did you mean services\?/]],
    ['a: 1\na: 2', [/^2: “a” is set twice; first in line 1/]],
    [
      'services:\n  web: { port: 99999, replicas: 0 }\n  Web: {}',
      [/^2: services\.web\.port/, /^2: services\.web\.replicas/, /^3: services\.Web is not valid\. A name has/],
    ],
    ['services:\n  web: [', [/^\d: Column/]],
    ['services: { web: { port: 80, portz: [80] } }', [/“portz” is not a known key\. Did you mean port\?/]],
    ['services: { web: { ports: ["8080:80"] } }', [/ports.*Write the port on which the service listens, such as 9090/]],
    ['services: { web: { ports: [0] } }', [/ports/]],
    ['services: { web: { port: 80, ports: [9090] }, web-9090: { port: 81 } }', [/9090 would have the same address as the service “web-9090”/]],
    [
      'services: { web: { port: 80 }, a_b: { port: 81, ports: [9] }, a-b: { port: 82, ports: [9] } }',
      [/services\.a_b\.ports: 9 would have the same address as the service “a-b”/, /services\.a-b\.ports: 9 would have .* “a_b”/],
    ],
    ['services: { web: { port: 80 }, job: { command: x, schedule: "0 3 * * *", ports: [9] } }', [/job\.ports has no meaning/]],
    ['services: { web: { healthcheck: { path: /x, test: y } } }', [/healthcheck has path and test/]],
    ['services: { web: { healthcheck: { path: /x, timeout: 1h } } }', [/healthcheck\.timeout: “1h” is not from 5s to 600s/]],
    ['services: { web: { healthcheck: { path: /x, retries: 3 } } }', [/retries has no meaning for a path/]],
    ['services: { web: { build: ../other } }', [/build: “\.\.\/other” is outside of the source/]],
    ['services: { web: { build: /etc } }', [/“\/etc” is outside of the source/]],
    ['services: { web: { build: missing } }', [/the source has no folder “missing”/]],
    ['services: { web: { build: out } }', [/is a link that leaves the source/]],
    ['services: { web: { env_file: out/passwd } }', [/is a link that leaves the source/]],
    ['services: { web: { build: ., image: x } }', [/has build and image/]],
    ['services: { web: { image: "Not An Image" } }', [/image is not valid\. Write an image as NAME:TAG/]],
    ['services: { web: { environment: { HOMEPORT_X: 1 } } }', [/Names that start with HOMEPORT_ are reserved/]],
    ['services: { web: { environment: { A: "${" } } }', [/the value of A has an invalid/]],
    ['services: { web: { volumes: ["cache:/data"] } }', [/“cache” is not in the file’s volumes\. Add volumes: { cache: {} }/]],
    ['services: { web: { volumes: ["/var/run/docker.sock:/s"] } }', [/socket of the container engine/]],
    ['services: { web: { volumes: ["../x:/s"] } }', [/“\.\.\/x” is outside of the source/]],
    ['services: { a: { depends_on: [b] }, b: { depends_on: [a] } }', [/wait for each other: a → b → a/]],
    ['services: { a: { depends_on: [c] } }', [/“c” is not a service/]],
    ['services: { a: { port: 1 }, b: { port: 2 } }', [/a, b have a port, and none is named web/]],
    ['services: { a: { command: x, schedule: "61 * * * *" } }', [/schedule is not valid\. “61” is not a minute/]],
    ['services: { a: { schedule: "* * * * *" } }', [/has a schedule, but no command/]],
    ['services: { a: { command: x, schedule: "@daily", port: 1 } }', [/port has no meaning/]],
    ['services: { a: { command: x, schedule: "@daily", time_zone: Mars } }', [/time_zone is not valid\. Use a time zone/]],
    ['services: { web: { healthcheck: { test: x, intervall: 3s } } }', [/“intervall” is not a known key\. Did you mean interval\?/]],
    ['services: { web: { memory: 512 } }', [/memory is not valid/]],
    ['services: { web: { replicas: 2, volumes: ["d:/d"] } }\nvolumes: { d: {} }', [/replicas is 2, but a service with volumes.* runs once/]],
    ['services: { web: { autoscaling: { min: 1, max: 3 } } }', [/autoscaling\.target_concurrency/]],
    ['services: { web: { autoscaling: { min: 3, max: 1, target_concurrency: 5 } } }', [/max.*The maximum is less than the minimum/]],
    [
      'services: { web: { autoscaling: { min: 1, mxa: 3, max: 3, target_concurrency: 5 } } }',
      [/“mxa” is not a known key\. Allowed: min, max, target_concurrency/],
    ],
    ['services: { web: { replicas: 2, autoscaling: { min: 1, max: 3, target_concurrency: 5 } } }', [/web has replicas and autoscaling/]],
    ['services: { web: {}, w: { command: x, autoscaling: { min: 1, max: 3, target_concurrency: 5 } } }', [/w\.autoscaling: only the service/]],
    [
      'services: { web: { volumes: ["d:/d"], autoscaling: { min: 1, max: 3, target_concurrency: 5 } } }\nvolumes: { d: {} }',
      [/web\.autoscaling: a service with volumes/],
    ],
    ['replicas: 2\nautoscaling: { min: 1, max: 3, target_concurrency: 5 }', [/^2: The file has replicas and autoscaling/]],
    ['release: { service: nope, command: x }', [/“nope” is not a service/]],
    ['repo_url: https://example.com', [/“repo_url” is not set in a file of the source\. Remove it/]],
    ['memory_limit_mb: 1', [/memory_limit_mb is not valid/]],
    ['- a', [/The file is not a map of keys/]],
    ['a: !!js/function x', [/The tag .* is not supported/]],
  ])('%j', async (text, expected) => {
    const found = await problems(text, { out: '-> /etc' })
    expect(found).toHaveLength(expected.length)
    for (const [index, pattern] of expected.entries()) expect(found[index]).toMatch(pattern)
  })

  test('limits the expansion of aliases', async () => {
    const levels = Array.from({ length: 20 }, (_, index) => `x-${index + 1}: &a${index + 1} [${Array(9).fill(`*a${index}`).join(', ')}]`)
    expect(await problems(`x-0: &a0 [x, x]\n${levels.join('\n')}`)).toEqual([expect.stringMatching(/more than 20,000 values, aliases included/)])
  })
})
