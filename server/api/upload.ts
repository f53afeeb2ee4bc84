import { Busboy } from '@fastify/busboy'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Problem } from '../contract/errors.ts'
import type { Clock } from '../lib/clock.ts'

/** Size of a form in addition to the file. */
const formOverhead_bytes = 64 * 1024
/** Total waiting time for the client: a base, plus the time of its bytes at the slowest accepted rate. */
const uploadTimeout = { ms: 30_000, bytes_per_ms: 10 }
/** How long the rest of a rejected upload is discarded before and after the response, so that the client can read the response. */
const drainTimeouts = { before_ms: 1_000, after_ms: 15_000 }

export interface UploadSpec {
  types: readonly string[]
  max_bytes: number
}

const tooLarge = (spec: UploadSpec) =>
  new Problem(
    'payload_too_large',
    `The archive is larger than ${spec.max_bytes} bytes. Exclude files that the build recreates, such as node_modules.`,
  )

/** The checks of an upload that need only the headers. */
export function checkUpload(req: IncomingMessage, spec: UploadSpec): void {
  if (Number(req.headers['content-length'] ?? 0) > spec.max_bytes + (isForm(req) ? formOverhead_bytes : 0)) throw tooLarge(spec)
}

/** Streams the uploaded file of a request. Nothing is read before the first chunk is requested. */
export function openUpload(req: IncomingMessage, res: ServerResponse, clock: Clock, spec: UploadSpec): AsyncIterable<Uint8Array> {
  const encoding = req.headers['content-encoding']
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity')
    throw new Problem('unsupported_media_type', 'Send the archive without Content-Encoding.')
  const type = req.headers['content-type']
  if (isForm(req)) return limitBytes(extractFormFile(type ?? '', readBodyChunks(req, res, clock)), spec)
  const name = type?.split(';')[0]?.trim().toLowerCase()
  if (name !== undefined && !spec.types.includes(name))
    throw new Problem('unsupported_media_type', `Send the archive as ${spec.types[0]} or ${spec.types[1]}, or as the field “file” of a form.`)
  return limitBytes(readBodyChunks(req, res, clock), spec)
}

/** Streams the raw body of an upload, for forwarding to another instance, with a size limit. */
export function openBody(req: IncomingMessage, res: ServerResponse, clock: Clock, spec: UploadSpec): AsyncIterable<Uint8Array> {
  return limitBytes(readBodyChunks(req, res, clock), isForm(req) ? { ...spec, max_bytes: spec.max_bytes + formOverhead_bytes } : spec)
}

/**
 * Discards the rest of a rejected upload, so that a client that is still sending sees the response. Returns whether the connection must
 * close, because the client waits for 100 Continue.
 */
export async function drainRequestBody(req: IncomingMessage, res: ServerResponse, clock: Clock): Promise<{ close: boolean }> {
  if (req.complete || req.destroyed) return { close: false }
  if (req.headers.expect !== undefined && !continuedRequests.has(req)) return { close: true }
  req.on('error', () => {})
  await new Promise<void>((resolve) => {
    // An active reader keeps the request paused, so it must finish first.
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

/** Requests that were sent 100 Continue. */
const continuedRequests = new WeakSet<IncomingMessage>()

/** Active body readers; each promise resolves when the reader is done. */
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
    // Releases the request so that its rest can be discarded. Not awaited, because that would wait for a stalled client.
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

/** Streams the field `file` of a form. Any other field is rejected. */
async function* extractFormFile(type: string, body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const fileFound = Promise.withResolvers<Readable>()
  const parser = createFormParser(type)
  let file: Readable | undefined
  const refuse = (problem: Problem) => parser.destroy(problem)
  parser.on('file', (name, stream: Readable) => {
    stream.on('error', () => {})
    if (name !== 'file' || file) return void refuse(invalidForm(file ? 'The form has more than one file.' : `Unknown field ${quoteFieldName(name)}.`))
    file = stream
    fileFound.resolve(stream)
  })
  parser.on(
    'field',
    (name) => void refuse(invalidForm(name === 'file' ? 'Send the field “file” as a file.' : `Unknown field ${quoteFieldName(name)}.`)),
  )
  const parsed = pipeline(Readable.from(body, { objectMode: false }), parser).then(
    () => undefined,
    (error: unknown) => (error instanceof Problem ? error : brokenForm(error)),
  )
  void parsed.then((problem) => {
    fileFound.reject(problem ?? invalidForm('The form has no file.'))
    if (problem) file?.destroy(problem)
  })
  try {
    const stream: AsyncIterable<Buffer> = await fileFound.promise
    try {
      yield* stream
    } catch (error) {
      // The parser's error reaches the file first, but the client gets the reason for which parsing ended.
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
  new Problem('invalid_input', `The form is invalid. ${message}`, {
    issues: [{ path: 'file', message: 'Send one field “file” with the archive.' }],
    cause,
  })

const brokenForm = (cause: unknown) => invalidForm('The form is malformed or incomplete.', cause)

// oxlint-disable-next-line no-control-regex -- strips control characters on purpose
const quoteFieldName = (name: string) => `“${name.slice(0, 100).replace(/[\u0000-\u001f\u007f]/g, '')}”`
