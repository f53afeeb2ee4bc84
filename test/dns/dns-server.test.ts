import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { Resolver } from 'node:dns/promises'
import { connect, Server } from 'node:net'
import packet from 'dns-packet'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { answerDnsMessage, type ZoneLookup } from '../../server/optional/dns-server/authoritative-answer.ts'
import { createDnsServer, type DnsServer } from '../../server/optional/dns-server/dns-server.ts'
import { silentLog } from '../../server/lib/log.ts'
import { addToCorpus, newSeed, readCorpus } from '../support/corpus.ts'
import { createSeededRandom } from '../support/seeded-random.ts'
import { requires } from '../support/requirements.ts'
import { isFullTier } from '../support/tier.ts'

const names: Record<string, { zone: string; address: string | null }> = {
  'shop.test': { zone: 'shop.test', address: '127.0.0.1' },
  'www.shop.test': { zone: 'shop.test', address: '127.0.0.1' },
  'ns.shop.test': { zone: 'shop.test', address: null },
  'gone.shop.test': { zone: 'shop.test', address: null },
  'six.internal': { zone: 'six.internal', address: '2001:db8::1' },
}
const zones: ZoneLookup = { find: (name) => (Object.hasOwn(names, name) ? names[name] : undefined) }

const ask = (name: string, type: packet.RecordType = 'A', more: packet.Packet = {}) =>
  packet.encode({ id: 7, type: 'query', flags: packet.RECURSION_DESIRED, questions: [{ type, name }], ...more })
const code = (answer: Buffer | undefined) => (answer === undefined ? undefined : answer.readUInt16BE(2) & 15)
const codes = { none: 0, format: 1, name: 3, not_implemented: 4, refused: 5 }

describe('responses', () => {
  test.each<[string, packet.RecordType, unknown[]]>([
    ['shop.test', 'A', ['127.0.0.1']],
    ['SHOP.Test', 'A', ['127.0.0.1']],
    ['www.shop.test', 'A', ['127.0.0.1']],
    ['ns.shop.test', 'A', ['127.0.0.1']],
    ['six.internal', 'AAAA', ['2001:db8::1']],
    ['shop.test', 'NS', ['ns.shop.test']],
    ['shop.test', 'SOA', [expect.objectContaining({ mname: 'ns.shop.test' })]],
  ])('%s %s', (name, type, data) => {
    const answer = packet.decode(answerDnsMessage(ask(name, type), zones) ?? Buffer.alloc(0))
    expect(answer).toMatchObject({ id: 7, type: 'response', flag_aa: true, flag_rd: true, flag_ra: false })
    expect(answer.questions?.[0]).toMatchObject({ name, type })
    expect(answer.answers?.map((one) => ('data' in one ? one.data : undefined))).toEqual(data)
  })

  test.each<[string, packet.RecordType]>([
    ['shop.test', 'AAAA'],
    ['shop.test', 'MX'],
    ['shop.test', 'HTTPS' as packet.RecordType],
    ['six.internal', 'A'],
    ['www.shop.test', 'NS'],
  ])('%s has no %s: an empty response with a TTL', (name, type) => {
    const answer = answerDnsMessage(ask(name, type), zones) ?? Buffer.alloc(0)
    expect(code(answer)).toBe(codes.none)
    expect(packet.decode(answer)).toMatchObject({ answers: [], authorities: [{ type: 'SOA' }] })
  })

  test('NXDOMAIN for an unknown name', () => {
    expect(code(answerDnsMessage(ask('gone.shop.test'), zones))).toBe(codes.name)
  })

  test.each(['example.com', 'other.test', 'shop.test.example.com', 'x'])('every other query is refused: %s', (name) => {
    const answer = answerDnsMessage(ask(name), zones)
    expect([code(answer), answer?.length]).toEqual([codes.refused, ask(name).length])
  })
})

describe('hostile messages', () => {
  test.each([
    ['a zone transfer', ask('shop.test', 'AXFR'), codes.refused],
    ['all records of a name', ask('shop.test', 'ANY' as packet.RecordType), codes.refused],
    ['another class', packet.encode({ type: 'query', questions: [{ type: 'TXT', name: 'version.bind', class: 'CH' }] }), codes.refused],
    [
      'two questions',
      ask('shop.test', 'A', {
        questions: [
          { type: 'A', name: 'shop.test' },
          { type: 'A', name: 'shop.test' },
        ],
      }),
      codes.format,
    ],
    ['none', ask('shop.test', 'A', { questions: [] }), codes.format],
    ['a query with an answer', ask('shop.test', 'A', { answers: [{ type: 'A', name: 'shop.test', data: '127.0.0.1' }] }), codes.format],
    ['an update', Buffer.concat([Buffer.from([0, 7, 0x28, 0]), ask('shop.test').subarray(4)]), codes.not_implemented],
    ['cut off', ask('shop.test').subarray(0, 20), codes.format],
    ['too long', Buffer.concat([ask('shop.test'), Buffer.alloc(2000)]), codes.format],
    ['a name with a pointer to itself', Buffer.from('000700000001000000000000c00c00010001', 'hex'), codes.format],
  ])('%s', (_, message, expected) => {
    const answer = answerDnsMessage(message, zones)
    expect([code(answer), (answer?.length ?? 0) <= message.length]).toEqual([expected, true])
  })

  test('ignores responses and truncated headers', () => {
    expect(answerDnsMessage(packet.encode({ type: 'response', questions: [{ type: 'A', name: 'shop.test' }] }), zones)).toBeUndefined()
    expect(answerDnsMessage(Buffer.alloc(11), zones)).toBeUndefined()
  })

  const corpus = new URL('corpus/messages.json', import.meta.url)
  const [count, seed] = isFullTier ? [200_000, newSeed()] : [2_000, 20_261_121]

  test(`${count} malformed messages, seed ${seed}: never throws, and a response is never much longer than the query`, () => {
    const seededRandom = createSeededRandom(seed)
    const seeds = [ask('shop.test'), ask('www.shop.test', 'SOA'), ask('gone.shop.test'), ask('six.internal', 'AAAA')]
    const broken = () => {
      const message = Buffer.from(seededRandom.pick(seeds))
      const part = seededRandom.chance(0.3) ? message.subarray(0, seededRandom.between(0, message.length)) : message
      for (let n = seededRandom.between(0, 5); n > 0 && part.length > 0; n--)
        part[seededRandom.between(0, part.length - 1)] = seededRandom.between(0, 255)
      return part.toString('hex')
    }
    const known = readCorpus<string>(corpus)
    for (const hex of [...known, ...Array.from({ length: count }, broken)])
      try {
        const message = Buffer.from(hex, 'hex')
        expect(answerDnsMessage(message, zones)?.length ?? 0, hex).toBeLessThanOrEqual(message.length + 100)
      } catch (error) {
        if (isFullTier && !known.includes(hex)) addToCorpus(corpus, hex)
        throw error
      }
  })
})

describe('sockets', () => {
  let server: DnsServer
  beforeAll(async () => {
    server = createDnsServer({ zones, log: silentLog })
    await server.listen(0)
  })
  afterAll(() => server.close())

  test('resolves the name over UDP', async () => {
    const resolver = new Resolver({ timeout: 5_000 })
    resolver.setServers([`127.0.0.1:${server.port()}`])
    expect(await resolver.resolve4('shop.test')).toEqual(['127.0.0.1'])
    expect(await resolver.resolveNs('shop.test')).toEqual(['ns.shop.test'])
    await expect(resolver.resolve4('gone.shop.test')).rejects.toMatchObject({ code: 'ENOTFOUND' })
    await expect(resolver.resolve4('example.com')).rejects.toMatchObject({ code: 'EREFUSED' })
  })

  test('answers two queries on one TCP connection, in pieces', async () => {
    const socket = connect(server.port() ?? 0, '127.0.0.1')
    const both = Buffer.concat(
      ['shop.test', 'www.shop.test'].map((name) => packet.streamEncode({ id: 9, type: 'query', questions: [{ type: 'A', name }] })),
    )
    for (const byte of both) socket.write(Buffer.from([byte]))
    let held = Buffer.alloc(0)
    const found: string[] = []
    for await (const piece of socket as AsyncIterable<Buffer>) {
      held = Buffer.concat([held, piece])
      while (held.length >= 2 && held.length >= held.readUInt16BE(0) + 2) {
        const size = held.readUInt16BE(0) + 2
        found.push(packet.decode(held.subarray(2, size)).questions?.[0]?.name ?? '')
        held = held.subarray(size)
      }
      if (found.length === 2) break
    }
    expect(found).toEqual(['shop.test', 'www.shop.test'])
  })

  test.skipIf(!requires('loopback').ok)('listens only on this machine', async () => {
    const socket = createSocket('udp4')
    socket.bind(0, '127.0.0.2')
    await once(socket, 'listening')
    socket.send(ask('shop.test'), server.port() ?? 0, '127.0.0.1')
    const [answer] = (await once(socket, 'message')) as [Buffer]
    expect(code(answer)).toBe(codes.none)
    socket.close()
    // The port is free on another address of this machine.
    const other = connect(server.port() ?? 0, '127.0.0.2')
    const [error] = (await once(other, 'error')) as [Error & { code: string }]
    expect(error.code).toBe('ECONNREFUSED')
  })

  test('reports a taken port, and uses the next one', async () => {
    const second = createDnsServer({ zones, log: silentLog })
    await second.listen(server.port() ?? 0)
    expect([second.port(), second.listenError()]).toEqual([undefined, `Port ${server.port()} is in use by another program.`])
    await second.listen(0)
    expect([second.port(), second.listenError()]).toEqual([expect.any(Number), undefined])
    await second.listen(null)
    expect(second.port()).toBeUndefined()
  })

  test('skips a free TCP port whose UDP port is taken', async () => {
    const holder = createSocket('udp4')
    holder.bind(0, '127.0.0.1')
    await once(holder, 'listening')
    const taken = holder.address().port
    const listen = vi.spyOn(Server.prototype, 'listen').mockImplementationOnce(function (this: Server, ...[, host, done]: unknown[]) {
      return Reflect.apply(this.listen, this, [taken, host, done])
    })
    const third = createDnsServer({ zones, log: silentLog })
    await third.listen(0)
    listen.mockRestore()
    expect([third.port(), third.listenError()]).toEqual([expect.not.toBeOneOf([taken, undefined]), undefined])
    await third.close()
    holder.close()
  })
})
