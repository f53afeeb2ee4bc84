import { afterAll, beforeAll, expect, test } from 'vitest'
import { hasTxtRecord } from '../../server/dns/has-txt-record.ts'
import { type FakeDns, startFakeDns } from '../support/fake-dns.ts'

let dns: FakeDns
beforeAll(async () => (dns = await startFakeDns({ 'a.example.com': { TXT: [['one'], ['tw', 'o']] }, 'b.example.com': 'SERVFAIL' })))
afterAll(() => dns.close())

test.each([
  ['a.example.com', 'one', true],
  ['a.example.com', 'two', true],
  ['a.example.com', 'tw', false],
  ['b.example.com', 'one', false],
  ['c.example.com', 'one', false],
])('%s has the TXT record %s: %s', async (name, value, expected) => expect(await hasTxtRecord([dns.address], name, value)).toBe(expected))
