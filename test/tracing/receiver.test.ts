import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { limits } from '../../server/contract/limits.ts'
import { createLog } from '../../server/lib/log.ts'
import { openStore, type Store } from '../../server/store/store.ts'
import { insertProject, updateProject } from '../../server/store/projects.ts'
import { insertUserWithAccount } from '../../server/store/users.ts'
import { createTraceReceiver, type TraceReceiver } from '../../server/tracing/trace-receiver.ts'
import { projectRow } from '../support/database-rows.ts'
import { createTestClock } from '../support/test-clock.ts'
import { jsonBody, protobufBody, readAnswer, sentSpan, text } from './otlp-body.ts'

const folder = mkdtempSync(join(tmpdir(), 'homeport-receiver-'))
const clock = createTestClock()
const logged: string[] = []
const log = createLog((line) => logged.push(line))
let store: Store
let receiver: TraceReceiver
/** Of two projects: the address and the token. */
const targets: Record<string, { url: string; token: string }> = {}

const createReceiver = () =>
  createTraceReceiver({
    store,
    key: new Uint8Array(32).fill(7),
    clock,
    log,
    data_dir: folder,
    instance_id: 'ins_test',
    findHostAddress: async () => ({ host: '127.0.0.1', bind: null }),
    runtimes: ['process'],
  })
const environmentOf = (project_id: string) => ({ id: project_id, project_id, branch: null })

beforeAll(async () => {
  store = await openStore({ data_dir: folder, after_crash: false })
  receiver = createReceiver()
  const created_at = '2026-01-31T12:00:00.000Z'
  await store.db.write((tx) => {
    insertUserWithAccount(tx, {
      account: { id: 'acc_1', plan: 'pro', has_payment_method: 0, created_at },
      user: { id: 'usr_1', account_id: 'acc_1', email: 'a@example.com', email_verified: 1, is_instance_owner: 1, created_at },
    })
    for (const id of ['prj_a', 'prj_b']) insertProject(tx, projectRow({ id, account_id: 'acc_1', slug: id, name: id }))
  })
  for (const project_id of ['prj_a', 'prj_b']) {
    const { variables } = await receiver.variablesFor(environmentOf(project_id), 'process')
    receiver.setMask(environmentOf(project_id), (line) => line.replaceAll('s3cret-value', '•'))
    const token = /^x-homeport-token=(.+)$/.exec(variables.OTEL_EXPORTER_OTLP_HEADERS ?? '')?.[1] ?? ''
    targets[project_id] = { url: variables.OTEL_EXPORTER_OTLP_ENDPOINT ?? '', token }
  }
})
afterAll(async () => {
  await receiver.close()
  await store.close()
  rmSync(folder, { recursive: true, force: true })
})

interface Sent {
  token?: string | undefined
  type?: string
  encoding?: string
  path?: string
  method?: string
}

async function send(
  body: Uint8Array | string,
  { token = targets.prj_a?.token, type = 'application/x-protobuf', encoding, path = '/v1/traces', method = 'POST' }: Sent = {},
) {
  const url = new URL(path, targets.prj_a?.url)
  const headers = { 'content-type': type, ...(token && { 'x-homeport-token': token }), ...(encoding && { 'content-encoding': encoding }) }
  return new Promise<{ status: number; type: string; body: Buffer }>((resolve, reject) => {
    const sent = request(url, { method, headers }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, type: String(response.headers['content-type']), body: Buffer.concat(chunks) }),
      )
    })
    // The receiver answers before it has read a body that it refuses.
    sent.on('error', reject)
    sent.end(body)
  })
}
const json = { type: 'application/json' }
const countSpans = async (project: string, trace = 'a'.repeat(32)) => {
  await receiver.flush()
  return store.traces.listSpans(project, trace, 100_000).length
}

test('takes Protobuf and JSON, plain and compressed', async () => {
  const bodies = [1, 2, 3, 4].map((number) => [sentSpan(number)])
  expect(await send(protobufBody(bodies[0] ?? []))).toMatchObject({ status: 200, type: 'application/x-protobuf', body: Buffer.alloc(0) })
  expect(await send(gzipSync(protobufBody(bodies[1] ?? [])), { encoding: 'gzip' })).toMatchObject({ status: 200 })
  expect(await send(JSON.stringify(jsonBody(bodies[2] ?? [])), json)).toMatchObject({
    status: 200,
    type: 'application/json',
    body: Buffer.from('{}'),
  })
  expect(await send(gzipSync(JSON.stringify(jsonBody(bodies[3] ?? []))), { ...json, encoding: 'gzip' })).toMatchObject({ status: 200 })
  expect(await countSpans('prj_a')).toBe(4)
  expect(await countSpans('prj_b')).toBe(0)
})

test('a token adds to the traces of its own project only, and a wrong one to none', async () => {
  const token = targets.prj_b?.token ?? ''
  const trace = { traceId: 'b'.repeat(32) }
  expect(await send(protobufBody([sentSpan(1, trace)]), { token })).toMatchObject({ status: 200 })
  expect([await countSpans('prj_a', trace.traceId), await countSpans('prj_b', trace.traceId)]).toEqual([0, 1])
  const forged = `prj_a.${token.slice('prj_b.'.length)}`
  for (const wrong of [forged, 'prj_a.', 'prj_a', '.', `${token}x`, '__proto__.x']) {
    const { status, body } = await send(protobufBody([sentSpan(9)]), { token: wrong })
    expect([wrong, status, readAnswer(status, body).message]).toEqual([wrong, 401, 'The header x-homeport-token is missing or wrong.'])
  }
  expect(await send('', { token: '' })).toMatchObject({ status: 401 })
  expect(logged.join('\n')).not.toContain(token)
})

test('says in both formats what it refuses', async () => {
  const refused = async (body: Uint8Array | string, sent: Sent = {}) => {
    const answer = await send(body, sent)
    return [
      answer.status,
      answer.type.includes('json')
        ? (JSON.parse(answer.body.toString()) as { message: string }).message
        : readAnswer(answer.status, answer.body).message,
    ]
  }
  expect(await refused(Buffer.from('no protobuf at all'))).toEqual([400, 'The body is not an ExportTraceServiceRequest.'])
  expect(await refused('{', json)).toEqual([400, 'The body is not an ExportTraceServiceRequest.'])
  expect(await refused('null', json)).toEqual([400, 'The body is not an ExportTraceServiceRequest.'])
  expect(await refused('x', { encoding: 'gzip' })).toEqual([400, 'The body is not valid gzip.'])
  expect(await refused('x', { encoding: 'br' })).toEqual([415, 'Use gzip, or no compression.'])
  expect(await refused('x', { type: 'text/plain' })).toEqual([415, 'Use application/x-protobuf or application/json.'])
  expect(await refused('x', { path: '/v1/metrics' })).toEqual([404, 'Homeport receives traces at /v1/traces. It receives no metrics and logs.'])
  expect(await refused('', { method: 'PUT' })).toEqual([404, 'Send spans with POST.'])
})

test('a body that is too large, also after decompression, is refused before it takes memory', async () => {
  const tooLarge = { status: 413 }
  const bomb = gzipSync(Buffer.alloc(200 * 2 ** 20))
  expect(bomb.length).toBeLessThan(limits.tracing.body_bytes)
  expect(await send(bomb, { encoding: 'gzip' })).toMatchObject(tooLarge)
  const status = await send(Buffer.alloc(limits.tracing.body_bytes + 2 ** 20)).then(
    (answer) => answer.status,
    (error: NodeJS.ErrnoException) => error.code,
  )
  // The answer may be lost, because the connection closes while the body is still being sent.
  expect([413, 'EPIPE', 'ECONNRESET']).toContain(status)
})

test('deep, tiny and endless messages are no crash and no long block', async () => {
  const deep = Array.from({ length: 5_000 }).reduce<Buffer>(
    (inner) =>
      Buffer.concat([
        Buffer.from([0x2a]),
        varint(Buffer.concat([Buffer.from([0x0a]), varint(inner.length), inner]).length),
        Buffer.from([0x0a]),
        varint(inner.length),
        inner,
      ]),
    Buffer.from([0x10, 1]),
  )
  const field = (id: number, content: Buffer) => Buffer.concat([Buffer.from([(id << 3) | 2]), varint(content.length), content])
  const attribute = Buffer.concat([field(1, Buffer.from('deep')), field(2, deep)])
  expect(await send(field(1, field(2, field(2, field(9, attribute)))))).toMatchObject({ status: 400 })
  // Spans without a field, two bytes each.
  const tiny = field(1, field(2, Buffer.alloc(100_000, Buffer.from([0x12, 0x00]))))
  expect(await send(tiny)).toMatchObject({ status: 413 })
  expect(await send(Buffer.from([0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f]))).toMatchObject({ status: 400 })
  expect(await send('['.repeat(1_000_000), json)).toMatchObject({ status: 400 })
  await clock.advance(1_000)
})

test('spans that are not valid are counted in the answer, and the others stored', async () => {
  const before = store.traces.countDropped('prj_a')
  const trace = { traceId: 'c'.repeat(32) }
  const { body } = await send(JSON.stringify(jsonBody([sentSpan(1, trace), sentSpan(2, { ...trace, spanId: 'zz' })])), json)
  expect(JSON.parse(body.toString())).toMatchObject({ partialSuccess: { rejectedSpans: 1, errorMessage: expect.stringContaining('not valid') } })
  const answer = await send(protobufBody([sentSpan(3, trace), sentSpan(4, { ...trace, spanId: '' })]))
  expect(readAnswer(200, answer.body)).toMatchObject({ partialSuccess: { rejectedSpans: '1' } })
  expect(await countSpans('prj_a', trace.traceId)).toBe(2)
  expect(store.traces.countDropped('prj_a') - before).toBe(2)
})

test('secrets of the project are masked, also those of the app that a deployment replaces', async () => {
  receiver.setMask(environmentOf('prj_a'), (line) => line.replaceAll('n3w-value', '•'))
  const trace = { traceId: 'd'.repeat(32) }
  await send(
    protobufBody([sentSpan(1, { ...trace, name: 'SELECT s3cret-value n3w-value', attributes: [text('db.query.text', "SELECT 's3cret-value'")] })]),
  )
  expect(await countSpans('prj_a', trace.traceId)).toBe(1)
  expect(readFileSync(join(folder, 'traces.db'), 'latin1') + readFileSync(join(folder, 'traces.db-wal'), 'latin1')).not.toMatch(
    /s3cret-value|n3w-value/,
  )
})

test('while tracing is off, apps get no variables and nothing is stored', async () => {
  await store.db.write((tx) => updateProject(tx, 'prj_a', { tracing: 0 }))
  const trace = { traceId: 'e'.repeat(32) }
  const { body } = await send(JSON.stringify(jsonBody([sentSpan(1, trace)])), json)
  expect(JSON.parse(body.toString())).toEqual({ partialSuccess: { rejectedSpans: 1, errorMessage: 'Tracing is off for this project.' } })
  expect(await countSpans('prj_a', trace.traceId)).toBe(0)
  expect(await receiver.variablesFor(environmentOf('prj_a'), 'process')).toEqual({ variables: {}, secrets: [], note: null })
  await store.db.write((tx) => updateProject(tx, 'prj_a', { tracing: 1 }))
})

test('a project that is deleted is forgotten, with its spans', async () => {
  await receiver.forgetProject('prj_b')
  expect(await countSpans('prj_b', 'b'.repeat(32))).toBe(0)
  expect(await send(protobufBody([sentSpan(1)]), { token: targets.prj_b?.token })).toMatchObject({ status: 503 })
})

test('listens on the same address after a restart, so that running apps reach it', async () => {
  const [first] = [targets.prj_a]
  await receiver.close()
  receiver = createReceiver()
  await receiver.start()
  const socket = connect(Number(new URL(first?.url ?? '').port), '127.0.0.1')
  await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject))
  socket.destroy()
  expect(await send(protobufBody([sentSpan(1)]))).toMatchObject({ status: 503 })
  const { variables } = await receiver.variablesFor(environmentOf('prj_a'), 'process')
  expect([variables.OTEL_EXPORTER_OTLP_ENDPOINT, variables.OTEL_EXPORTER_OTLP_HEADERS]).toEqual([first?.url, `x-homeport-token=${first?.token}`])
})

function varint(value: number): Buffer {
  const bytes: number[] = []
  for (let rest = value; ; rest >>>= 7) {
    if (rest < 0x80) return Buffer.from([...bytes, rest])
    bytes.push((rest & 0x7f) | 0x80)
  }
}
