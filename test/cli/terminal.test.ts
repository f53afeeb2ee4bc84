import { describe, expect, test } from 'vitest'
import { buildProjectUrl } from '../../server/cli/projects.ts'
import { formatRelativeTime, sanitizeLine, formatTable, type Terminal } from '../../server/cli/terminal.ts'
import { slugify } from '../../server/lib/slug.ts'

const on = (has_colour: boolean): Terminal => ({ out: () => {}, err: () => {}, flush: async () => {}, is_interactive: false, has_colour })

describe('the output of an app', () => {
  test('keeps its colors where they are supported', () => {
    expect(sanitizeLine(on(true), '\x1b[31mred\x1b[0m plain')).toBe('\x1b[31mred\x1b[0m plain\x1b[0m')
    expect(sanitizeLine(on(false), '\x1b[31mred\x1b[0m plain')).toBe('red plain')
  })
  test.each(['\x1b]0;title\x07', '\x1b]52;c;ZXZpbA==\x07', '\x1b[2J', '\x1b[10;10H', '\x07', '\x9b31m', '\x1b]8;;https://evil.example\x07'])(
    'cannot control the terminal: %j',
    (sequence) => {
      for (const colour of [true, false]) {
        const shown = sanitizeLine(on(colour), `a\x1b[1m${sequence}b`)
        // oxlint-disable-next-line no-control-regex -- only color codes may remain
        expect(shown.replace(/\x1b\[[0-9;]*m/g, '')).toMatch(/^a(31m)?b$/)
      }
    },
  )
  test('shows the final state of an overwritten line', () => {
    expect(sanitizeLine(on(false), '10 %\r50 %\r100 %')).toBe('100 %')
    expect(sanitizeLine(on(false), 'done\r')).toBe('done')
  })
})

test('a table is as wide as its cells', () => {
  expect(
    formatTable(
      on(false),
      ['A', 'B'],
      [
        ['long one', 'x'],
        ['s', 'y'],
      ],
    ),
  ).toEqual(['A         B', 'long one  x', 's         y'])
})

test('formats times', () => {
  const now = Date.parse('2026-01-31T12:00:00.000Z')
  expect(formatRelativeTime('2026-01-31T11:59:30.000Z', now)).toBe('30 s ago')
  expect(formatRelativeTime('2026-01-31T11:00:01.000Z', now)).toBe('59 min ago')
  expect(formatRelativeTime('2026-01-31T10:59:59.000Z', now)).toBe('1 h ago')
  expect(formatRelativeTime('2026-01-01T00:00:00.000Z', now)).toBe('30 days ago')
})

test.each([
  ['My Site', 'my-site'],
  ['Große Idee', 'grosse-idee'],
  ['--a--b c--', 'a-b-c'],
  ['Ünïcödé_App!', 'unicode-app'],
  ['C', 'c-app'],
  ['!!', 'my-app'],
])('%s becomes %s', (name, slug) => expect(slugify(name)).toBe(slug))

test.each([
  ['http://127.0.0.1:4680', 'http://shop.localhost:4680'],
  ['http://localhost:4680', 'http://shop.localhost:4680'],
  ['https://apps.example', 'https://shop.apps.example'],
])('an app at %s is %s', (edge, address) => expect(buildProjectUrl(edge, 'shop')).toBe(address))
