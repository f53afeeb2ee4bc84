import { expect, it } from 'vitest'
import { parseCacheStatus, describeCacheMember } from '../../renderer/features/cache/cache-status.ts'

const words = (header: string) => parseCacheStatus(header).map(describeCacheMember)

it.each([
  ['Homeport; hit; ttl=123', ['Homeport answered from its store; fresh for another 123 s.']],
  ['Homeport; hit; ttl=-12; detail=revalidating', ['Homeport answered from its store; stale for 12 s (revalidating).']],
  [
    'Homeport; fwd=uri-miss; fwd-status=200; stored',
    ['Homeport had nothing stored under this address; the app answered 200; the answer is stored now.'],
  ],
  [
    'Homeport;fwd=vary-miss;collapsed',
    ['Homeport had it stored, but not for request headers like these; it shared the request of somebody who asked at the same time.'],
  ],
  ['Homeport; fwd=something-new', ['Homeport asked further on (something-new).']],
  [
    '"Inner; cache, one"; hit, Homeport; fwd=stale; key="a;b=\\"c\\", d"',
    ['Inner; cache, one answered from its store.', 'Homeport had it, but too old to be given without asking.'],
  ],
  ['', []],
  [' , ', []],
])('%s', (header, expected) => expect(words(header)).toEqual(expected))

it('keeps what is between quotes together', () => {
  expect(parseCacheStatus('Homeport; key="a;b=\\"c\\", d"; stored')[0]?.parameters).toEqual(
    new Map<string, string | true>([
      ['key', 'a;b="c", d'],
      ['stored', true],
    ]),
  )
})
