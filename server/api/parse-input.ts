import type { z } from 'zod'
import { Problem } from '../contract/errors.ts'
import type { ValidationIssue } from '../contract/errors.ts'

/** Maximum number of reported issues, so that a body with many unknown fields is not echoed. */
const maxIssues = 100

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Parses a query: unknown parameters are dropped, repeated ones are rejected. */
export function parseQuery(schema: z.ZodObject, query: string): Record<string, unknown> {
  if (query === '') return Object.keys(schema.shape).length === 0 ? {} : unwrapResult(schema.safeParse({}, { error: describeCheck }), 'query')
  const values: Record<string, string> = Object.create(null)
  const repeated = new Set<string>()
  for (const [name, value] of new URLSearchParams(query)) {
    if (name in values) repeated.add(name)
    values[name] = value
  }
  if (repeated.size > 0) {
    throw invalidInput([...repeated].map((path) => ({ path, message: 'Send this query parameter only once.' })))
  }
  const known = Object.fromEntries(Object.keys(schema.shape).flatMap((name) => (values[name] === undefined ? [] : [[name, values[name]]])))
  return unwrapResult(schema.safeParse(known, { error: describeCheck }), 'query')
}

/** Parses a JSON body. `headers` are its Content-Type and Content-Encoding. */
export function parseBody<S extends z.ZodType>(
  schema: S,
  body: Buffer,
  headers: { type: string | undefined; encoding: string | undefined },
): z.output<S> {
  if (headers.encoding !== undefined && headers.encoding.toLowerCase() !== 'identity') {
    throw new Problem('unsupported_media_type', 'Send the body uncompressed, without Content-Encoding.')
  }
  if (headers.type !== undefined && !isJson(headers.type)) {
    throw new Problem('unsupported_media_type', 'Send JSON with “Content-Type: application/json”.')
  }
  if (body.length === 0) {
    const emptyResult = schema.safeParse(undefined)
    if (emptyResult.success) return emptyResult.data
  }
  return unwrapResult(schema.safeParse(parseJson(body), { error: describeCheck }), 'body')
}

export function parseParams(schema: z.ZodObject, params: Record<string, string>): Record<string, unknown> {
  const result = schema.safeParse(params)
  if (!result.success) throw routeNotFound()
  return result.data
}

export const routeNotFound = () => new Problem('route_not_found', 'Nothing exists at this path. See /docs for the API.')

const isJson = (type: string) => /^application\/(json|[\w.+-]+\+json)\s*(;\s*charset\s*=\s*"?utf-?8"?\s*)?(;\s*)?$/i.test(type)

function parseJson(body: Buffer): unknown {
  if (body.length === 0) throw new Problem('invalid_json', 'The body is empty. Send a JSON object, such as {}.')
  try {
    const text = utf8.decode(body)
    return /\\u[dD][89a-fA-F]/.test(text) ? JSON.parse(text, rejectLoneSurrogates) : JSON.parse(text)
  } catch {
    throw new Problem('invalid_json', 'The body is not valid UTF-8 JSON. Check quotes, commas and brackets.')
  }
}

/** A lone surrogate cannot be stored as UTF-8: it would be replaced by another character. */
function rejectLoneSurrogates(key: string, value: unknown): unknown {
  if (!key.isWellFormed() || (typeof value === 'string' && !value.isWellFormed())) throw new SyntaxError('lone surrogate')
  return value
}

function unwrapResult<T>(result: z.ZodSafeParseResult<T>, where: 'query' | 'body'): T {
  if (result.success) return result.data
  throw invalidInput(result.error.issues.flatMap(describeIssue).slice(0, maxIssues), where)
}

function invalidInput(issues: ValidationIssue[], where: 'query' | 'body' = 'query'): Problem {
  const first = issues[0]
  const detail = first ? (first.path === '' ? first.message : `${first.path}: ${first.message}`) : 'Check the values.'
  return new Problem('invalid_input', `The ${where} is invalid. ${detail}`, { issues })
}

/** Messages for the checks that the contract gives none of its own. Undefined: the message of zod. */
const describeCheck: z.core.$ZodErrorMap = (issue) => {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? 'This field is required.' : `Must be ${typeNames[issue.expected] ?? `of type ${issue.expected}`}.`
    case 'too_small':
      return `${describeSize(issue.origin)} at least ${issue.minimum}${unitOf(issue.origin, issue.minimum)}.`
    case 'too_big':
      return `${describeSize(issue.origin)} at most ${issue.maximum}${unitOf(issue.origin, issue.maximum)}.`
    case 'invalid_value':
      return `Must be ${issue.values.map((value) => JSON.stringify(value)).join(' or ')}.`
    default:
      return undefined
  }
}

const describeSize = (origin: string) => (origin === 'string' || origin === 'array' ? 'Must have' : 'Must be')
function unitOf(origin: string, count: number | bigint): string {
  const unit = origin === 'string' ? 'character' : origin === 'array' ? 'item' : undefined
  return unit === undefined ? '' : ` ${unit}${count === 1 ? '' : 's'}`
}

const typeNames: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
  record: 'an object',
  null: 'null',
}

/** Converts an issue of zod. Each unknown field becomes an issue with its own path. */
function describeIssue(issue: z.core.$ZodIssue): ValidationIssue[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      path: [...issue.path, key].map(String).join('.').slice(0, 200),
      message: 'Unknown field. Remove it.',
    }))
  }
  if (issue.code === 'invalid_union')
    return closestForm(issue.errors).flatMap((inner) => describeIssue({ ...inner, path: [...issue.path, ...inner.path] }))
  return [{ path: issue.path.map(String).join('.').slice(0, 200), message: issue.message }]
}

/** The union member that was most likely intended: the one with the fewest issues at the top level. */
function closestForm(forms: z.core.$ZodIssue[][]): z.core.$ZodIssue[] {
  const countFaults = (form: z.core.$ZodIssue[]) =>
    form.filter((issue) => issue.path.length <= 1).reduce((sum, issue) => sum + (issue.code === 'unrecognized_keys' ? issue.keys.length : 1), 0)
  return forms.reduce((best, form) => (countFaults(form) < countFaults(best) ? form : best), forms[0] ?? [])
}
