import { expect, test } from 'vitest'
import { z } from 'zod'
import { Problem } from '../../server/contract/errors.ts'
import { parseBody, parseQuery } from '../../server/api/parse-input.ts'

const messageOf = (parse: () => unknown): string => {
  try {
    parse()
  } catch (error) {
    if (error instanceof Problem) return error.message
  }
  return expect.unreachable('It was accepted.')
}
const schema = z.strictObject({
  name: z.string().min(2).max(5).optional(),
  days: z.number().int().min(1).max(365).optional(),
  is_on: z.boolean().optional(),
  target: z.enum(['production', 'preview']).optional(),
  tags: z.array(z.string()).min(1).max(2).optional(),
  own: z.string().regex(/^a/, 'Begin with an a.').optional(),
  limits: z.object({ memory_mb: z.number() }).optional(),
})

test.each([
  [{ name: 'x' }, 'name: Must have at least 2 characters.'],
  [{ name: 'abcdef' }, 'name: Must have at most 5 characters.'],
  [{ name: 7 }, 'name: Must be a string.'],
  [{ days: 0 }, 'days: Must be at least 1.'],
  [{ days: 366 }, 'days: Must be at most 365.'],
  [{ days: 1.5 }, 'days: Must be a whole number.'],
  [{ days: '7' }, 'days: Must be a number.'],
  [{ is_on: 'yes' }, 'is_on: Must be true or false.'],
  [{ target: 'staging' }, 'target: Must be "production" or "preview".'],
  [{ tags: [] }, 'tags: Must have at least 1 item.'],
  [{ tags: 'a' }, 'tags: Must be an array.'],
  [{ limits: {} }, 'limits.memory_mb: This field is required.'],
  [{ limits: 1 }, 'limits: Must be an object.'],
  [{ own: 'b' }, 'own: Begin with an a.'],
  [{ colour: 1 }, 'colour: Unknown field. Remove it.'],
])('%j: %s', (body, message) => {
  const parse = () => parseBody(schema, Buffer.from(JSON.stringify(body)), { type: 'application/json', encoding: undefined })
  expect(messageOf(parse)).toBe(`The body is invalid. ${message}`)
})

test('query parameters give the same errors', () => {
  const query = z.object({ lines: z.coerce.number().min(20) })
  expect(messageOf(() => parseQuery(query, 'lines=5'))).toBe('The query is invalid. lines: Must be at least 20.')
  expect(messageOf(() => parseQuery(query, 'lines=30&lines=40'))).toBe('The query is invalid. lines: Send this query parameter only once.')
})
