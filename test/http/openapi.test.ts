import { describe, expect, it } from 'vitest'
import { errorStatus } from '../../server/contract/errors.ts'
import { operations } from '../../server/contract/index.ts'
import type { OperationSpec } from '../../server/contract/operation.ts'
import { docsPage } from '../../server/api/openapi/docs-page.ts'
import { openApiDocument } from '../../server/api/openapi/document.ts'
import { createOpenApiValidator } from '../support/openapi-validator.ts'

/*
 * The OpenAPI document as external tools read it. `npm run check` lints the document. test/api/matrix.test.ts and
 * test/api/fuzz.test.ts check that every operation responds as described.
 */

const document = openApiDocument()
const description = createOpenApiValidator(document)
const list = Object.entries(operations) as [string, OperationSpec][]
const described = (spec: OperationSpec) => document.paths[spec.path]?.[spec.method.toLowerCase()]
const json = '/content/application~1json'

describe('the OpenAPI document', () => {
  it('is OpenAPI 3.1, version 1.0.0', () => {
    expect([document.openapi, document.info.version]).toEqual(['3.1.0', '1.0.0'])
  })

  it('has every operation of the customer’s API, and none of the instance', () => {
    const described = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    )
    expect(described.toSorted()).toEqual(list.map(([, spec]) => `${spec.method} ${spec.path}`).toSorted())
  })

  it.each(list)('lists the codes of %s under their status', (_id, spec) => {
    const responses = described(spec)?.responses ?? {}
    for (const code of [...spec.errors, 'unauthorized', 'rate_limited', 'internal_error'] as const) {
      expect(responses[String(errorStatus[code])]?.description).toContain(code)
    }
    expect(responses[String(spec.success.status)]).toBeDefined()
  })

  it('lists every error code', () => {
    const { properties } = document.components.schemas.Error ?? {}
    expect(properties?.error?.enum).toEqual(Object.keys(errorStatus))
  })

  it('allows no further fields in a project', () => {
    expect(document.components.schemas.Project?.additionalProperties).toBe(false)
    expect(document.components.schemas.Deployment?.additionalProperties).toBeUndefined()
  })

  it('rejects the request bodies that the API server rejects', () => {
    const faults = (body: object) => description.faults(`${description.pointerOf('POST', '/v1/projects')}/requestBody${json}/schema`, body)
    expect(faults({ name: 'n', slug: 'abc' })).toEqual([])
    for (const bad of [{ name: 'n' }, { name: 'n', slug: 'A' }, { name: '', slug: 'abc' }, { name: 'n', slug: 'abc', extra: 1 }])
      expect(faults(bad)).not.toEqual([])
  })

  it('has the number of operations in each group that the customer’s document states', () => {
    const counts: Record<string, number> = {}
    for (const [, { group }] of list) counts[group] = (counts[group] ?? 0) + 1
    // The customer's document, first table.
    const wanted: Record<string, number> = {
      Projects: 10,
      Deployments: 11,
      Domains: 9,
      'Environment variables': 4,
      Billing: 4,
      Databases: 3,
      'API tokens': 3,
      Uploads: 1,
    }
    expect(counts).toEqual(wanted)
    expect(list).toHaveLength(45)
  })

  it('has defaults and enums where the customer’s document does', () => {
    const operations = list.map(([, spec]) => described(spec))
    const parameter = (id: string, name: string) =>
      operations.find((operation) => operation?.operationId === id)?.parameters?.find((found) => found.name === name)?.schema
    for (const id of ['listProjects', 'listDeployments', 'listCacheEvents', 'listTokens'])
      expect([id, parameter(id, 'limit')]).toEqual([id, { type: 'integer', minimum: 1, maximum: 100, default: 50 }])
    expect(parameter('streamRuntimeLog', 'lines')).toEqual({ type: 'integer', minimum: 20, maximum: 2000, default: 200 })
    expect(parameter('streamRuntimeLog', 'format')).toMatchObject({ default: 'text' })
    expect(parameter('getMetrics', 'range')).toEqual({ type: 'string', enum: ['24h', '7d', '30d'], default: '24h' })
    expect(parameter('getScreenshot', 'variant')).toEqual({ type: 'string', enum: ['desktop', 'mobile'] })
    const schemas = JSON.parse(JSON.stringify(document.components.schemas)) as Record<string, { properties: Record<string, object> }>
    for (const name of ['CreateProjectRequest', 'UpdateProjectRequest'])
      expect([name, JSON.stringify(schemas[name]?.properties.repo_url)]).toEqual([name, expect.stringContaining('"format":"uri"') as unknown])
    const added = JSON.stringify(schemas.CreateEnvVarsRequest)
    expect(added).toMatch(/"environment":\{[^}]*"default":null/)
    expect(added).toMatch(/"is_sensitive":\{[^}]*"default":false/)
  })

  it('has 400 for every operation, because a repeated query parameter is always refused', () => {
    const silent = list.flatMap(([id, spec]) => (described(spec)?.responses['400'] ? [] : [id]))
    expect(silent).toEqual([])
  })

  it('requires a credential everywhere, and says which', () => {
    expect(document.security).toEqual([{ bearer: [] }, { session: [] }, { session_cookie: [] }])
    for (const [, spec] of list) expect(described(spec)?.security).toBeUndefined()
  })
})

describe('the validator that other tests use', () => {
  it('finds undocumented responses', () => {
    const operation = { method: 'GET', path: '/v1/projects/{slug}' }
    const project = document.paths[operation.path]?.get?.responses['200']?.content?.['application/json']?.example as { project: object }
    const answer = (status: number, body: unknown, type = 'application/json; charset=utf-8') => ({ status, type, text: JSON.stringify(body) })
    expect(description.validateResponse(operation, answer(200, project))).toEqual([])
    expect(description.validateResponse(operation, answer(200, { project: { ...project.project, extra: 1 } }))).not.toEqual([])
    expect(description.validateResponse(operation, answer(200, { project: { ...project.project, created_at: 'yesterday' } }))).not.toEqual([])
    expect(description.validateResponse(operation, answer(201, project))).not.toEqual([])
    expect(description.validateResponse(operation, answer(200, project, 'text/html'))).not.toEqual([])
    expect(description.validateResponse(operation, answer(404, { error: 'nonsense', message: 'm', request_id: 'r' }))).not.toEqual([])
  })
})

describe('examples', () => {
  it.each(list)('of %s match their schema', (_id, spec) => {
    const operation = described(spec)
    const at = description.pointerOf(spec.method, spec.path)
    const body = operation?.requestBody?.content['application/json']
    if (spec.body) {
      expect(body?.example).toBeDefined()
      expect(description.faults(`${at}/requestBody${json}/schema`, body?.example)).toEqual([])
      // The contract's own validation, which is stricter than a schema, accepts it too.
      expect(spec.body.safeParse(body?.example).error?.issues).toBeUndefined()
    }
    for (const [status, response] of Object.entries(operation?.responses ?? {})) {
      const media = response.content?.['application/json']
      if (!media) continue
      const shown = status.startsWith('2') ? [media.example] : Object.values(media.examples ?? {}).map(({ value }) => value)
      expect([status, shown.length > 0 && !shown.includes(undefined)]).toEqual([status, true])
      for (const value of shown)
        expect([status, value, description.faults(`${at}/responses/${status}${json}/schema`, value)]).toEqual([status, value, []])
    }
    for (const parameter of operation?.parameters ?? []) if (parameter.in === 'path') expect(parameter.example).toBeTypeOf('string')
  })

  it('of a stream are valid streams', () => {
    const stream = document.paths['/v1/projects/{slug}/deployments/{id}/logs']?.get?.responses['200']?.content?.['text/event-stream']
    expect(stream?.example).toMatch(/^event: log\nid: 1\ndata: \{.*\}\n\nevent: step\n/)
  })
})

describe('the documentation page', () => {
  const { headers, body } = docsPage()
  const page = String(body)

  it('has every operation, and loads nothing from elsewhere', () => {
    for (const [id, spec] of list) {
      expect(page).toContain(`id="${id}"`)
      expect(page).toContain(spec.path)
    }
    expect(page).toContain('/hooks/cache/{slug}')
    expect(headers['content-security-policy']).toContain("default-src 'none'")
    expect(page).not.toMatch(/<script|<link|<img|src=|href="\w+:|url\(/)
    expect(page).toContain('light dark')
  })

  it('shows the examples', () => {
    expect(page).toContain('&#34;my-shop&#34;')
    expect(page.match(/<summary>An example<\/summary>/g)?.length).toBeGreaterThanOrEqual(list.filter(([, spec]) => 'json' in spec.success).length)
  })
})
