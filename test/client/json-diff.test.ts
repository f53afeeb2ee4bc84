import { describe, expect, test } from 'vitest'
import { compareBodies, diffHeaders, diffJson } from '../../server/contract/json-diff.ts'

const text = (body: string | null) => ({ body, encoding: 'text' as const })

describe('diffJson', () => {
  test('changed, added and removed fields at any depth', () => {
    const before = { id: 1, user: { name: 'Ada', age: 3 }, tags: ['a', 'b'], 'a b': 1, same: [1, { x: 2 }] }
    const after = { id: 1, user: { name: 'Bob', admin: true }, tags: ['a', 'c', 'd'], 'a b': null, same: [1, { x: 2 }] }
    expect(diffJson(before, after)).toEqual([
      { path: 'user.name', kind: 'changed', before: '"Ada"', after: '"Bob"' },
      { path: 'user.age', kind: 'removed', before: '3', after: null },
      { path: 'user.admin', kind: 'added', before: null, after: 'true' },
      { path: 'tags[1]', kind: 'changed', before: '"b"', after: '"c"' },
      { path: 'tags[2]', kind: 'added', before: null, after: '"d"' },
      { path: '["a b"]', kind: 'changed', before: '1', after: 'null' },
    ])
  })

  test('values of different types, also at the top', () => {
    expect(diffJson([], {})).toEqual([{ path: '', kind: 'changed', before: '[]', after: '{}' }])
    expect(diffJson(1, '1')).toEqual([{ path: '', kind: 'changed', before: '1', after: '"1"' }])
    expect(diffJson({ __proto__: null, a: 0 }, { a: -0 })).toEqual([])
  })

  test('very deep values', () => {
    const deep = (end: string) => JSON.parse(`${'['.repeat(1_000)}${end}${']'.repeat(1_000)}`) as unknown
    expect(diffJson(deep('1'), deep('2'))).toHaveLength(1)
  })
})

describe('compareBodies', () => {
  test('JSON is compared by its values', () => {
    expect(compareBodies(text('{"a":1,"b":2}'), text('{ "b": 2, "a": 1 }'))).toEqual({ kind: 'same' })
    expect(compareBodies(text('{"a":1}'), text('{"a":2}'))).toMatchObject({ kind: 'json', is_complete: true })
  })

  test('other bodies are the same or not', () => {
    expect(compareBodies(text(null), text(null))).toEqual({ kind: 'same' })
    expect(compareBodies(text('<p>1</p>'), text('<p>2</p>'))).toEqual({ kind: 'different' })
    expect(compareBodies(text('{"a":1}'), text('<p>'))).toEqual({ kind: 'different' })
    expect(compareBodies(text('{"a":1}'), { body: '{"a":1}', encoding: 'base64' })).toEqual({ kind: 'different' })
  })

  test('at most 500 differences', () => {
    const list = (start: number) => text(JSON.stringify(Array.from({ length: 2_000 }, (_, i) => start + i)))
    const comparison = compareBodies(list(0), list(1))
    expect(comparison).toMatchObject({ kind: 'json', is_complete: false })
    expect(comparison.kind === 'json' && comparison.changes.length).toBe(500)
  })
})

test('diffHeaders ignores case, order, and headers that always differ', () => {
  const before = [
    ['Content-Type', 'text/html'],
    ['Date', 'yesterday'],
    ['X-A', '1'],
    ['x-a', '2'],
  ] as const
  const after = [
    ['x-a', '1'],
    ['X-A', '2'],
    ['date', 'today'],
    ['content-type', 'application/json'],
    ['X-New', 'y'],
  ] as const
  expect(diffHeaders(before, after)).toEqual([
    { name: 'content-type', before: 'text/html', after: 'application/json' },
    { name: 'x-new', before: null, after: 'y' },
  ])
})
