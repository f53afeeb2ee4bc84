import type { z } from 'zod'
import { Problem } from '../contract/errors.ts'
import type { ValidationIssue } from '../contract/errors.ts'

/** Issues reported at most: a body of a hundred thousand unknown names is not echoed. */
const maxIssues = 100

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** A query as the schema of an operation wants it: unknown names are dropped, a repeated one is refused. */
export function parseQuery(schema: z.ZodObject, query: string): Record<string, unknown> {
  if (query === '') return Object.keys(schema.shape).length === 0 ? {} : unwrapResult(schema.safeParse({}), 'query')
  const values: Record<string, string> = Object.create(null)
  const repeated = new Set<string>()
  for (const [name, value] of new URLSearchParams(query)) {
    if (name in values) repeated.add(name)
    values[name] = value
  }
  if (repeated.size > 0) {
    throw invalidInput([...repeated].map((path) => ({ path, message: 'Give this query parameter once.' })))
  }
  const known = Object.fromEntries(Object.keys(schema.shape).flatMap((name) => (values[name] === undefined ? [] : [[name, values[name]]])))
  return unwrapResult(schema.safeParse(known), 'query')
}

/** A JSON body as the schema of an operation wants it. `type` is what the request says of it. */
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
  return unwrapResult(schema.safeParse(parseJson(body)), 'body')
}

export function parseParams(schema: z.ZodObject, params: Record<string, string>): Record<string, unknown> {
  const result = schema.safeParse(params)
  if (!result.success) throw routeNotFound()
  return result.data
}

export const routeNotFound = () => new Problem('route_not_found', 'There is nothing at this address. The API is described at /docs.')

/** JSON in UTF-8, by its type and, if it names one, its character set. */
const isJson = (type: string) => /^application\/(json|[\w.+-]+\+json)\s*(;\s*charset\s*=\s*"?utf-?8"?\s*)?(;\s*)?$/i.test(type)

function parseJson(body: Buffer): unknown {
  if (body.length === 0) throw new Problem('invalid_json', 'The body is empty. Send a JSON object, such as {}.')
  try {
    const text = utf8.decode(body)
    return /\\u[dD][89a-fA-F]/.test(text) ? JSON.parse(text, rejectLoneSurrogates) : JSON.parse(text)
  } catch {
    throw new Problem('invalid_json', 'The body is not valid JSON in UTF-8. Check quotes, commas and brackets.')
  }
}

/** Half a surrogate pair cannot be stored as UTF-8: it would come back as another character. */
function rejectLoneSurrogates(key: string, value: unknown): unknown {
  if (!key.isWellFormed() || (typeof value === 'string' && !value.isWellFormed())) throw new SyntaxError('half a character')
  return value
}

function unwrapResult<T>(result: z.ZodSafeParseResult<T>, where: 'query' | 'body'): T {
  if (result.success) return result.data
  throw invalidInput(result.error.issues.flatMap(describeIssue).slice(0, maxIssues), where)
}

function invalidInput(issues: ValidationIssue[], where: 'query' | 'body' = 'query'): Problem {
  const first = issues[0]
  const detail = first ? (first.path === '' ? first.message : `${first.path}: ${first.message}`) : 'Check the values.'
  return new Problem('invalid_input', `The ${where === 'query' ? 'query' : 'body'} is not in order. ${detail}`, { issues })
}

/** One issue of the schema library as ours; an unknown field is named by its own path. */
function describeIssue(issue: z.core.$ZodIssue): ValidationIssue[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      path: [...issue.path, key].map(String).join('.').slice(0, 200),
      message: 'There is no such field here. Leave it out.',
    }))
  }
  if (issue.code === 'invalid_union')
    return closestForm(issue.errors).flatMap((inner) => describeIssue({ ...inner, path: [...issue.path, ...inner.path] }))
  return [{ path: issue.path.map(String).join('.').slice(0, 200), message: issue.message }]
}

/** Of several forms that a body may have: the one that was most likely meant, with the fewest faults at its own level. */
function closestForm(forms: z.core.$ZodIssue[][]): z.core.$ZodIssue[] {
  const countFaults = (form: z.core.$ZodIssue[]) =>
    form.filter((issue) => issue.path.length <= 1).reduce((sum, issue) => sum + (issue.code === 'unrecognized_keys' ? issue.keys.length : 1), 0)
  return forms.reduce((best, form) => (countFaults(form) < countFaults(best) ? form : best), forms[0] ?? [])
}
