import type { IncomingMessage } from 'node:http'
import { z } from 'zod'
import { systemClock } from '../lib/clock.ts'
import { Problem } from '../contract/errors.ts'
import { clean, maskToken } from './clean.ts'
import { explain } from './explain.ts'

/** Of an answer in JSON, and of a picture. */
const maxBytes = 16 * 2 ** 20
const maxErrorBytes = 64 * 1024
/** A whole answer that is read before it is passed on. */
const whole_ms = 120_000

/** Without a cause: what an error quotes of an answer may be anything, and it would be logged. */
export const unreachable = (message: string) => new Problem('remote_unreachable', message)

/** A piece of what the other side said, fit to stand in a sentence of ours. */
// oxlint-disable-next-line no-control-regex -- control characters are what has to go
export const quoted = (text: string, length = 80) => `“${text.replace(/[\u0000-\u001f\u007f-\u009f]+/g, ' ').slice(0, length)}”`

export const typeOf = (answer: IncomingMessage) => (answer.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? ''

/** Throws for what is no answer of an API: sent elsewhere, packed, asked for more. */
export function checkHead(answer: IncomingMessage, origin: string): void {
  const { host } = new URL(origin)
  const status = answer.statusCode ?? 0
  const encoding = answer.headers['content-encoding']
  if (status >= 300 && status < 400) {
    const { location = '' } = answer.headers
    const to = URL.canParse(location, origin) ? new URL(location, origin).origin : ''
    const where = to === '' || to === 'null' ? '' : to === origin ? ' to another page of its own' : ` to ${quoted(to, 120)}`
    throw unreachable(`${host} sends on${where} and does not answer itself. Nothing was sent there; give the address of the instance itself.`)
  }
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity')
    throw unreachable(`${host} answers packed (${quoted(encoding, 20)}), though it was asked not to. Something in between changes its answers.`)
  if (status < 200 || status === 407 || status > 599) throw unreachable(`${host} answers with the status ${status}, which no Homeport does.`)
}

/** The bytes of an answer, at most so many; destroys it past that. */
export async function readBytes(answer: IncomingMessage, origin: string, limit = maxBytes): Promise<Buffer> {
  const { host } = new URL(origin)
  const tooLarge = () => unreachable(`${host} answers with more than ${Math.ceil(limit / 2 ** 20)} MiB, which no answer of Homeport has.`)
  const late = systemClock.setTimeout(() => answer.destroy(unreachable(`${host} did not come to the end of its answer.`)), whole_ms)
  const chunks: Buffer[] = []
  let size = 0
  try {
    if (Number(answer.headers['content-length'] ?? 0) > limit) throw tooLarge()
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      size += chunk.length
      if (size > limit) throw tooLarge()
      chunks.push(chunk)
    }
    return Buffer.concat(chunks)
  } catch (error) {
    answer.destroy()
    throw error instanceof Problem ? error : unreachable(explain(error, host))
  } finally {
    late.cancel()
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** What an answer says, by the schema of the contract: what that does not know is left out, what does not fit is refused. */
export async function readJson(answer: IncomingMessage, origin: string, schema: z.ZodType, token: string): Promise<unknown> {
  const { host } = new URL(origin)
  const type = typeOf(answer)
  if (type !== 'application/json') {
    answer.destroy()
    const what = type === 'text/html' ? 'a web page' : type === '' ? 'something without a type' : quoted(type)
    throw unreachable(`${host} answers with ${what} and not with the API of Homeport. Check the address: it is the one that the API has.`)
  }
  const bytes = await readBytes(answer, origin)
  try {
    const said = fit(schema, JSON.parse(utf8.decode(bytes)))
    if (!said.success) throw unreachable(`${host} answers otherwise than the API describes it: ${describe(said.error)} It may be of another version.`)
    return clean(said.data, token)
  } catch (error) {
    throw error instanceof Problem ? error : unreachable(`${host} answers with something that is no JSON. Check the address.`)
  }
}

/** Some forms of the contract let nothing else through; a newer instance may know more all the same. */
function fit(schema: z.ZodType, value: unknown) {
  for (let rounds = 0; ; rounds++) {
    const result = schema.safeParse(value)
    if (result.success || rounds === 3) return result
    const surplus = result.error.issues.filter((issue) => issue.code === 'unrecognized_keys')
    if (surplus.length === 0) return result
    for (const { path, keys } of surplus) {
      const place = path.reduce<unknown>((at, step) => (isRecord(at) ? at[String(step)] : undefined), value)
      if (isRecord(place)) for (const key of keys) delete place[key]
    }
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

function describe(error: z.ZodError): string {
  const first = error.issues[0]
  return first ? `${quoted(first.path.map(String).join('.') || 'the whole')}: ${first.message.slice(0, 200)}.` : 'it does not fit.'
}

const issue = z.object({ path: z.string().transform(cut(200)), message: z.string().transform(cut(500)) })
const skipped = z.array(z.object({ key: z.string(), environment: z.string().nullable(), id: z.string().optional(), reason: z.string().optional() }))
/** The one envelope of a refusal, with what the contract adds to one of the codes. */
const envelope = z.object({
  error: z.string().regex(/^[a-z][a-z0-9_]{1,63}$/),
  message: z.string().transform(cut(2000)),
  issues: z.array(issue).max(100).optional().catch(undefined),
  request_id: z.string().transform(cut(100)).optional().catch(undefined),
  created: skipped.max(200).optional().catch(undefined),
  skipped: skipped.max(200).optional().catch(undefined),
})

function cut(length: number) {
  return (text: string) => text.slice(0, length)
}

/** A refusal of the other side; undefined when it is none of an API. */
export async function readRefusal(answer: IncomingMessage, origin: string, token: string): Promise<z.output<typeof envelope> | undefined> {
  if (typeOf(answer) !== 'application/json') {
    answer.destroy()
    return undefined
  }
  try {
    const result = envelope.safeParse(JSON.parse(utf8.decode(await readBytes(answer, origin, maxErrorBytes))))
    return result.success ? { ...clean(result.data, token), message: maskToken(result.data.message, token) } : undefined
  } catch {
    return undefined
  }
}
