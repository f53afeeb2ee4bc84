import { describe, expect, test } from 'vitest'
import { fillEnvironment } from '../../../server/contract/environment-template.ts'
import { readProjectConfig } from '../../../server/builder/index.ts'
import { problemsOf, serviceOf, useSource } from './read-source.ts'

const createSource = useSource()
const read = async (text: string, files: Record<string, string> = {}) => readProjectConfig(await createSource({ 'compose.yaml': text, ...files }))
const problems = async (text: string, files: Record<string, string> = {}) => problemsOf(await createSource({ 'compose.yaml': text, ...files }))

describe('compose.yaml', () => {
  test('an app with a database and a migration', async () => {
    const config = await read(
      `
x-app: &app
  build: { context: ., target: prod, args: [MODE=fast, OTHER] }
  environment: &env
    DATABASE_URL: postgres://app:\${DB_PASSWORD:-secret}@db/app
    LOG: \${LOG_LEVEL-info}
services:
  app:
    <<: *app
    ports: ["8080:3000"]
    depends_on:
      db: { condition: service_healthy }
      migrate: { condition: service_completed_successfully }
    deploy: { replicas: 2, resources: { limits: { cpus: "0.5", memory: 256M } } }
  migrate:
    <<: *app
    command: sh -c "npm run 'db:migrate' && echo $$DONE"
  db:
    image: postgres:16
    container_name: app-database
    restart: unless-stopped
    ports: ["5432:5432"]
    volumes: ["pg:/var/lib/postgresql/data", "./init.sql:/docker-entrypoint-initdb.d/init.sql:ro"]
    healthcheck: { test: ["CMD-SHELL", "pg_isready -U \${DB_USER}"], interval: 5s, retries: 5, start_period: 1m }
volumes: { pg: }
`,
      { 'init.sql': 'select 1', '.env': 'LOG_LEVEL=debug\n' },
    )
    expect(config).toMatchObject({ file: 'compose.yaml', main: 'app', release: null, required_variables: [] })
    expect(config.services.map(({ name, kind, is_public, restart }) => [name, kind, is_public, restart])).toEqual([
      ['app', 'web', true, 'always'],
      ['migrate', 'worker', false, 'on_failure'],
      ['db', 'image', false, 'always'],
    ])
    const app = serviceOf(config, 'app')
    expect(app).toMatchObject({
      port: 3000,
      replicas: 2,
      cpus: 0.5,
      memory_mb: 256,
      source: { kind: 'build', directory: '.', target: 'prod', arguments: { MODE: 'fast' } },
      depends_on: [
        { service: 'db', condition: 'healthy' },
        { service: 'migrate', condition: 'completed' },
      ],
    })
    expect(fillEnvironment(app, {})).toEqual({ DATABASE_URL: 'postgres://app:secret@db/app', LOG: 'debug' })
    expect(fillEnvironment(app, { DB_PASSWORD: 'x', LOG_LEVEL: 'warn' })).toEqual({ DATABASE_URL: 'postgres://app:x@db/app', LOG: 'warn' })
    expect(serviceOf(config, 'migrate').command).toEqual(['sh', '-c', "npm run 'db:migrate' && echo $DONE"])
    expect(serviceOf(config, 'db')).toMatchObject({
      aliases: ['app-database'],
      source: { kind: 'image', image: 'postgres:16', files: [{ source: 'init.sql', path: '/docker-entrypoint-initdb.d/init.sql' }] },
      volumes: [{ name: 'pg', path: '/var/lib/postgresql/data', is_read_only: false }],
      health_check: {
        kind: 'command',
        command: ['/bin/sh', '-c', 'pg_isready -U ${DB_USER}'],
        interval_s: 5,
        timeout_s: 30,
        retries: 5,
        start_period_s: 60,
      },
    })
    expect(config.explanation.join('\n')).toMatch(/compose\.yaml line 22: services\.db\.ports: 5432 is not published/)
  })

  test('a file that only starts a database for development does not describe the app', async () => {
    const config = await read('services: { db: { image: "postgres:16", ports: ["5432:5432"], privileged: true } }', { 'index.html': 'hi' })
    expect(config).toMatchObject({ file: null, services: [], explanation: [expect.stringMatching(/compose\.yaml is not used/)] })
  })

  test('homeport.yaml takes precedence, override files are ignored', async () => {
    const files = { 'homeport.yaml': 'services: { web: {} }', 'compose.override.yaml': 'x' }
    expect((await read('services: { a: { build: . } }', files)).file).toBe('homeport.yaml')
    const { explanation } = await read('services: { web: { build: . } }', { 'compose.override.yaml': 'x' })
    expect(explanation.join('\n')).toMatch(/compose\.override\.yaml is not read/)
  })

  test('profiles are skipped and reported', async () => {
    const config = await read('services:\n  web: { build: ., depends_on: [tool] }\n  tool: { image: x, privileged: true, profiles: [dev] }')
    expect(config.services.map(({ name }) => name)).toEqual(['web'])
    expect(config.explanation.join('\n')).toMatch(/line 3: services\.tool is not started, because it belongs to the profile “dev”/)
  })

  test('extends works within one file', async () => {
    const config = await read(
      `
services:
  base: { build: ., environment: [A=1, B=2], volumes: ["d:/d"] }
  web: { extends: base, environment: { B: 3 }, volumes: ["e:/e"] }
volumes: { d: {}, e: {} }
`,
    )
    expect(serviceOf(config, 'web')).toMatchObject({ environment: { A: '1', B: '3' }, volumes: [{ path: '/d' }, { path: '/e' }] })
  })

  test.each<[ports: string, further: number[] | undefined, note: RegExp]>([
    ['["8080:80", "9090:9090", "9443:443", "127.0.0.1:9091:9091", "5432:5432"]', [9090], /443 has no address, because HTTPS ends at the edge/],
    ['["8080:80", "127.0.0.1:9091:9091"]', undefined, /9091 has no address, because it is published on this machine’s own address/],
    ['["127.0.0.1:8080:80", "127.0.0.1:9091:9091"]', [9091], /additional port 9091, each with an address/],
    ['["8080:80", "8081:80"]', undefined, /site \(web\)/],
  ])('each further HTTP port has an address: %s', async (ports, further, note) => {
    const config = await read(`services: { site: { build: ., ports: ${ports} } }`)
    expect(config.services[0]?.ports).toEqual(further)
    expect(config.explanation.join('\n')).toMatch(note)
  })

  test.each<[ports: string, expected: number | null, isPublic: boolean]>([
    ['["8080:80"]', 80, true],
    ['[3000]', 3000, true],
    ['["127.0.0.1:8001:8001"]', 8001, true],
    ['["[::1]:8001:8001/tcp"]', 8001, true],
    ['["443:443", "80:80"]', 80, true],
    ['[{ target: 9000, published: "80" }]', 9000, true],
    ['["${PORT}:3000"]', 3000, true],
    ['["5353:5353/udp", "8000-8010:8000-8010"]', null, false],
  ])('ports: %s', async (ports, port, isPublic) => {
    const config = await read(`services: { site: { build: ., ports: ${ports} } }`)
    expect(config.services[0]).toMatchObject({ port, is_public: isPublic })
  })

  test('a command with a project variable is expanded by a shell', async () => {
    const config = await read(
      'services: { web: { build: . }, cache: { image: "redis:7", command: "redis-server --requirepass ${PASS} --port 6379" } }',
    )
    expect(serviceOf(config, 'cache').command).toEqual(['/bin/sh', '-c', 'exec redis-server --requirepass "${PASS}" --port 6379'])
    expect(fillEnvironment(serviceOf(config, 'cache'), { PASS: 'secret' })).toEqual({ PASS: 'secret' })
  })

  test('variables that must be set are reported', async () => {
    expect((await read('services: { web: { build: ., environment: { A: "${KEY:?set it}", B: "${OPT:+x}" } } }')).required_variables).toEqual(['KEY'])
  })

  test('secrets and configs become files of the source in a prebuilt image', async () => {
    const text = `
services: { web: { image: nginx, ports: [80], configs: [{ source: site, target: /etc/nginx/conf.d/default.conf }], secrets: [key] } }
configs: { site: { file: ./site.conf } }
secrets: { key: { file: key.txt } }`
    const config = await read(text, { 'site.conf': 'x', 'key.txt': 'x' })
    expect(serviceOf(config, 'web').source).toMatchObject({
      files: [
        { source: 'site.conf', path: '/etc/nginx/conf.d/default.conf' },
        { source: 'key.txt', path: '/run/secrets/key' },
      ],
    })
  })

  test('reports every line that cannot be used, not only the first', async () => {
    const text = `services:
  web:
    build: .
    privileged: true
    cap_add: [SYS_ADMIN]
    volumes:
      - /var/run/docker.sock:/var/run/docker.sock
      - /srv/data:/data
      - cache:/cache
    networks: [proxy]
    prots: ["80:80"]
networks:
  proxy: { external: true }
`
    expect((await problems(text)).map((problem) => problem.slice(0, 60))).toEqual([
      '4: services.web.privileged gives the container all rights ov',
      '5: services.web.cap_add gives the container rights over this',
      '7: services.web.volumes: “/var/run/docker.sock” is the socke',
      '8: services.web.volumes: “/srv/data” is a path of this machi',
      '9: services.web.volumes: “cache” is not in the file’s volume',
      '11: services.web: “prots” is not a known key. Did you mean p',
      '13: networks.proxy is external: it connects the services wit',
    ])
  })
})
