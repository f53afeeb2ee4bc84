import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import Ajv from 'ajv'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { formatHomeportYaml, readProjectConfig } from '../../../server/builder/index.ts'
import { createHomeportSchema } from '../../../server/contract/homeport-yaml.ts'
import type { ProjectConfig, ServiceConfig } from '../../../server/contract/project-config.ts'
import { composeCases } from './compose-cases.ts'
import { createComposeCase } from './read-compose-case.ts'
import { useSource } from './read-source.ts'

const createSource = useSource()
const options = { schema_url: 'http://127.0.0.1:4600/schemas/homeport.json' }
const isValid = new Ajv({ strict: false }).compile(createHomeportSchema())

/** The services without what homeport.yaml cannot express: the port of a worker, and the old name of a service that became web. */
function comparable({ services, main, release, required_variables, settings }: ProjectConfig) {
  const rename = (name: string) => (name === main ? 'main' : name)
  const normalize = (service: ServiceConfig) => ({
    ...service,
    name: rename(service.name),
    aliases: service.name === main ? [] : service.aliases,
    port: service.kind === 'worker' ? null : service.port,
    depends_on: service.depends_on.map((one) => ({ ...one, service: rename(one.service) })),
  })
  return { services: services.map(normalize), has_main: main !== null, release: release?.command, required_variables, settings }
}

async function expectSame(folder: string, config: ProjectConfig): Promise<string> {
  const text = formatHomeportYaml(config, options)
  expect(isValid(parse(text)), JSON.stringify(isValid.errors)).toBe(true)
  await writeFile(join(folder, 'homeport.yaml'), text)
  const read = await readProjectConfig(folder)
  expect(read.file).toBe('homeport.yaml')
  expect(comparable(read)).toEqual(comparable(config))
  return text
}

test.each(composeCases)('$name reads back as the same services', async ({ name, files }) => {
  const folder = await createComposeCase(createSource, name, files)
  await expectSame(folder, await readProjectConfig(folder))
})

test('additional ports and a health check with its time', async () => {
  const folder = await createSource({
    'homeport.yaml': 'services: { web: { port: 80, ports: [9090], healthcheck: { path: /up, timeout: 2m, interval: 5s } } }\n',
  })
  const text = await expectSame(folder, await readProjectConfig(folder))
  expect(text).toContain('ports: [ 9090 ]')
  expect(text).toContain('timeout: 120s')
})

test('a Procfile with its app.json', async () => {
  const folder = await createSource({
    Procfile: 'web: node a.js\nrelease: npm run migrate\nworker: node w.js "$QUEUE"',
    'app.json': '{ "env": { "KEY": {}, "MODE": "a$b" }, "formation": { "worker": { "quantity": 2 } } }',
  })
  expect(await expectSame(folder, await readProjectConfig(folder))).toBe(`# yaml-language-server: $schema=http://127.0.0.1:4600/schemas/homeport.json
# What this source runs. homeport help configuration explains each key, and homeport config check reads the file.
# Generated from Procfile, which is no longer read.
# Procfile: app.json is read as well

services:
  # Answers on the project’s address.
  web:
    build: .
    environment:
      MODE: \${MODE-a$$b}

  worker:
    build: .
    command: node w.js "$QUEUE"
    environment:
      MODE: \${MODE-a$$b}
    replicas: 2
release: npm run migrate
required_variables: [ KEY ]
`)
})
