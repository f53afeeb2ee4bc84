import { expect, it } from 'vitest'
import { parseCacheStatus, describeCacheMember } from '../../renderer/features/cache/cache-status.ts'

const words = (header: string) => parseCacheStatus(header).map(describeCacheMember)

it.each([
  ['Homeport; hit; ttl=123', ['Homeport served a stored response; fresh for another 123 s.']],
  ['Homeport; hit; ttl=-12; detail=revalidating', ['Homeport served a stored response; stale for 12 s (revalidating).']],
  ['Homeport; fwd=uri-miss; fwd-status=200; stored', ['Homeport had nothing stored for this URL; the app returned 200; the response is stored now.']],
  [
    'Homeport;fwd=vary-miss;collapsed',
    ['Homeport had a stored response, but not for these request headers; the request was collapsed with an identical one.'],
  ],
  ['Homeport; fwd=something-new', ['Homeport forwarded the request (something-new).']],
  [
    '"Inner; cache, one"; hit, Homeport; fwd=stale; key="a;b=\\"c\\", d"',
    ['Inner; cache, one served a stored response.', 'Homeport had a stale response that needed revalidation.'],
  ],
  ['', []],
  [' , ', []],
])('%s', (header, expected) => expect(words(header)).toEqual(expected))

it('keeps quoted strings together', () => {
  expect(parseCacheStatus('Homeport; key="a;b=\\"c\\", d"; stored')[0]?.parameters).toEqual(
    new Map<string, string | true>([
      ['key', 'a;b="c", d'],
      ['stored', true],
    ]),
  )
})
