import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import Ajv from 'ajv'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { describeSource, formatHomeportYaml, readProjectConfig } from '../../../server/builder/index.ts'
import { createHomeportSchema } from '../../../server/contract/homeport-yaml.ts'
import { managedNames, type ManagedName } from '../../../server/contract/managed-names.ts'
import { problemsOf, serviceOf, useSource } from './read-source.ts'

const createSource = useSource()
const read = async (text: string) => readProjectConfig(await createSource({ 'homeport.yaml': text }))
const problems = async (text: string) => problemsOf(await createSource({ 'homeport.yaml': text }))
const isValid = new Ajv({ strict: false }).compile(createHomeportSchema())

describe('managed', () => {
  test('one line lists what Homeport provides, and the rest of the file is as without it', async () => {
    const config = await read('managed: [mail, redis, postgres, redis]\n')
    expect(config).toMatchObject({ main: 'web', managed: ['postgres', 'redis', 'mail'], services: [{ name: 'web', kind: 'web' }] })
    expect(config.explanation).toContain('Managed services: PostgreSQL, Redis, Mail catcher')
    expect(await read('services: { web: { build: . } }')).toMatchObject({ managed: [] })
    expect(await readProjectConfig(await createSource({ Procfile: 'web: node a.js\nworker: node b.js' }))).toMatchObject({ managed: null })
  })

  test('a service may name one in depends_on, which says nothing new', async () => {
    const config = await read('managed: [redis, postgres]\nservices: { web: { depends_on: [redis, postgres, worker] }, worker: { command: x } }')
    expect(serviceOf(config, 'web').depends_on).toEqual([{ service: 'worker', condition: 'started' }])
  })

  test.each([
    [
      'services:\n  redis:\n    image: redis:7\nmanaged: [postgres, redis]',
      '4: managed: redis is also the name of a service of this file. Rename the service, or remove redis from managed.',
    ],
    [
      'services:\n  cache:\n    image: redis:7\n    aliases: [redis]\nmanaged:\n  - s3\n  - redis',
      '7: managed: redis is also the name of a service of this file. Rename the service, or remove redis from managed.',
    ],
    ['managed: [mysql]', '1: managed.0 is not valid. Write mariadb.'],
    ['managed:\n  - redis\n  - valkey', '3: managed.1 is not valid. Write redis.'],
    ['managed: [kafka]', '1: managed.0 is not valid. Use postgres, redis, mariadb, s3 or mail.'],
    ['managed: redis', '1: managed is not valid. Write a list.'],
    ['services: { web: { depends_on: [redis] } }', '1: services.web.depends_on: “redis” is not a service of this file. Allowed: web.'],
  ])('refuses, with the line and what to write: %s', async (text, problem) => {
    expect(await problems(text)).toEqual([problem])
  })

  test.each([
    'managed: [{ redis: { image: evil/redis, volumes: ["/:/host"] } }]',
    'managed: { redis: { image: evil/redis } }',
    'managed: ["../redis"]',
    'managed: [__proto__]',
    'managed: [constructor]',
    'managed: ["redis\\0"]',
    'managed: [REDIS]',
    'managed: ["redis; rm -rf /"]',
    'managed: ["${SECRET}"]',
    `managed: [${'redis, '.repeat(1000)}]`,
    'managed: true',
    'managed: [1, null, [redis]]',
  ])('has no options that reach further than its names: %s', async (text) => {
    expect(await problems(text)).not.toEqual([])
    expect(isValid(parse(text))).toBe(false)
  })

  test('is written into a saved file and reads back, valid by the schema that editors use', async () => {
    const folder = await createSource({ 'homeport.yaml': 'managed: [s3, mail]\nservices: { app: { port: 80 } }' })
    const text = formatHomeportYaml(await readProjectConfig(folder), { schema_url: 'http://localhost/schema.json' })
    expect(text).toContain('managed: [ s3, mail ]\n')
    expect(isValid(parse(text))).toBe(true)
    await writeFile(join(folder, 'homeport.yaml'), text)
    expect(await readProjectConfig(folder)).toMatchObject({ managed: ['s3', 'mail'] })
    expect(isValid({ managed: [...managedNames] })).toBe(true)
  })
})

describe('the plan', () => {
  const plan = async (files: Record<string, string>, managed: ManagedName[] = []) =>
    describeSource({
      folder: await createSource({ 'index.html': 'hi', ...files }),
      settings: { node_version: 'auto', install_command: 'auto', build_command: 'auto', root_directory: '.' },
      variables: [],
      health_path: '/',
      schema_url: 'http://localhost/schema.json',
      managed,
    })

  test('says what is listed on which line, what the project has, and what it keeps', async () => {
    const planned = await plan({ 'homeport.yaml': 'managed:\n  - postgres\n  - redis\n' }, ['redis', 's3'])
    expect(planned.managed).toEqual([
      {
        name: 'postgres',
        label: 'PostgreSQL',
        image: null,
        variables: ['DATABASE_URL'],
        is_listed: true,
        is_added: false,
        origin: 'homeport.yaml line 2',
      },
      {
        name: 'redis',
        label: 'Redis',
        image: 'redis:7-bookworm',
        variables: ['REDIS_URL', 'REDIS_HOST', 'REDIS_PORT', 'REDIS_PASSWORD'],
        is_listed: true,
        is_added: true,
        origin: 'homeport.yaml line 3',
      },
      expect.objectContaining({ name: 's3', is_listed: false, is_added: true, origin: 'project setting' }),
    ])
    expect(planned.homeport_yaml).toContain('managed: [ postgres, redis, s3 ]\n')
  })

  test('of a source without a file has what the project has', async () => {
    const planned = await plan({}, ['mail'])
    expect(planned.managed).toMatchObject([{ name: 'mail', is_listed: false, is_added: true }])
    expect(planned.homeport_yaml).toContain('managed: [ mail ]\n')
    expect((await plan({})).homeport_yaml).not.toContain('managed')
  })

  test('refuses a service with the name of a managed service of the project, as a deployment does', async () => {
    expect(
      await plan({ 'compose.yaml': 'services:\n  web:\n    build: .\n    ports: ["80:80"]\n  redis:\n    image: redis:7\n', Dockerfile: 'FROM x' }, [
        'redis',
      ]),
    ).toMatchObject({
      problems: [{ message: 'compose.yaml has a service “redis”, and the project has a managed service with this name.' }],
      services: [],
    })
  })
})
