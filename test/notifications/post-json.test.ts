import type { LookupAddress } from 'node:dns'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { Problem } from '../../server/contract/errors.ts'
import { explainPostError, postJson, type ResolveAll } from '../../server/notifications/post-json.ts'
import { parseTargetAddress } from '../../server/notifications/target-address.ts'
import { fixedClock } from '../support/test-clock.ts'
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts'

/* server/SECURITY.md, T7: which addresses a notification is sent to. The canary is a server on this machine. */

let canary: WebhookReceiver
beforeAll(async () => {
  canary = await startWebhookReceiver()
})
beforeEach(() => void canary.received.splice(0))
afterAll(() => canary.close())

const resolvesTo =
  (...addresses: string[]): ResolveAll =>
  (_name, _options, callback) =>
    callback(
      null,
      addresses.map((address): LookupAddress => ({ address, family: address.includes(':') ? 6 : 4 })),
    )

const post = (url: string, is_trusted: boolean, resolve?: ResolveAll) =>
  postJson(fixedClock(0), { url, is_trusted, headers: {}, body: '{}', timeout_ms: 10_000, signal: new AbortController().signal }, resolve).catch(
    (error: unknown) => explainPostError(error),
  )

const parse = (text: string, is_trusted: boolean) => {
  try {
    return parseTargetAddress('webhook', text, is_trusted)
  } catch (error) {
    return error instanceof Problem ? error.code : error
  }
}

describe('private addresses, in every spelling', () => {
  test.each([
    '127.0.0.1',
    '2130706433',
    '0x7f.1',
    '0177.0.0.1',
    '127.1',
    'localhost',
    'app.localhost',
    'localhost.',
    'ⓛocalhost',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '0.0.0.0',
    '[::]',
    '10.0.0.8',
    '192.168.1.1',
    '172.16.0.1',
    '100.64.0.1',
    '169.254.169.254',
    '[fe80::1]',
    '[fd00::1]',
  ])('https://%s is refused when somebody else than the instance owner adds it', (host) => {
    expect(parse(`https://${host}/hook`, false)).toBe('invalid_input')
    expect(parse(`http://${host}:${canary.port}/hook`, false)).toBe('invalid_input')
  })

  test.each(['169.254.169.254', '[fe80::1]', '0.0.0.0', '[::]', '[fd00:ec2::254]', '[::ffff:a9fe:a9fe]'])('%s is refused for everybody', (host) => {
    expect(parse(`http://${host}/hook`, true)).toBe('invalid_input')
  })

  test.each(['127.0.0.1', 'localhost', '192.168.1.1', '[::1]'])('%s is for the instance owner', (host) => {
    expect(parse(`http://${host}:8080/hook`, true)).toBe(`http://${host}:8080/hook`)
  })

  test('http:// is only for private addresses', () => {
    expect(parse('http://93.184.216.34/hook', true)).toBe('invalid_input')
    expect(parse('http://hooks.example.com/', false)).toBe('invalid_input')
    expect(parse('https://hooks.example.com/a?b=c#d', false)).toBe('https://hooks.example.com/a?b=c')
  })

  test.each(['ftp://example.com', 'file:///etc/passwd', 'not a url', 'https://user:password@example.com/', 'javascript:alert(1)'])(
    '%s is refused',
    (url) => expect(parse(url, true)).toBe('invalid_input'),
  )
})

describe('at each connection', () => {
  test('a name that resolves to a private address is refused, and nothing is sent', async () => {
    const url = `https://hooks.example.com:${canary.port}/`
    for (const addresses of [['127.0.0.1'], ['93.184.216.34', '127.0.0.1'], ['::1'], ['169.254.169.254']])
      expect(await post(url, false, resolvesTo(...addresses))).toBe('The URL leads to a private network, which only the instance owner may use.')
    expect(await post(url, true, resolvesTo('169.254.169.254'))).toBe('The URL leads to an address that nothing is sent to.')
    expect(await post(`http://hooks.example.com:${canary.port}/`, true, resolvesTo('93.184.216.34'))).toMatch(/^Use https/)
    expect(canary.received).toEqual([])
  })

  test('an address that was stored by another way is checked too', async () => {
    expect(await post(`http://127.0.0.1:${canary.port}/`, false)).toMatch(/private network/)
    expect(canary.received).toEqual([])
  })

  test('the instance owner may use this machine', async () => {
    expect(await post(`http://127.0.0.1:${canary.port}/a?b=c`, true)).toBe(200)
    expect(await post(`http://nas.example.com:${canary.port}/`, true, resolvesTo('127.0.0.1'))).toBe(200)
    expect(canary.received.map(({ path }) => path)).toEqual(['/a?b=c', '/'])
  })

  test('a redirect is not followed', async () => {
    canary.statuses.push(307)
    expect(await post(`http://127.0.0.1:${canary.port}/`, true)).toBe(307)
    expect(canary.received).toHaveLength(1)
  })

  test('errors say nothing of the URL', async () => {
    await canary.close()
    const error = await post(`http://127.0.0.1:${canary.port}/secret-path?token=secret`, true)
    expect(error).toBe('The connection was refused (ECONNREFUSED).')
    canary = await startWebhookReceiver()
  })
})
