import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { errorStatus } from '../../server/contract/errors.ts'
import { operations } from '../../server/contract/index.ts'
import type { OperationSpec } from '../../server/contract/operation.ts'
import type { OpenApiDocument } from '../../server/http/openapi.ts'
import { bearer, purgeToken, sampleProject, startDouble } from './double.ts'
import type { Double } from './double.ts'

let double: Double
let document: OpenApiDocument
const list = Object.entries(operations) as [string, OperationSpec][]

beforeAll(async () => {
  double = await startDouble()
  document = (await (await double.fetch('/openapi.json')).json()) as OpenApiDocument
})
afterAll(() => double.close())

/** Validates a value against a schema of the document, by its JSON pointer. */
function validator(pointer: string) {
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  addFormats.default(ajv)
  ajv.addSchema(document, 'openapi')
  const validate = ajv.getSchema(`openapi#${pointer}`)
  if (!validate) throw new Error(`there is nothing at ${pointer}`)
  return (value: unknown) => (validate(value) ? [] : validate.errors)
}

const escaped = (path: string) => path.replaceAll('~', '~0').replaceAll('/', '~1')

describe('the description', () => {
  it('is OpenAPI 3.1, version 1.0.0, and passes redocly lint', async () => {
    expect([document.openapi, document.info.version]).toEqual(['3.1.0', '1.0.0'])
    const folder = mkdtempSync(join(tmpdir(), 'homeport-openapi-'))
    const file = join(folder, 'openapi.json')
    writeFileSync(file, JSON.stringify(document))
    const redocly = join(dirname(createRequire(import.meta.url).resolve('@redocly/cli/package.json')), 'bin', 'cli.js')
    const environment = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }
    const { stderr } = await promisify(execFile)(process.execPath, [redocly, 'lint', file], { env: environment, cwd: folder })
    rmSync(folder, { recursive: true })
    expect(stderr).toContain('valid')
    expect(stderr).not.toContain('warning')
  })

  it('has every operation of the customer, and none of the instance', () => {
    const described = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    )
    expect(described.toSorted()).toEqual(list.map(([, spec]) => `${spec.method} ${spec.path}`).toSorted())
  })

  it.each(list)('names the codes of %s under their status', (_id, spec) => {
    const responses = document.paths[spec.path]?.[spec.method.toLowerCase()]?.responses ?? {}
    for (const code of [...spec.errors, 'unauthorized', 'rate_limited', 'internal_error'] as const) {
      expect(responses[String(errorStatus[code])]?.description).toContain(code)
    }
    expect(responses[String(spec.success.status)]).toBeDefined()
  })

  it('lists every error code', () => {
    const { properties } = document.components.schemas.Error ?? {}
    expect(properties?.error?.enum).toEqual(Object.keys(errorStatus))
  })

  it('says of a project that nothing else appears', () => {
    expect(document.components.schemas.Project?.additionalProperties).toBe(false)
    expect(document.components.schemas.Deployment?.additionalProperties).toBeUndefined()
  })

  it('refuses in a body what the gate refuses', () => {
    const validate = validator(`/paths/${escaped('/v1/projects')}/post/requestBody/content/${escaped('application/json')}/schema`)
    expect(validate({ name: 'n', slug: 'abc' })).toEqual([])
    for (const bad of [{ name: 'n' }, { name: 'n', slug: 'A' }, { name: '', slug: 'abc' }, { name: 'n', slug: 'abc', extra: 1 }])
      expect(validate(bad)).not.toEqual([])
  })
})

const bodies: Record<string, unknown> = {
  '/v1/projects': { name: 'n', slug: 'new-one' },
  '/v1/tokens': { name: 'ci' },
  '/v1/projects/{slug}/domains': { hostname: 'blog.example.com' },
  '/v1/projects/{slug}/domains/purchase': { hostname: 'blog.test' },
  '/v1/projects/{slug}/cache/purge-tags': { tags: ['a'] },
  '/v1/projects/{slug}/env-vars': { key: 'A', value: 'b' },
  '/v1/projects/{slug}/env-vars/{id}': { value: 'b' },
}

describe('real answers', () => {
  it.each(list.filter(([, spec]) => 'json' in spec.success))('%s answers what is described', async (_id, spec) => {
    double.projects.set('abc', { ...sampleProject('abc'), account_id: double.owner.caller.account_id })
    const type = spec.upload?.types[0] ?? 'application/json'
    const init: RequestInit = { method: spec.method, headers: { ...bearer(double.owner.token), 'content-type': type } }
    if (spec.body) init.body = JSON.stringify(bodies[spec.path] ?? {})
    if (spec.upload) init.body = 'bytes'
    const query = spec.path === '/v1/domains/search' ? '?q=blog' : ''
    const answer = await double.fetch(spec.path.replace('{slug}', 'abc').replace('{id}', 'dpl_1') + query, init)
    double.projects.delete('new-one')
    expect(answer.status).toBe(spec.success.status)
    const validate = validator(
      `/paths/${escaped(spec.path)}/${spec.method.toLowerCase()}/responses/${answer.status}/content/${escaped('application/json')}/schema`,
    )
    expect(validate(await answer.json())).toEqual([])
  })

  it('the inbound webhook takes and answers what is described', async () => {
    double.projects.set('abc', { ...sampleProject('abc'), account_id: double.owner.caller.account_id })
    const hook = '/webhooks/cachePurge/post'
    const takes = validator(`${hook}/requestBody/content/${escaped('application/json')}/schema`)
    for (const body of [{}, { tags: ['a'] }, { urls: ['/a'] }, { tags: [] }, { other: 1 }, { tags: ['x'.repeat(129)] }]) {
      const answer = await double.fetch('/hooks/cache/abc', {
        method: 'POST',
        headers: { ...bearer(purgeToken), 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
      expect([body, answer.status]).toEqual([body, takes(body)?.length === 0 ? 200 : 400])
      const answers = validator(`${hook}/responses/${answer.status}/content/${escaped('application/json')}/schema`)
      expect(answers(await answer.json())).toEqual([])
    }
  })

  it('refuses with what is described', async () => {
    const validate = validator('/components/schemas/Error')
    for (const [path, init] of [
      ['/v1/projects', {}],
      ['/v1/projects/nope', { headers: bearer(double.owner.token) }],
      ['/v1/projects?limit=0', { headers: bearer(double.owner.token) }],
    ] as [string, RequestInit][]) {
      expect(validate(await (await double.fetch(path, init)).json())).toEqual([])
    }
  })
})

describe('the page for people', () => {
  it('has every operation, and nothing from elsewhere', async () => {
    const answer = await double.fetch('/docs')
    const page = await answer.text()
    for (const [id, spec] of list) {
      expect(page).toContain(`id="${id}"`)
      expect(page).toContain(spec.path)
    }
    expect(page).toContain('/hooks/cache/{slug}')
    expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(page).not.toMatch(/<script|<link|<img|src=|href="\w+:|url\(/)
    expect(page).toContain('light dark')
  })
})
