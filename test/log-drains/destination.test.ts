import type { LookupAddress } from 'node:dns'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createDestination, type DestinationSettings } from '../../server/log-drains/destination.ts'
import type { DrainLine } from '../../server/log-drains/drain-line.ts'
import { formatSyslogMessage, frameSyslogMessage } from '../../server/log-drains/syslog-message.ts'
import type { ResolveAll } from '../../server/notifications/post-json.ts'
import { type SyslogReceiver, startSyslogReceiver, startUdpReceiver } from '../support/log-receivers.ts'
import { fixedClock } from '../support/test-clock.ts'
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts'

const line = (change: Partial<DrainLine> = {}): DrainLine => ({
  id: 'prj_1.7',
  timestamp: '2026-01-31T12:00:00.000Z',
  source: 'app',
  level: 'info',
  message: 'hello',
  project: 'shop',
  environment: 'production',
  branch: 'main',
  service: null,
  deployment_id: 'dpl_1',
  ...change,
})

/* server/SECURITY.md, T44. The canaries are servers on this machine. */
describe('a name that leads to a private address', () => {
  let http: WebhookReceiver
  let tcp: SyslogReceiver
  let udp: Awaited<ReturnType<typeof startUdpReceiver>>
  beforeAll(async () => {
    http = await startWebhookReceiver()
    tcp = await startSyslogReceiver()
    udp = await startUdpReceiver()
  })
  afterAll(() => Promise.all([http.close(), tcp.close(), udp.close()]))

  const send = (kind: DestinationSettings['kind'], address: string, ips: string[], is_trusted = false) => {
    const resolve: ResolveAll = (_name, _options, callback) =>
      callback(
        null,
        ips.map((ip): LookupAddress => ({ address: ip, family: ip.includes(':') ? 6 : 4 })),
      )
    const settings = { id: 'drn_1', project_id: 'prj_1', kind, address, headers: [], secret: null, format: 'ndjson' as const, is_trusted }
    const destination = createDestination(settings, { clock: fixedClock(0), folder: '/nonexistent', resolve })
    return destination.send([line()], new AbortController().signal)
  }
  const addressOf = (kind: string) =>
    kind === 'http' ? `https://logs.example.com:${http.port}/` : `${kind}://logs.example.com:${kind === 'udp' ? udp.port : tcp.port}`
  const kindOf = (name: string) => (name === 'http' ? 'http' : 'syslog')

  test.each(['http', 'tls', 'tcp', 'udp'])('gets nothing from another account, over %s', async (name) => {
    for (const ips of [['127.0.0.1'], ['::1'], ['169.254.169.254'], ['8.8.8.8', '127.0.0.1']])
      expect(await send(kindOf(name), addressOf(name), ips)).toEqual({
        status: null,
        error: expect.stringMatching(/leads to a private network, which only the instance owner may use|only for private networks/),
      })
  })

  test.each(['tls', 'tcp', 'udp'])('that belongs to the metadata service of a cloud gets nothing, over %s', async (name) => {
    expect(await send('syslog', addressOf(name), ['169.254.169.254'], true)).toEqual({
      status: null,
      error: 'The URL leads to an address that nothing is sent to.',
    })
  })

  test.each(['tcp', 'udp'])('is no reason to send unencrypted lines to a public one, over %s', async (name) => {
    expect((await send('syslog', addressOf(name), ['8.8.8.8'], true)).error).toBe(`Use tls://, because ${name}:// is only for private networks.`)
  })

  test('none of these reached a server', () => {
    expect([http.received, tcp.messages, udp.messages]).toEqual([[], [], []])
  })
})

describe('a syslog message', () => {
  const format = (change: Partial<DrainLine>, max = 8192) => formatSyslogMessage(line(change), max).toString()
  const header =
    '<134>1 2026-01-31T12:00:00.000Z shop web dpl_1 app [homeport@32473 project="shop" environment="production" branch="main" id="prj_1.7"] \ufeff'

  test('has the fields of RFC 5424, and a severity by its level', () => {
    expect(format({})).toBe(`${header}hello`)
    expect(format({ level: 'error' })).toMatch(/^<131>1 /)
    expect(format({ level: 'warn' })).toMatch(/^<132>1 /)
    expect(format({ service: 'worker', deployment_id: null, source: 'request' })).toContain(' shop worker - request [')
    expect(format({ id: null, environment: null, branch: null, source: 'homeport' })).toContain('[homeport@32473 project="shop"] ')
  })

  test('cannot be forged by its text, its branch or a service', () => {
    const evil = 'a\n<0>1 - - - - - - forged\r\u2028\u0085\u0000\u001b[31mred\u001b[0m'
    expect(format({ message: evil })).toBe(`${header}a <0>1 - - - - - - forged    red`)
    expect(format({ branch: 'a"] x=\\ \n' })).toContain('branch="a\\"\\] x=\\\\  "')
    expect(format({ service: 'a b\nc' })).toContain(' shop abc dpl_1 ')
  })

  test('is cut between characters', () => {
    const cut = formatSyslogMessage(line({ message: '\u{1f6a2}'.repeat(100) }), 200)
    expect(cut.length).toBeLessThanOrEqual(200)
    expect(cut.toString()).not.toContain('\ufffd')
    expect(frameSyslogMessage(cut).toString()).toBe(`${cut.length} ${cut.toString()}`)
  })
})
