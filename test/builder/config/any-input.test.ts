/** For any input, a reader returns a configuration or throws its own failure, in linear time. */
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { Cron } from 'croner'
import fc from 'fast-check'
import { stringify } from 'smol-toml'
import { describe, expect, test } from 'vitest'
import { readAppJson } from '../../../server/builder/config/app-json.ts'
import { readComposeYaml } from '../../../server/builder/config/compose-yaml.ts'
import { serviceKeys, serviceRules } from '../../../server/builder/config/compose-keys.ts'
import { ConfigFailure } from '../../../server/builder/config/config-failure.ts'
import { readFlyToml } from '../../../server/builder/config/fly-toml.ts'
import { readHomeportYaml } from '../../../server/builder/config/homeport-yaml.ts'
import { readNetlifyToml } from '../../../server/builder/config/netlify-toml.ts'
import { readProcfileConfig } from '../../../server/builder/config/procfile-config.ts'
import { readRailwayConfig } from '../../../server/builder/config/railway-config.ts'
import { readVercelJson } from '../../../server/builder/config/vercel-json.ts'
import { normalizeCronExpression, validateCronExpression } from '../../../server/contract/cron-expression.ts'
import { homeportService, homeportYaml } from '../../../server/contract/homeport-yaml.ts'
import type { ProjectConfig } from '../../../server/contract/project-config.ts'
import { memorySource } from './memory-source.ts'
import { isFullTier } from '../../support/tier.ts'

const source = memorySource({ 'app.conf': 'x', 'web/Dockerfile': 'FROM scratch', '.env': 'A=1\nB=${A}', 'a.env': 'C=2' })
const readers = {
  'compose.yaml': readComposeYaml,
  'homeport.yaml': readHomeportYaml,
  Procfile: readProcfileConfig,
  'fly.toml': readFlyToml,
  'railway.json': readRailwayConfig,
  'railway.toml': readRailwayConfig,
  'app.json': readAppJson,
  'netlify.toml': readNetlifyToml,
  'vercel.json': readVercelJson,
}

async function readAny(kind: keyof typeof readers, text: string): Promise<void> {
  let config: ProjectConfig | null
  try {
    config = await readers[kind](kind, text, source)
  } catch (error) {
    if (!(error instanceof ConfigFailure)) throw error
    expect(error.problems.length).toBeGreaterThan(0)
    for (const { message, hint } of error.problems) expect(`${message} ${hint}`).toMatch(/^[^\p{Cc}]+$/u)
    return
  }
  for (const sentence of config?.explanation ?? []) expect(sentence).toMatch(/^[^\p{Cc}]+$/u)
  for (const service of config?.services ?? []) {
    expect(service.name).toMatch(/^[a-z0-9][a-z0-9_-]{0,39}$/)
    for (const { path } of service.volumes) expect(path).toMatch(/^\/[^/]/)
    for (const file of service.source.files) expect(file.source).not.toMatch(/^\/|(^|\/)\.\.(\/|$)/)
  }
}

const folder = join(import.meta.dirname, 'compose')
const published = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'))

/** Values in places where readers expect others. */
const scalar = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    0,
    -1,
    1.5,
    80,
    1e300,
    '',
    '.',
    '..',
    '/',
    '/data',
    './app.conf',
    '../x',
    'web',
    'a b',
    '${A}',
    '${',
    '$$',
    '80:80',
    'x:/y:ro',
    '1m',
    '512m',
  ),
  fc.constantFrom(
    '1-2:3/udp',
    '[::1]:1:2',
    'service_healthy',
    '* * * * *',
    '@daily',
    'A=1',
    '=',
    ':',
    '~',
    '__proto__',
    'constructor',
    'host',
    '\u0000',
    '\u2028',
    'é',
  ),
  fc.string({ maxLength: 20 }),
)
const nested = (keys: readonly string[]) =>
  fc.letrec((tie) => ({
    node: fc.oneof({ depthSize: 'small', withCrossShrink: true }, scalar, tie('list'), tie('map')),
    list: fc.array(tie('node'), { maxLength: 3 }),
    map: fc.dictionary(fc.oneof(fc.constantFrom(...keys), fc.string({ maxLength: 8 })), tie('node'), { maxKeys: 4 }),
  })).node
const composeValues = nested([
  'source',
  'target',
  'type',
  'test',
  'interval',
  'condition',
  'context',
  'args',
  'file',
  'service',
  'limits',
  'resources',
  'memory',
  'web',
  'A',
])
const composeFile = fc.record(
  {
    services: fc.dictionary(
      fc.constantFrom('web', 'db', 'w-1', 'X', '__proto__'),
      fc.dictionary(fc.constantFrom(...serviceKeys, ...Object.keys(serviceRules)), composeValues, { maxKeys: 6 }),
      { maxKeys: 4 },
    ),
    volumes: composeValues,
    networks: composeValues,
    configs: composeValues,
    secrets: composeValues,
    'x-a': composeValues,
  },
  { requiredKeys: ['services'] },
)
const homeportValues = nested(['context', 'dockerfile', 'test', 'command', 'service', 'condition', 'web', 'A'])
const homeportFile = fc.oneof(
  fc.dictionary(fc.constantFrom(...Object.keys(homeportYaml.shape)), homeportValues, { maxKeys: 5 }),
  fc.record({
    services: fc.dictionary(
      fc.constantFrom('web', 'db', 'X'),
      fc.dictionary(fc.constantFrom(...Object.keys(homeportService.shape)), homeportValues, { maxKeys: 6 }),
      { maxKeys: 3 },
    ),
  }),
)
const edits = fc.array(
  fc.tuple(
    fc.nat(),
    fc.nat(40),
    fc.oneof(
      fc.constantFrom('', '\n', '  ', '- ', ': ', '*a', '&a ', '<<: ', '{', '[', '"', "'", '|', '!!', '#', '\t', '${', '\r', '%', '? '),
      fc.string({ maxLength: 5 }),
    ),
  ),
  {
    minLength: 1,
    maxLength: 4,
  },
)

describe.each(['compose.yaml', 'homeport.yaml'] as const)('%s', (kind) => {
  test('any text', async () => {
    await fc.assert(fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 300 }), (text) => readAny(kind, text)))
  })

  test('any values at any key', async () => {
    const file: fc.Arbitrary<unknown> = kind === 'compose.yaml' ? composeFile : homeportFile
    await fc.assert(
      fc.asyncProperty(file, (value) => readAny(kind, JSON.stringify(value))),
      { numRuns: isFullTier ? 400 : 150 },
    )
  })

  test('files with changes', async () => {
    const changed = fc.tuple(fc.constantFrom(...published), edits).map(([text, list]) =>
      list.reduce((current, [at, length, insert]) => {
        const start = at % (current.length + 1)
        return current.slice(0, start) + insert + current.slice(start + length)
      }, text),
    )
    await fc.assert(
      fc.asyncProperty(changed, (text) => readAny(kind, text)),
      { numRuns: isFullTier ? 400 : 150 },
    )
  })
})

const platformValues = nested([
  'processes',
  'path',
  'schedule',
  'command',
  'quantity',
  'value',
  'source',
  'destination',
  'memory',
  'release_command',
  'web',
  'app',
])
const platformKeys =
  'build deploy env http_service services processes mounts vm formation cron crons scripts addons buildCommand environment startCommand cronSchedule base'
const platformFile = fc.dictionary(fc.constantFrom(...platformKeys.split(' ')), platformValues, { maxKeys: 6 })

test('files of other platforms', async () => {
  const kinds = fc.constantFrom('fly.toml', 'railway.json', 'railway.toml', 'app.json', 'netlify.toml', 'vercel.json', 'Procfile')
  const asText = (kind: string, value: unknown) => (kind.endsWith('.toml') ? stringify(value) : JSON.stringify(value))
  const file = fc.tuple(kinds, platformFile).map(([kind, value]) => [kind, asText(kind, withoutNull(value))] as const)
  await fc.assert(
    fc.asyncProperty(fc.oneof(file, fc.tuple(kinds, fc.string({ unit: 'binary', maxLength: 200 }))), ([kind, text]) => readAny(kind, text)),
    { numRuns: isFullTier ? 400 : 150 },
  )
})

/** TOML has no null. */
function withoutNull(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter((item) => item !== null).map(withoutNull)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).flatMap(([key, item]) => (item === null ? [] : [[key, withoutNull(item)]])))
}

test.each<[name: string, text: (size: number) => string]>([
  ['open brackets', (size) => '['.repeat(size)],
  ['open braces', (size) => '{a: '.repeat(size / 4)],
  ['dashes', (size) => '- '.repeat(size / 2)],
  ['question marks', (size) => '? '.repeat(size / 2)],
  ['indentation', (size) => Array.from({ length: Math.sqrt(size) }, (_, index) => `${' '.repeat(index)}a:`).join('\n')],
  ['keys', (size) => Array.from({ length: size / 8 }, (_, index) => `k${index}:`).join('\n')],
  ['anchors', (size) => Array.from({ length: size / 16 }, (_, index) => `- &a${index} x`).join('\n')],
  ['aliases', (size) => `a: &a x\nb: [${'*a,'.repeat(size / 3)}]`],
  ['merge keys', (size) => `a: &a { x: 1 }\nb:\n${'  <<: *a\n'.repeat(size / 10)}`],
  ['quotes', (size) => `a: "${'\\"'.repeat(size / 2)}`],
  ['block text', (size) => `a: |\n${' x\n'.repeat(size / 3)}`],
  ['comments', (size) => '#\n'.repeat(size / 2)],
  ['colons', (size) => 'a:'.repeat(size / 2)],
  ['variables', (size) => `services: { web: { build: ., environment: { A: "${'${A:-'.repeat(size / 5)}" } } }`],
  ['dollar signs', (size) => `services: { web: { build: ., environment: { A: "${'$A'.repeat(size / 2)}" } } }`],
  ['an image name', (size) => `services: { web: { image: "${'a-'.repeat(size / 2)}" } }`],
  ['a command', (size) => `services: { web: { build: ., command: '${'"a" '.repeat(size / 4)}' } }`],
  [
    'dependencies',
    (size) =>
      `services: {${Array.from({ length: Math.min(size / 60, 300) }, (_, index) => `s${index}: { build: ., depends_on: [s${index + 1}] }`).join(', ')}}`,
  ],
])('%s without end are read, or refused', async (_name, text) => {
  for (const kind of ['compose.yaml', 'homeport.yaml', 'fly.toml', 'Procfile'] as const) await readAny(kind, text(isFullTier ? 199_000 : 50_000))
})

test('the scheduler accepts every schedule that the parser accepts', () => {
  const words = ['*', '*/5', '1-5', '0', '7', '59', '31', '12', 'mon', 'JAN', 'sun-tue', '1,2', '1-10/3', '5/2', '0-23', 'L', '?', '60', '*/0']
  const schedule = fc.oneof(
    fc.constantFrom('@daily', '@yearly'),
    fc.array(fc.constantFrom(...words), { minLength: 4, maxLength: 7 }).map((parts) => parts.join(' ')),
  )
  fc.assert(
    fc.property(schedule, (text) => {
      fc.pre(validateCronExpression(text) === undefined)
      expect(() => new Cron(normalizeCronExpression(text), { paused: true, timezone: 'UTC' }).nextRun()).not.toThrow()
    }),
    { numRuns: isFullTier ? 300 : 120 },
  )
})
