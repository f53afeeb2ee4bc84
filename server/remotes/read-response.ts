import type { IncomingMessage } from 'node:http'
import { z } from 'zod'
import { systemClock } from '../lib/clock.ts'
import { Problem } from '../contract/errors.ts'
import { sanitizeResponse, maskToken } from './sanitize.ts'
import { explainConnectionError } from './explain-connection-error.ts'

/** Of an answer in JSON, and of a picture. */
const maxBody_bytes = 16 * 2 ** 20
const maxErrorBody_bytes = 64 * 1024
/** A whole answer that is read before it is passed on. */
const bodyTimeout_ms = 120_000

/** Without a cause: what an error quotes of an answer may be anything, and it would be logged. */
export const createUnreachableProblem = (message: string) => new Problem('remote_unreachable', message)

/** A piece of what the other side said, fit to stand in a sentence of ours. */
// oxlint-disable-next-line no-control-regex -- control characters are what has to go
export const quoteExcerpt = (text: string, length = 80) => `“${text.replace(/[\u0000-\u001f\u007f-\u009f]+/g, ' ').slice(0, length)}”`

export const readContentType = (response: IncomingMessage) => (response.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? ''

/** Throws for what is no answer of an API: sent elsewhere, packed, asked for more. */
export function validateHead(response: IncomingMessage, origin: string): void {
  const { host } = new URL(origin)
  const status = response.statusCode ?? 0
  const encoding = response.headers['content-encoding']
  if (status >= 300 && status < 400) {
    const { location = '' } = response.headers
    const to = URL.canParse(location, origin) ? new URL(location, origin).origin : ''
    const where = to === '' || to === 'null' ? '' : to === origin ? ' to another page of its own' : ` to ${quoteExcerpt(to, 120)}`
    throw createUnreachableProblem(
      `${host} sends on${where} and does not answer itself. Nothing was sent there; give the address of the instance itself.`,
    )
  }
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity')
    throw createUnreachableProblem(
      `${host} answers packed (${quoteExcerpt(encoding, 20)}), though it was asked not to. Something in between changes its answers.`,
    )
  if (status < 200 || status === 407 || status > 599)
    throw createUnreachableProblem(`${host} answers with the status ${status}, which no Homeport does.`)
}

/** The bytes of an answer, at most so many; destroys it past that. */
export async function readBody(response: IncomingMessage, origin: string, limit = maxBody_bytes): Promise<Buffer> {
  const { host } = new URL(origin)
  const tooLarge = () =>
    createUnreachableProblem(`${host} answers with more than ${Math.ceil(limit / 2 ** 20)} MiB, which no answer of Homeport has.`)
  const timer = systemClock.setTimeout(
    () => response.destroy(createUnreachableProblem(`${host} did not come to the end of its answer.`)),
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

/** What an answer says, by the schema of the contract: what that does not know is left out, what does not fit is refused. */
export async function readJson(response: IncomingMessage, origin: string, schema: z.ZodType, token: string): Promise<unknown> {
  const { host } = new URL(origin)
  const type = readContentType(response)
  if (type !== 'application/json') {
    response.destroy()
    const what = type === 'text/html' ? 'a web page' : type === '' ? 'something without a type' : quoteExcerpt(type)
    throw createUnreachableProblem(
      `${host} answers with ${what} and not with the API of Homeport. Check the address: it is the one that the API has.`,
    )
  }
  const bytes = await readBody(response, origin)
  try {
    const parsed = parseLeniently(schema, JSON.parse(utf8.decode(bytes)))
    if (!parsed.success)
      throw createUnreachableProblem(
        `${host} answers otherwise than the API describes it: ${describeIssue(parsed.error)} It may be of another version.`,
      )
    return sanitizeResponse(parsed.data, token)
  } catch (error) {
    throw error instanceof Problem ? error : createUnreachableProblem(`${host} answers with something that is no JSON. Check the address.`)
  }
}

/** Some forms of the contract let nothing else through; a newer instance may know more all the same. */
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
  return first ? `${quoteExcerpt(first.path.map(String).join('.') || 'the whole')}: ${first.message.slice(0, 200)}.` : 'it does not fit.'
}

const issueSchema = z.object({ path: z.string().transform(truncateTo(200)), message: z.string().transform(truncateTo(500)) })
const skippedSchema = z.array(
  z.object({ key: z.string(), environment: z.string().nullable(), id: z.string().optional(), reason: z.string().optional() }),
)
/** The one envelope of a refusal, with what the contract adds to one of the codes. */
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

/** A refusal of the other side; undefined when it is none of an API. */
export async function readErrorBody(response: IncomingMessage, origin: string, token: string): Promise<z.output<typeof errorSchema> | undefined> {
  if (readContentType(response) !== 'application/json') {
    response.destroy()
    return undefined
  }
  try {
    const result = errorSchema.safeParse(JSON.parse(utf8.decode(await readBody(response, origin, maxErrorBody_bytes))))
    return result.success ? { ...sanitizeResponse(result.data, token), message: maskToken(result.data.message, token) } : undefined
  } catch {
    return undefined
  }
}
