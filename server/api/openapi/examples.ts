import { errorStatus } from '../../contract/errors.ts'
import type { ErrorCode } from '../../contract/errors.ts'
import type { OpenApiResponse, OpenApiOperation, JsonSchema } from './types.ts'

type Schemas = Record<string, JsonSchema>

interface DocumentWithExamples {
  paths: Record<string, Record<string, OpenApiOperation>>
  webhooks: Record<string, { post: OpenApiOperation }>
  components: { schemas: Schemas }
}

/**
 * Adds an example to every request body, response and error. Examples are generated from the schemas and chosen by field name, so that a
 * new field has one automatically.
 */
export function addExamples<Document extends DocumentWithExamples>(document: Document): Document {
  const { schemas } = document.components
  const all = [
    ...Object.values(document.paths).flatMap((methods) => Object.values(methods)),
    ...Object.values(document.webhooks).map(({ post }) => post),
  ]
  for (const operation of all) {
    for (const parameter of operation.parameters ?? []) {
      if (parameter.in === 'path')
        parameter.example = parameter.name === 'id' ? exampleIdFor(operation) : exampleOf(parameter.schema, parameter.name, schemas)
    }
    for (const media of Object.values(operation.requestBody?.content ?? {}))
      if (!isFile(media.schema)) media.example = exampleRequests[operation.operationId] ?? exampleOf(media.schema, '', schemas)
    for (const [status, response] of Object.entries(operation.responses)) {
      if (status.startsWith('2')) addSuccessExample(operation, response, schemas)
      else addErrorExamples(response)
    }
  }
  return document
}

function addSuccessExample(operation: OpenApiOperation, { content = {} }: OpenApiResponse, schemas: Schemas): void {
  const { 'application/json': json, 'text/event-stream': stream } = content
  if (json) json.example = exampleOf(json.schema, '', schemas, exampleIdFor(operation))
  if (stream) {
    const events = Object.entries(stream['x-events'] ?? {}).filter(([name]) => name !== 'lagged')
    stream.example = events
      .map(([name, schema], i) => `event: ${name}\nid: ${i + 1}\ndata: ${JSON.stringify(exampleOf(schema, '', schemas))}\n\n`)
      .join('')
  }
}

function addErrorExamples({ description, content = {} }: OpenApiResponse): void {
  const json = content['application/json']
  if (!json) return
  const codes = Object.keys(errorStatus).filter((code): code is ErrorCode => description.includes(`\`${code}\``))
  json.examples = Object.fromEntries(
    codes.map((code) => [
      code,
      {
        value: {
          error: code,
          message: exampleMessages[code] ?? 'What failed, and what to do next.',
          ...(code === 'invalid_input' ? { issues: [{ path: 'limit', message: 'Use a whole number from 1 to 100.' }] } : {}),
          ...(code === 'env_vars_exist' ? { created: [], skipped: [{ key: 'API_URL', environment: null, reason: 'exists' }] } : {}),
          request_id: exampleValues.request_id,
        },
      },
    ]),
  )
}

/** A value that the schema allows. `id` is the ID of the operation's resource. */
export function exampleOf(schema: JsonSchema, name: string, schemas: Schemas, id = exampleValues.id): unknown {
  if (schema.$ref !== undefined) return exampleOf(schemas[schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1)] ?? {}, name, schemas, id)
  const forms = schema.anyOf ?? (schema.oneOf as JsonSchema[] | undefined)
  if (forms)
    return name in exampleValues && exampleValues[name] === null
      ? null
      : exampleOf(forms.find((form) => form.type !== 'null') ?? {}, name, schemas, id)
  if (schema.enum) return schema.enum.includes(exampleValues[name]) ? exampleValues[name] : schema.enum[0]
  if ('const' in schema) return schema.const
  if (name === 'id') return id
  const types = [schema.type].flat()
  if (types.includes('null') && exampleValues[name] === null) return null
  if (schema.type === 'object' || schema.properties) {
    const inner = { project: exampleValues.project_id, deployment: exampleValues.deployment_id, domain: 'dom_01kc3x0v5q8m2t7w9y4z6b1d3f' }[name] ?? id
    return Object.fromEntries(
      Object.entries(schema.properties ?? {}).map(([key, property]) => [
        key,
        exampleOf(property, key, schemas, key === 'id' ? inner : nestedId(key, inner)),
      ]),
    )
  }
  if (schema.type === 'array')
    return Array.from({ length: Number(schema.minItems ?? 1) || 1 }, () => exampleOf(schema.items ?? {}, singular(name), schemas, nestedId(name, id)))
  const known = exampleValues[name]
  if (known !== undefined && matchesType(known, schema)) return known
  if (types.includes('boolean')) return false
  if (types.includes('integer') || types.includes('number')) return Math.max(Number(schema.minimum ?? 0), Number(schema.exclusiveMinimum ?? -1) + 1)
  if (schema.format === 'date-time') return exampleValues.created_at
  return name === '' ? 'text' : name
}

const matchesType = (value: unknown, { type }: JsonSchema) =>
  [type].flat().some((one) => (one === 'integer' ? Number.isInteger(value) : typeof value === one))

const singular = (name: string) => name.replace(/s$/, '')

const isFile = ({ type, contentMediaType, properties }: JsonSchema) =>
  (type === 'string' && contentMediaType !== undefined) || properties?.file !== undefined

/** In `{projects: [{id}]}`, each `id` is a project ID. */
function nestedId(key: string, outer: string): string {
  return exampleIds[singular(key)] ?? outer
}

const ulid = '01kc3x0v5q8m2t7w9y4z6b1d3f'
const exampleIds: Record<string, string> = {
  project: `prj_${ulid}`,
  deployment: `dpl_${ulid}`,
  env_var: `env_${ulid}`,
  domain: `dom_${ulid}`,
  api_token: `tok_${ulid}`,
  event: `evt_${ulid}`,
  created: `env_${ulid}`,
}

function exampleIdFor({ operationId, tags }: OpenApiOperation): string {
  const kind = { 'Environment variables': 'env_var', Domains: 'domain', 'API tokens': 'api_token', Deployments: 'deployment' }[tags[0] ?? '']
  return exampleIds[operationId.includes('EnvVar') ? 'env_var' : (kind ?? 'project')] ?? exampleValues.id
}

/** Realistic requests, for operations whose fields depend on each other. */
const exampleRequests: Record<string, unknown> = {
  createProject: { name: 'My shop', slug: 'my-shop', repo_url: 'https://git.example.com/me/my-shop.git', repo_branch: 'main' },
  updateProject: { build_command: 'npm run build', memory_limit_mb: 512, always_warm: true },
  createEnvVars: { key: 'API_URL', value: 'https://api.example.com', environment: 'production', is_sensitive: false },
  updateEnvVar: { value: 'https://api.example.org' },
  purgeTags: { tags: ['product-17', 'front-page'] },
  cachePurge: { tags: ['product-17'] },
  createToken: { name: 'Deploys from CI', expires_in_days: 90 },
  confirmBilling: { plan: 'pro', interval: 'yearly' },
  addDomain: { hostname: 'shop.example.com' },
  purchaseDomain: { hostname: 'my-shop.test', period_years: 1, auto_renew: true },
}

/** Example values by field name, used if the type allows them. */
const exampleValues = {
  id: `prj_${ulid}`,
  request_id: `req_${ulid}`,
  project_id: `prj_${ulid}`,
  deployment_id: `dpl_${ulid}`,
  project_slug: 'my-shop',
  project_name: 'My shop',
  slug: 'my-shop',
  name: 'My shop',
  repo_url: 'https://git.example.com/me/my-shop.git',
  repo_branch: 'main',
  branch: 'main',
  is_connected: true,
  node_version: 'auto',
  install_command: 'auto',
  build_command: 'auto',
  root_directory: '.',
  memory_limit_mb: 512,
  port: 8080,
  status: 'live',
  caching_enabled: true,
  created_at: '2026-01-31T12:00:00.000Z',
  next_cursor: null,
  commit_sha: '3f8a6c1d2b4e5f60718293a4b5c6d7e8f9012345',
  commit_message: 'Show prices with tax',
  commit_author: 'Ada <ada@example.com>',
  parent_id: null,
  error: null,
  queue_position: null,
  url: 'http://my-shop.localhost:4780',
  host: 'my-shop.localhost',
  framework: 'vite',
  image_bytes: null,
  queued_ms: 40,
  build_ms: 5200,
  deploy_ms: 900,
  build_log: 'v24.21.0 is used, from engines in package.json\n',
  build_log_lines: 1,
  line: 'listening on 8080',
  seq: 1,
  stream: 'stdout',
  exit_code: null,
  key: 'API_URL',
  value: 'https://api.example.com',
  environment: 'production',
  ok: true,
  purged: 12,
  tag: 'product-17',
  token: 'svc_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789AbCdEf',
  webhook_url: 'http://localhost:4700/hooks/cache/my-shop',
  prefix: 'svc_AbCd',
  last4: 'CdEf',
  variant: 'desktop',
  db_name: 'my_shop',
  db_user: 'my_shop',
  password: 'a-password-of-its-own',
  connection_string: 'postgresql://my_shop:a-password-of-its-own@127.0.0.1:5432/my_shop',
  engine: 'postgresql',
  engine_version: '18.4',
  size_bytes: 7_340_032,
  hostname: 'shop.example.com',
  platform_ip: '203.0.113.10',
  expected: '203.0.113.10',
  found: '203.0.113.10',
  type: 'A',
  message: 'The A record names this instance.',
  last_check_error: null,
  account_owned_domain_id: null,
  transfer_requested_at: null,
  query: 'my-shop',
  q: 'my-shop',
  currency: 'USD',
  price_cents: 1200,
  renewal_price_cents: 1200,
  period_years: 1,
  auth_code: 'x9-Transfer-Code',
  reference: 'A-1001',
  email: 'ada@example.com',
  address: '1 Example Street',
  city: 'Berlin',
  country: 'DE',
  postal_code: '10115',
  phone: '+49 30 1234567',
  brand: 'visa',
  subscription_status: 'active',
  cancel_at: null,
  publishable_key: 'pk_test_example',
  client_secret: 'seti_example_secret_example',
  customer_id: 'cus_example',
  free_domain_credits: 1,
  processor_enabled: true,
  has_payment_method: true,
} as Record<string, unknown> & { id: string; request_id: string; project_id: string; deployment_id: string }

const exampleMessages: Partial<Record<ErrorCode, string>> = {
  invalid_input: 'The query is invalid. limit: Use a whole number from 1 to 100.',
  invalid_json: 'The body is not valid JSON in UTF-8. Check quotes, commas and brackets.',
  unauthorized: 'Sign in first: send a valid API token as “Authorization: Bearer svc_…”.',
  rate_limited: 'Too many requests. Try again in 42 s.',
  internal_error: 'Something went wrong inside Homeport. Try again. If it happens again, search the log for the request ID.',
  origin_not_allowed: 'This request came from another site. Use the dashboard of this instance, or an API token.',
  payload_too_large: 'The body is larger than 1 MiB. Send less.',
  unsupported_media_type: 'Send JSON with “Content-Type: application/json”.',
  project_not_found: 'There is no such project. List yours with GET /v1/projects.',
  deployment_not_found: 'This project has no such deployment.',
  project_not_connected: 'The project has no repository. Set repo_url, or upload an archive.',
  deployment_terminal: 'The deployment has already finished, so it cannot be canceled.',
  slug_taken: 'The slug shop is taken. Choose another.',
  slug_reserved: 'That slug is reserved. Choose another.',
  plan_limit_reached: 'Your plan allows no more projects, or no more replicas. Remove some, or choose a larger plan.',
  payment_method_required: 'Save a card first, or choose a plan that includes it.',
  database_exists: 'This project already has a database.',
  hostname_taken: 'That hostname already belongs to a project. Choose another.',
  env_vars_exist: 'All of these variables already exist. Change their values with PATCH.',
  billing_not_configured: 'No payment processor is configured on this instance.',
}
