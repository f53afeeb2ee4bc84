import { Busboy } from '@fastify/busboy'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Problem } from '../contract/errors.ts'
import type { Clock } from '../lib/clock.ts'

/** What of a form comes beside the file. */
const formOverhead_bytes = 64 * 1024
/** A client may be silent so long in all, and as long again as its bytes take at the slowest rate. */
const uploadTimeout = { ms: 30_000, bytes_per_ms: 10 }
/** What a refused client still sends is thrown away, so that it sees its answer: before the answer, and after it. */
const drainTimeouts = { before_ms: 1_000, after_ms: 15_000 }

export interface UploadSpec {
  types: readonly string[]
  max_bytes: number
}

const tooLarge = (spec: UploadSpec) =>
  new Problem('payload_too_large', `The archive is larger than ${spec.max_bytes} bytes. Leave out what a build makes again.`)

/** Part of the transport's checks: what the headers alone say. */
export function checkUpload(req: IncomingMessage, spec: UploadSpec): void {
  if (Number(req.headers['content-length'] ?? 0) > spec.max_bytes + (isForm(req) ? formOverhead_bytes : 0)) throw tooLarge(spec)
}

/** The bytes of the one file that a request brings, as it sends them. Nothing is read before the first is asked for. */
export function openUpload(req: IncomingMessage, res: ServerResponse, clock: Clock, spec: UploadSpec): AsyncIterable<Uint8Array> {
  const encoding = req.headers['content-encoding']
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity')
    throw new Problem('unsupported_media_type', 'Send the archive as it is, without Content-Encoding.')
  const type = req.headers['content-type']
  if (isForm(req)) return limitBytes(extractFormFile(type ?? '', readBodyChunks(req, res, clock)), spec)
  const name = type?.split(';')[0]?.trim().toLowerCase()
  if (name !== undefined && !spec.types.includes(name))
    throw new Problem('unsupported_media_type', `Send the archive as ${spec.types[0]} or ${spec.types[1]}, or as the field “file” of a form.`)
  return limitBytes(readBodyChunks(req, res, clock), spec)
}

/** The body of a request as it comes in, whatever it is: a file that another instance is to have. At most so much of it. */
export function openBody(req: IncomingMessage, res: ServerResponse, clock: Clock, spec: UploadSpec): AsyncIterable<Uint8Array> {
  return limitBytes(readBodyChunks(req, res, clock), isForm(req) ? { ...spec, max_bytes: spec.max_bytes + formOverhead_bytes } : spec)
}

/**
 * After a refusal: a client that is still sending gets to see its answer. Says whether the connection has to close with it,
 * because the client waits to be asked for its body.
 */
export async function drainRequestBody(req: IncomingMessage, res: ServerResponse, clock: Clock): Promise<{ close: boolean }> {
  if (req.complete || req.destroyed) return { close: false }
  if (req.headers.expect !== undefined && !continuedRequests.has(req)) return { close: true }
  req.on('error', () => {})
  await new Promise<void>((resolve) => {
    // Who still has its hands on the request keeps it from flowing.
    void (activeReads.get(req) ?? Promise.resolve()).then(() => req.resume())
    const timer = clock.setTimeout(resolve, drainTimeouts.before_ms)
    for (const event of ['end', 'close'] as const)
      req.once(event, () => {
        timer.cancel()
        resolve()
      })
  })
  if (!req.complete) {
    const cutTimer = clock.setTimeout(() => req.socket.destroy(), drainTimeouts.after_ms)
    req.once('close', () => cutTimer.cancel())
    res.once('close', () => req.complete && cutTimer.cancel())
  }
  return { close: false }
}

const isForm = (req: IncomingMessage) => /^multipart\/form-data\s*(;|$)/i.test(req.headers['content-type'] ?? '')

/** Requests that were told to go on with their body. */
const continuedRequests = new WeakSet<IncomingMessage>()

/** Requests whose body is being read, and when that is over. */
const activeReads = new WeakMap<IncomingMessage, Promise<unknown>>()

async function* readBodyChunks(req: IncomingMessage, res: ServerResponse, clock: Clock): AsyncGenerator<Buffer> {
  if (req.headers.expect !== undefined) res.writeContinue()
  continuedRequests.add(req)
  const chunks = req.iterator({ destroyOnReturn: false }) as AsyncIterator<Buffer>
  const finished = Promise.withResolvers<unknown>()
  activeReads.set(req, finished.promise)
  let waited_ms = 0
  let bytes = 0
  try {
    for (;;) {
      const startedAt_ms = clock.monotonic()
      const next = await withDeadline(clock, chunks.next(), uploadTimeout.ms + bytes / uploadTimeout.bytes_per_ms - waited_ms)
      if (next.done === true) return
      waited_ms += clock.monotonic() - startedAt_ms
      bytes += next.value.length
      yield next.value
    }
  } finally {
    // Takes its hands off the request, whose rest can then be thrown away. Not waited for: it would wait for a silent client.
    finished.resolve(Promise.resolve(chunks.return?.()).catch(() => {}))
  }
}

async function withDeadline<T>(clock: Clock, next: Promise<T>, ms: number): Promise<T> {
  const deadline = Promise.withResolvers<never>()
  const timer = clock.setTimeout(
    () => deadline.reject(new Problem('request_timeout', 'The archive did not arrive in time. Send it again.')),
    Math.max(1, ms),
  )
  try {
    return await Promise.race([next, deadline.promise])
  } catch (error) {
    next.catch(() => {})
    if (error instanceof Problem) throw error
    throw new Problem('bad_request', 'The connection ended before the archive was complete.', { cause: error })
  } finally {
    timer.cancel()
  }
}

async function* limitBytes(chunks: AsyncIterable<Uint8Array>, spec: UploadSpec): AsyncGenerator<Uint8Array> {
  let bytes = 0
  for await (const chunk of chunks) {
    bytes += chunk.length
    if (bytes > spec.max_bytes) throw tooLarge(spec)
    yield chunk
  }
}

/** The one field `file` of a form. Whatever else the form holds is refused. */
async function* extractFormFile(type: string, body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const fileFound = Promise.withResolvers<Readable>()
  const parser = createFormParser(type)
  let file: Readable | undefined
  const refuse = (problem: Problem) => parser.destroy(problem)
  parser.on('file', (name, stream: Readable) => {
    stream.on('error', () => {})
    if (name !== 'file' || file)
      return void refuse(invalidForm(file ? 'There is more than one file in the form.' : `There is no field ${quoteFieldName(name)} here.`))
    file = stream
    fileFound.resolve(stream)
  })
  parser.on(
    'field',
    (name) => void refuse(invalidForm(name === 'file' ? 'Send the field “file” as a file.' : `There is no field ${quoteFieldName(name)} here.`)),
  )
  const parsed = pipeline(Readable.from(body, { objectMode: false }), parser).then(
    () => undefined,
    (error: unknown) => (error instanceof Problem ? error : brokenForm(error)),
  )
  void parsed.then((problem) => {
    fileFound.reject(problem ?? invalidForm('There is no file in the form.'))
    if (problem) file?.destroy(problem)
  })
  try {
    const stream: AsyncIterable<Buffer> = await fileFound.promise
    try {
      yield* stream
    } catch (error) {
      // The parser's own error reaches the file first. What the client is told is why the form ended.
      throw (await parsed) ?? brokenForm(error)
    }
    const problem = await parsed
    if (problem) throw problem
  } finally {
    parser.destroy()
  }
}

function createFormParser(type: string) {
  try {
    return new Busboy({ headers: { 'content-type': type }, limits: { fields: 1, files: 2, parts: 3, fieldSize: 1024, headerPairs: 20 } })
  } catch (error) {
    throw invalidForm('The form has no boundary.', error)
  }
}

const invalidForm = (message: string, cause?: unknown) =>
  new Problem('invalid_input', `The form is not in order. ${message}`, {
    issues: [{ path: 'file', message: 'Send one field “file” with the archive.' }],
    cause,
  })

const brokenForm = (cause: unknown) => invalidForm('The form is broken, or it was cut off before its closing boundary.', cause)

// oxlint-disable-next-line no-control-regex -- a name of the client's own goes back to it in plain
const quoteFieldName = (name: string) => `“${name.slice(0, 100).replace(/[\u0000-\u001f\u007f]/g, '')}”`
