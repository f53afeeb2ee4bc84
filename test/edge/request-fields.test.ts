import { describe, expect, test } from 'vitest'
import { createRequestIdGenerator } from '../../server/edge/request-id.ts'
import { truncateClientIp } from '../../server/lib/client-ip.ts'
import { newId } from '../../server/lib/id.ts'
import { maskQuery } from '../../server/lib/query-mask.ts'
import { formatTraceParent, parseTraceParent, spanIdOf, timeOfId, traceIdOf } from '../../server/lib/trace-context.ts'
import { fixedClock } from '../support/test-clock.ts'

describe('the network of a client', () => {
  test.each([
    ['192.168.7.23', '192.168.7.0'],
    ['::ffff:10.1.2.3', '10.1.2.0'],
    ['2001:db8:85a3:8d3:1319:8a2e:370:7348', '2001:db8:85a3::'],
    ['2001:0db8:0001::1', '2001:db8:1::'],
    ['2001:db8::1', '2001:db8::'],
    ['fe80::1%eth0', 'fe80::'],
    ['::1', '::'],
    ['192.168.7.0', '192.168.7.0'],
    ['2001:db8:85a3::', '2001:db8:85a3::'],
    ['unknown', ''],
    ['', ''],
  ])('of %s is %s', (address, network) => {
    expect(truncateClientIp(address)).toBe(network)
  })
})

describe('a query', () => {
  test.each([
    ['page=2&sort=name', 'page=2&sort=name'],
    ['token=abc&page=2', 'token=***&page=2'],
    ['access_token=a&refreshToken=b&id_token=c', 'access_token=***&refreshToken=***&id_token=***'],
    ['api_key=a&apikey=b&key=c&X-Amz-Signature=d&X-Amz-Credential=e', 'api_key=***&apikey=***&key=***&X-Amz-Signature=***&X-Amz-Credential=***'],
    ['password=a=b&sig=c&code=d&state=e', 'password=***&sig=***&code=***&state=***'],
    ['%74oken=abc', '%74oken=***'],
    ['keyboard=us&zipcode=1&monkey=x&estate=y&author=me', 'keyboard=us&zipcode=1&monkey=x&estate=y&author=me'],
    ['token', 'token'],
    ['=x&%zz=1', '=x&%zz=1'],
    ['', ''],
  ])('%s is kept as %s', (query, kept) => {
    expect(maskQuery(query)).toBe(kept)
  })
})

describe('the trace of a request', () => {
  test('has the bits of its ID', () => {
    const id = newId('req')
    const bits = Array.from(id.slice(4)).reduce((value, digit) => value * 32n + BigInt('0123456789abcdefghjkmnpqrstvwxyz'.indexOf(digit)), 0n)
    expect(traceIdOf(id)).toBe(bits.toString(16).padStart(32, '0'))
    expect(spanIdOf(id)).toBe(traceIdOf(id).slice(16))
  })

  test.each([0, 1, 1_767_225_600_123, 8_000_000_000_000])('the ID has its time, %i', (time) => {
    expect(timeOfId(createRequestIdGenerator(fixedClock(time))())).toBe(time)
  })

  test('is valid for others', () => {
    const id = newId('req')
    const value = formatTraceParent(id, undefined)
    expect(value).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/)
    expect(parseTraceParent(value)).toEqual({ trace_id: traceIdOf(id), flags: '01' })
  })
})
