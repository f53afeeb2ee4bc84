import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { malformed, ChunkedBodyScanner, needMore } from '../../server/edge/upstream/chunked-scanner.ts'
import { parseFastPathHead } from '../../server/edge/fast-path/request-head.ts'
import { createRequestIdGenerator } from '../../server/edge/request-id.ts'
import { parseResponseHead } from '../../server/edge/upstream/response-head.ts'
import { parseHostName } from '../../server/edge/host-header.ts'
import { cacheControlFor } from '../../server/edge/static/headers.ts'
import { fixedClock } from '../support/test-clock.ts'

const cuts = fc.array(fc.nat(2000), { maxLength: 8 })

function scanInParts(bytes: Buffer, at: number[]): { end: number; body: string; trailers: string } {
  const scanner = new ChunkedBodyScanner()
  const ends = [...new Set([...at.map((cut) => cut % (bytes.length + 1)), bytes.length])].toSorted((a, b) => a - b)
  let body = ''
  let start = 0
  for (const end of ends) {
    const result = scanner.scan(bytes, start, end, (from, to) => (body += bytes.toString('latin1', from, to)))
    if (result !== needMore) return { end: result, body, trailers: scanner.trailers }
    start = end
  }
  return { end: needMore, body, trailers: scanner.trailers }
}

describe('chunked bodies', () => {
  test('end correctly, however they are split', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ minLength: 1, maxLength: 60, unit: 'binary-ascii' }), { maxLength: 10 }),
        fc.boolean(),
        cuts,
        (parts, trailer, at) => {
          const framed = `${parts.map((part) => `${part.length.toString(16)};x=1\r\n${part}\r\n`).join('')}0\r\n${trailer ? 'X-Sum: 1\r\n' : ''}\r\n`
          const got = scanInParts(Buffer.from(`${framed}NEXT`, 'latin1'), at)
          expect(got).toEqual({ end: framed.length, body: parts.join(''), trailers: trailer ? 'X-Sum: 1\r\n' : '' })
        },
      ),
    )
  })

  test.each([
    '\r\n',
    'g\r\n',
    '-1\r\n',
    '0x1\r\na\r\n',
    ' 1\r\na\r\n',
    '1 \r\na\r\n',
    '1\na\r\n',
    '1\r\nab\r\n',
    '1\r\na\n',
    '1234567890123\r\n',
    '1;a\nb\r\n',
    '0\r\nX : 1\r\n\r\n',
    '0\r\n X: 1\r\n\r\n',
    '0\r\nContent-Length: 1\r\n\r\n',
    '0\r\n\n',
    `0\r\nX: ${'y'.repeat(9000)}`,
  ])('%j is invalid', (text) => {
    expect(scanInParts(Buffer.from(text, 'latin1'), []).end).toBe(malformed)
  })
})

describe('the strict head parser', () => {
  const plain = 'POST /a?b HTTP/1.1\r\nHost: x.localhost\r\nConnection: Keep-Alive\r\nX-A:b\r\nContent-Length: 3\r\n\r\nabc'

  test('parses a plain request', () => {
    expect(parseFastPathHead(Buffer.from(plain), plain.length)).toEqual({
      method: 'POST',
      target: '/a?b',
      host: 'x.localhost',
      lines: 'POST /a?b HTTP/1.1\r\nHost: x.localhost\r\nX-A:b\r\nContent-Length: 3\r\n',
      body_length: 3,
      wantsClose: false,
      isSimpleGet: false,
      body_start: plain.length - 3,
    })
  })

  test('waits for the complete head', () => {
    const bytes = Buffer.from(plain)
    for (let length = 0; length < plain.length - 3; length++) expect(parseFastPathHead(bytes.subarray(0, length), length)).toBeUndefined()
  })

  test('never reads a head with one changed byte differently from Node', () => {
    fc.assert(
      fc.property(fc.nat(plain.length - 4), fc.integer({ min: 0, max: 255 }), (at, byte) => {
        const bytes = Buffer.from(plain)
        bytes[at] = byte
        const head = parseFastPathHead(bytes, bytes.length)
        // Every accepted head has no control characters, no second line end and one length.
        if (head !== undefined && head !== 'unsupported') {
          expect(head.lines.replaceAll('\r\n', '')).toMatch(/^[\x20-\x7e]*$/)
          expect(head.lines.match(/content-length:/gi)?.length ?? 0).toBe(head.lines.toLowerCase().includes('content-length') ? 1 : 0)
          expect(head.target.startsWith('/')).toBe(true)
        }
      }),
      { numRuns: 5000 },
    )
  })
})

test('response headers are parsed the same however they are split', () => {
  const text = 'HTTP/1.1 200 Fine\r\nContent-Length: 5\r\nConnection: close\r\nSet-Cookie: a=b\r\nSet-Cookie: c=d\r\nX-Utf: \xc3\xa9\r\n\r\nhello'
  const bytes = Buffer.from(text, 'latin1')
  for (let length = 0; length < text.length - 5; length++) expect(parseResponseHead(bytes, 0, length)).toBeUndefined()
  expect(parseResponseHead(bytes, 0, bytes.length)).toMatchObject({
    status: 200,
    reason: 'Fine',
    length: 5,
    keepAlive: false,
    lines: 'Content-Length: 5\r\nSet-Cookie: a=b\r\nSet-Cookie: c=d\r\nX-Utf: \xc3\xa9\r\n',
    body_start: text.length - 5,
  })
})

test.each([
  ['A.localhost', 'a.localhost'],
  ['a.localhost.', 'a.localhost'],
  ['a.localhost.:81', 'a.localhost'],
  ['127.0.0.1:80', '127.0.0.1'],
  ['[::1]:80', '[::1]'],
  ['a.localhost..', undefined],
  ['a..localhost', undefined],
  ['a@b', undefined],
  ['a b', undefined],
  ['a/b', undefined],
  ['', undefined],
  ['.', undefined],
  ['a:80:90', undefined],
  ['a:x', undefined],
  ['ä.localhost', undefined],
])('the host in Host %j is %j', (raw, name) => {
  expect(parseHostName(raw)).toBe(name)
})

test('request ids are unique and increasing', () => {
  let now = 1_700_000_000_000
  const next = createRequestIdGenerator({ ...fixedClock(now), now: () => now })
  const ids = Array.from({ length: 100_000 }, (_, i) => {
    if (i % 1000 === 0) now++
    return next()
  })
  expect(new Set(ids).size).toBe(ids.length)
  expect(ids.every((id) => /^req_[0-9a-hjkmnp-tv-z]{26}$/.test(id))).toBe(true)
  expect(ids.toSorted()).toEqual(ids)
})

test.each([
  ['/x/assets/index-DiwrgTda.js', true],
  ['/x/_astro/page.Bx9dk2LK.css', true],
  ['/x/main-3NVBK7KP.js', true],
  ['/x/main.4f2a9c1b.js', true],
  ['/x/_next/static/chunks/webpack-9d2b3c4e5f607182.js', true],
  ['/x/jquery-slideshow.js', false],
  ['/x/assets/jquery-slideshow.js', false],
  ['/x/report-version2.json', false],
  ['/x/photo-20240131.jpg', false],
  ['/x/index.html', false],
  ['/x/sw.js', false],
])('%s may be cached forever: %s', (path, forever) => {
  expect(cacheControlFor(path).includes('immutable')).toBe(forever)
})
