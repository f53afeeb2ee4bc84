import type { IncomingMessage } from 'node:http'
import { z } from 'zod'
import { systemClock } from '../lib/clock.ts'
import { Problem } from '../contract/errors.ts'
import { sanitizeResponse, maskToken } from './sanitize.ts'
import { explainConnectionError } from './explain-connection-error.ts'

/** The maximum size of a JSON response or an image. */
const maxBody_bytes = 16 * 2 ** 20
const maxErrorBody_bytes = 64 * 1024
/** The timeout for a response that is read completely before it is forwarded. */
const bodyTimeout_ms = 120_000

/** Created without a cause, because errors may quote arbitrary parts of a response and causes are logged. */
export const createUnreachableProblem = (message: string) => new Problem('remote_unreachable', message)

/** An excerpt of a remote response that is safe to quote in a message. */
// oxlint-disable-next-line no-control-regex -- control characters are what has to go
export const quoteExcerpt = (text: string, length = 80) => `“${text.replace(/[\u0000-\u001f\u007f-\u009f]+/g, ' ').slice(0, length)}”`

export const readContentType = (response: IncomingMessage) => (response.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? ''

/** Throws for a response that cannot be from the API: a redirect, an encoding, an unexpected status. */
export function validateHead(response: IncomingMessage, origin: string): void {
  const { host } = new URL(origin)
  const status = response.statusCode ?? 0
  const encoding = response.headers['content-encoding']
  if (status >= 300 && status < 400) {
    const { location = '' } = response.headers
    const to = URL.canParse(location, origin) ? new URL(location, origin).origin : ''
    const where = to === '' || to === 'null' ? '' : to === origin ? ' to another of its pages' : ` to ${quoteExcerpt(to, 120)}`
    throw createUnreachableProblem(`${host} redirects${where}. The redirect was not followed. Use the address of the instance itself.`)
  }
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity')
    throw createUnreachableProblem(
      `${host} answered with the encoding ${quoteExcerpt(encoding, 20)}, which was not requested. A proxy in between may be changing its responses.`,
    )
  if (status < 200 || status === 407 || status > 599)
    throw createUnreachableProblem(`${host} answered with status ${status}, so it is not a Homeport instance.`)
}

/** Reads a response body of at most `limit` bytes. A larger one destroys the response. */
export async function readResponseBody(response: IncomingMessage, origin: string, limit = maxBody_bytes): Promise<Buffer> {
  const { host } = new URL(origin)
  const tooLarge = () =>
    createUnreachableProblem(`${host} answered with more than ${Math.ceil(limit / 2 ** 20)} MiB, so it is not a Homeport instance.`)
  const timer = systemClock.setTimeout(
    () => response.destroy(createUnreachableProblem(`${host} did not complete its response in time.`)),
    bodyTimeout_ms,
  )
  const chunks: Buffer[] = []
  let size = 0
  try {
    if (Number(response.headers['content-length'] ?? 0) > limit) throw tooLarge()
    for await (const chunk of response as AsyncIterable<Buffer>) {
      size += chunk.length
      if (size > limit) throw tooLarge()
      chunks.push(chunk)
    }
    return Buffer.concat(chunks)
  } catch (error) {
    response.destroy()
    throw error instanceof Problem ? error : createUnreachableProblem(explainConnectionError(error, host))
  } finally {
    timer.cancel()
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Parses a JSON response with the contract's schema. Unknown fields are dropped; a response that does not match is rejected. */
export async function readJson(response: IncomingMessage, origin: string, schema: z.ZodType, token: string): Promise<unknown> {
  const { host } = new URL(origin)
  const type = readContentType(response)
  if (type !== 'application/json') {
    response.destroy()
    const found = type === 'text/html' ? 'a web page' : type === '' ? 'no content type' : quoteExcerpt(type)
    throw createUnreachableProblem(`${host} answered with ${found} instead of the Homeport API. Check that this is the address of the API.`)
  }
  const bytes = await readResponseBody(response, origin)
  try {
    const parsed = parseLeniently(schema, JSON.parse(utf8.decode(bytes)))
    if (!parsed.success)
      throw createUnreachableProblem(
        `${host} answered with a response that does not match the API: ${describeIssue(parsed.error)} It may run another version.`,
      )
    return sanitizeResponse(parsed.data, token)
  } catch (error) {
    throw error instanceof Problem ? error : createUnreachableProblem(`${host} answered with invalid JSON. Check the address.`)
  }
}

/** Removes unknown keys from strict schemas, because a newer instance may return additional fields. */
function parseLeniently(schema: z.ZodType, value: unknown) {
  for (let attempts = 0; ; attempts++) {
    const result = schema.safeParse(value)
    if (result.success || attempts === 3) return result
    const unknownKeyIssues = result.error.issues.filter((issue) => issue.code === 'unrecognized_keys')
    if (unknownKeyIssues.length === 0) return result
    for (const { path, keys } of unknownKeyIssues) {
      const container = path.reduce<unknown>((at, step) => (isRecord(at) ? at[String(step)] : undefined), value)
      if (isRecord(container)) for (const key of keys) delete container[key]
    }
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

function describeIssue(error: z.ZodError): string {
  const first = error.issues[0]
  return first ? `${quoteExcerpt(first.path.map(String).join('.') || 'response')}: ${first.message.slice(0, 200)}.` : 'it does not match.'
}

const issueSchema = z.object({ path: z.string().transform(truncateTo(200)), message: z.string().transform(truncateTo(500)) })
const skippedSchema = z.array(
  z.object({ key: z.string(), environment: z.string().nullable(), id: z.string().optional(), reason: z.string().optional() }),
)
/** The error envelope, with the fields that the contract adds for one of the codes. */
const errorSchema = z.object({
  error: z.string().regex(/^[a-z][a-z0-9_]{1,63}$/),
  message: z.string().transform(truncateTo(2000)),
  issues: z.array(issueSchema).max(100).optional().catch(undefined),
  request_id: z.string().transform(truncateTo(100)).optional().catch(undefined),
  created: skippedSchema.max(200).optional().catch(undefined),
  skipped: skippedSchema.max(200).optional().catch(undefined),
})

function truncateTo(length: number) {
  return (text: string) => text.slice(0, length)
}

/** The error of a remote response; undefined if it is not an API error. */
export async function readErrorBody(response: IncomingMessage, origin: string, token: string): Promise<z.output<typeof errorSchema> | undefined> {
  if (readContentType(response) !== 'application/json') {
    response.destroy()
    return undefined
  }
  try {
    const result = errorSchema.safeParse(JSON.parse(utf8.decode(await readResponseBody(response, origin, maxErrorBody_bytes))))
    return result.success ? { ...sanitizeResponse(result.data, token), message: maskToken(result.data.message, token) } : undefined
  } catch {
    return undefined
  }
}
