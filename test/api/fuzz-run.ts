import { readFileSync, writeFileSync } from 'node:fs'
import { expect } from 'vitest'
import { errorStatus, type ErrorCode } from '../../server/contract/errors.ts'
import { allOperations, operations } from '../../server/contract/index.ts'
import type { OperationSpec } from '../../server/contract/operation.ts'
import { openApiDocument } from '../../server/api/openapi/document.ts'
import { createTarGz } from '../support/archives.ts'
import { createOpenApiValidator } from '../support/openapi-validator.ts'
import { startTestPlatform } from '../support/platform.ts'
import { makeRepository, tinyServer } from '../support/repository.ts'
import { type FuzzRequest, generateRequests, possibleOperations } from './fuzz-requests.ts'

export interface Failure {
  request: FuzzRequest
  status: number
  answer: string
  wrong: unknown[]
}

const corpusFile = new URL('corpus/requests.json', import.meta.url)
export const readCorpus = () => JSON.parse(readFileSync(corpusFile, 'utf8')) as FuzzRequest[]

/** Stores failures, one request for each kind, which every later run replays. */
export function addToCorpus(failures: Failure[]): void {
  const found = new Map(failures.map((failure) => [JSON.stringify([failure.request.operation, failure.wrong]), failure.request]))
  if (found.size > 0) writeFileSync(corpusFile, `${JSON.stringify([...readCorpus(), ...found.values()], null, 2)}\n`)
}

/** Error codes that any request may get. */
const commonErrors: ErrorCode[] = [
  'unauthorized',
  'forbidden',
  'route_not_found',
  'invalid_input',
  'invalid_json',
  'origin_not_allowed',
  'unsupported_media_type',
  'payload_too_large',
  'idempotency_conflict',
]

/** A platform with two projects and their users, and its known resources. */
export async function createFuzzer() {
  const platform = await startTestPlatform({ runtime: 'process' })
  const repository = makeRepository({
    ...tinyServer('fuzz'),
    'homeport.yaml': `
services:
  web: { build: ., command: node server.js, port: 3000, volumes: ["files:/app/files"] }
  worker: { build: ., command: ["node", "-e", "setInterval(() => {}, 1000)"] }
  job: { build: ., command: ["node", "-e", ""], schedule: "0 3 * * *" }
volumes: { files: {} }
`,
  })
  const { token, api_url } = platform.handle.instance
  const archive = new Uint8Array(createTarGz(Object.entries(tinyServer('upload')).map(([name, data]) => ({ name, data }))))
  const description = createOpenApiValidator(openApiDocument())
  const known = new Map<string, { slug: string; id: string }[]>()
  const succeeded = new Set<string>()
  const ids = new Set<string>()
  const failures: Failure[] = []
  let sent = 0

  const made = async (path: string, body: object, method = 'POST') => {
    const response = await platform.api(method, path, body)
    expect([path, response.status]).toEqual([path, expect.toSatisfy((status: number) => status < 300)])
    return response.body
  }
  // No requests leave this machine.
  await made('/instance/settings', { keep_deployments: 2, dns_resolvers: ['127.0.0.1:9'] }, 'PATCH')
  const member = String((await made('/instance/users', { email: 'member@example.com' })).token)
  const stranger = String((await made('/instance/users', { email: 'stranger@example.com' })).token)
  const { user } = (await platform.api<{ user: { email: string } }>('GET', '/instance/session')).body
  await made('/instance/team', { owner_email: user.email, member_email: 'member@example.com' })
  for (const slug of ['one', 'two']) await made('/v1/projects', { name: slug, slug, repo_url: repository.url })
  // So that requests can refer to its services, volumes and database.
  await made('/v1/projects/one/database', {})
  await platform.waitForEnd('one', (await platform.deploy('one')).id)
  const signedIn = await fetch(await platform.handle.signInUrl(), { redirect: 'manual', headers: { connection: 'close' } })
  const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` })
  const credentials: Record<FuzzRequest['who'], Record<string, string>> = {
    owner: bearer(token),
    session: { cookie: signedIn.headers.get('set-cookie')?.split(';')[0] ?? '', origin: api_url },
    member: bearer(member),
    stranger: bearer(stranger),
    anonymous: {},
    wrong: bearer('svc_wrong'),
  }

  /** Resources named in responses, newest last, which a client would use next. */
  function learn(operation: string, text: string, path: string): void {
    const slug = /\/projects\/([\w-]+)/.exec(path)?.[1] ?? 'one'
    for (const [id = '', kind = ''] of text.matchAll(/\b(dpl|env|dom|tok|rem|dmp|snp|inv|usr|msg|dev|ntt|ntf|dhk|drn|req|act)_[0-9a-z]{26}\b/g))
      remember(kind, { slug, id })
    if (operation === 'createProject') remember('prj', (JSON.parse(text) as { project: { slug: string; id: string } }).project)
    if (operation === 'deleteProject') known.set('prj', known.get('prj')?.filter((one) => one.slug !== slug) ?? [])
    if (operation === 'listBackups' || operation === 'createBackup')
      for (const [, id = ''] of text.matchAll(/"name":"([^"]+)"/g)) remember('backup', { slug, id })
  }
  function remember(kind: string, resource: { slug: string; id: string }): void {
    const list = known.get(kind) ?? []
    if (!list.some((one) => one.id === resource.id)) known.set(kind, [...list, resource].slice(-20))
  }
  const named = (path: string) =>
    path.replace(/<(\w+):(\d+):(id|slug)>/g, (_whole, kind: string, index: string, field: 'id' | 'slug') => {
      const list = known.get(kind) ?? []
      const none = kind === 'prj' ? 'nowhere' : 'one'
      return list[Number(index) % list.length]?.[field] ?? (field === 'id' ? `${kind}_${'0'.repeat(26)}` : none)
    })

  async function send(request: FuzzRequest): Promise<void> {
    const path = named(request.path)
    const leave = new AbortController()
    const init: RequestInit = {
      method: request.method,
      redirect: 'manual',
      signal: leave.signal,
      headers: { connection: 'close', ...credentials[request.who], ...request.headers },
    }
    if (request.body !== undefined && !['GET', 'HEAD'].includes(request.method))
      init.body = request.body === 'archive' ? archive : named(request.body)
    sent++
    const response = await ask(`${api_url}${path}?${new URLSearchParams(request.query)}`, init).catch((error: unknown) =>
      String((error as Error).cause),
    )
    leave.abort()
    if (typeof response === 'string') return void failures.push({ request, status: 0, answer: response, wrong: ['no answer'] })
    const { text } = response
    const spec: OperationSpec = allOperations[request.operation as keyof typeof allOperations]
    // A client resolves `..` before sending, which makes it a request for another path.
    const isOwn =
      request.method === spec.method &&
      !path
        .split('/')
        .slice(1)
        .some((part) => ['', '.', '..'].includes(part))
    const wrong = judge(request, isOwn ? spec : undefined, response)
    if (wrong.length > 0) failures.push({ request, status: response.status, answer: text.slice(0, 500), wrong })
    if (isOwn && response.status < 300) succeeded.add(request.operation)
    // Tokens include the one of this run, and a member's own projects are not visible to others.
    const isOfOwner = request.who === 'owner' && !['listTokens', 'listUsers', 'getTeam'].includes(request.operation)
    if (isOwn && response.status < 300 && isOfOwner) learn(request.operation, text, path)
  }

  /** For a stream it is enough that it started. */
  async function ask(url: string, init: RequestInit): Promise<Answer> {
    const response = await fetch(url, init)
    const type = response.headers.get('content-type')
    const isStream = type?.startsWith('text/event-stream') === true && response.status === 200
    return { status: response.status, headers: response.headers, type, text: isStream ? '' : await response.text() }
  }

  type Answer = { status: number; headers: Headers; type: string | null; text: string }
  /** `spec`: the operation of the request, if it is known. */
  function judge({ operation, method }: FuzzRequest, spec: OperationSpec | undefined, { status, headers, type, text }: Answer): unknown[] {
    const wrong: unknown[] = []
    const id = headers.get('x-request-id') ?? ''
    if (!/^req_[0-9a-z]{26}$/.test(id) || ids.has(id)) wrong.push('no request id of its own')
    ids.add(id)
    if (status >= 500 && status !== 503 && status !== 502)
      wrong.push(
        status,
        platform.log.findLast((line) => line.includes(id)),
      )
    for (const name of ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'])
      if (!/^\d+$/.test(headers.get(name) ?? '')) wrong.push(`no ${name}`)
    if (headers.get('x-evil') !== null) wrong.push('a header of the client')
    if (status >= 400 && method !== 'HEAD') {
      const envelope = JSON.parse(text) as { error: ErrorCode; message: string; request_id: string; issues?: unknown[] }
      if (errorStatus[envelope.error] !== status || envelope.request_id !== id || !envelope.message) wrong.push('no envelope')
      if ((envelope.error === 'invalid_input') !== (envelope.issues !== undefined)) wrong.push('issues')
      if (spec && ![...spec.errors, ...commonErrors].includes(envelope.error)) wrong.push(`${envelope.error} is not named`)
    }
    if (spec && operation in operations) wrong.push(...description.validateResponse(spec, { status, type, text }))
    else if (spec && status < 300 && 'json' in spec.success) wrong.push(...(spec.success.json.safeParse(JSON.parse(text)).error?.issues ?? []))
    return wrong
  }

  return {
    send,
    /** Sends a number of requests, `lanes` at a time. Rejects with the platform's output if it has ended. */
    async run({ seed, count, lanes }: { seed: number; count: number; lanes: number }): Promise<void> {
      const requests = generateRequests({ seed, repository, owner: user.email })
      let left = count
      const lane = async () => {
        while (left-- > 0) await send(requests.next().value)
      }
      await Promise.all(Array.from({ length: lanes }, lane))
      await platform.now()
    },
    /** Failures, one for each kind of fault. */
    failures: () => [...new Map(failures.map((one) => [JSON.stringify([one.request.operation, one.wrong]), one])).values()],
    sent: () => sent,
    /** The operations that can succeed here of which no request did. */
    neverSucceeded: () => possibleOperations.filter((id) => !succeeded.has(id)),
    isHealthy: async () => (await platform.api('GET', '/healthz')).status === 200 && (await platform.api('GET', '/v1/projects')).status === 200,
    async close() {
      await platform.remove()
      repository.remove()
    },
  }
}
