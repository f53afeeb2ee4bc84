import { createServer } from 'node:http'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'

/** A stateful fake of Porkbun's domain API, version 3, over HTTP, with responses as documented. */
export interface FakePorkbun {
  options: { name: 'porkbun'; api_key: string; secret_key: string; api_base: string }
  /** The domains of the account. */
  domains: Map<string, { expireDate: string; records: { type: string; content: string }[] }>
  /** In dollars. */
  prices: { registration: string; renewal: string }
  /** Domains that belong to someone else. */
  taken: Set<string>
  premium: Set<string>
  /** Requested paths. */
  requested_paths: string[]
  /** Charges in cents. */
  charged: number[]
  /** The outcome of the next request per path: `lost` does the work and closes the connection, `cut` closes it without doing the work. */
  next_outcomes: Map<string, 'lost' | 'cut' | 'refused'>
  close(): Promise<void>
}

const addYears = (text: string, count: number) => `${Number(text.slice(0, 4)) + count}${text.slice(4)}`

export async function startFakePorkbun(now: () => number = Date.now): Promise<FakePorkbun> {
  const keys = new Set<string>()
  const server = createServer((request, response) => {
    void (async () => {
      const body = JSON.parse(await text(request)) as Record<string, unknown>
      const path = (request.url ?? '').replace('/api/json/v3', '')
      const [, group = '', verb = '', name = ''] = path.split('/')
      fakePorkbun.requested_paths.push(path)
      const outcome = fakePorkbun.next_outcomes.get(`${group}/${verb}`)
      fakePorkbun.next_outcomes.delete(`${group}/${verb}`)
      if (outcome === 'cut') return request.socket.destroy()
      const answer =
        outcome === 'refused' ? errorResponse('Something is in the way.') : handleCall(group, verb, name, body, request.headers['idempotency-key'])
      if (outcome === 'lost') return request.socket.destroy()
      response.writeHead(answer.status === 'SUCCESS' ? 200 : 400, { 'content-type': 'application/json' })
      return response.end(JSON.stringify(answer))
    })()
  })

  const errorResponse = (message: string) => ({ status: 'ERROR', message })
  function handleCall(
    group: string,
    verb: string,
    name: string,
    body: Record<string, unknown>,
    key: string | string[] | undefined,
  ): Record<string, unknown> {
    if (body.apikey !== fakePorkbun.options.api_key || body.secretapikey !== fakePorkbun.options.secret_key)
      return errorResponse('Invalid API key. (002)')
    const ownDomain = fakePorkbun.domains.get(name)
    const { registration, renewal } = fakePorkbun.prices
    const isPaidBefore = typeof key === 'string' && keys.has(key)
    const pay = () => {
      if (typeof key === 'string') keys.add(key)
      fakePorkbun.charged.push(Number(body.cost))
    }
    switch (`${group}/${verb}`) {
      case 'domain/checkDomain': {
        const avail = !ownDomain && !fakePorkbun.taken.has(name) && name.endsWith('.com') ? 'yes' : 'no'
        const premium = fakePorkbun.premium.has(name) ? 'yes' : 'no'
        const additional = { renewal: { type: 'renewal', price: renewal, regularPrice: renewal } }
        return {
          status: 'SUCCESS',
          response: { avail, type: 'registration', price: registration, firstYearPromo: 'no', regularPrice: registration, premium, additional },
          limits: { TTL: '10', limit: '10', used: 1, naturalLanguage: '1 out of 10 checks within 10 seconds used.' },
        }
      }
      case 'domain/create':
        if (ownDomain && isPaidBefore) return { status: 'SUCCESS', domain: name, cost: body.cost, orderId: 4711 }
        if (ownDomain || fakePorkbun.taken.has(name)) return errorResponse('Domain is not available.')
        if (body.agreeToTerms !== 'yes') return errorResponse('You must agree to the terms.')
        if (body.cost !== Math.round(Number(registration) * 100)) return errorResponse('The cost does not match the current price.')
        pay()
        fakePorkbun.domains.set(name, {
          expireDate: addYears(new Date(now()).toISOString().replace('T', ' ').slice(0, 19), 1),
          records: [{ type: 'ALIAS', content: 'pixie.porkbun.com' }],
        })
        return { status: 'SUCCESS', domain: name, cost: body.cost, orderId: 4711, balance: 100_000 }
      case 'domain/renew':
        if (!ownDomain) return errorResponse('Invalid domain.')
        if (body.cost !== Math.round(Number(renewal) * 100)) return errorResponse('The cost does not match the current price.')
        if (!isPaidBefore) {
          pay()
          ownDomain.expireDate = addYears(ownDomain.expireDate, 1)
        }
        return { status: 'SUCCESS', domain: name, cost: body.cost, orderId: 4712 }
      case 'domain/listAll':
        return {
          status: 'SUCCESS',
          domains: [...fakePorkbun.domains].map(([domain, { expireDate }]) => ({ domain, status: 'ACTIVE', tld: 'com', expireDate })),
        }
      case 'pricing/get':
        return { status: 'SUCCESS', pricing: { com: { registration, renewal, transfer: renewal } } }
      case 'dns/deleteByNameType':
        if (!ownDomain) return errorResponse('Invalid domain.')
        ownDomain.records = ownDomain.records.filter(({ type }) => type !== String(fakePorkbun.requested_paths.at(-1)?.split('/')[4]))
        return { status: 'SUCCESS' }
      case 'dns/create':
        if (!ownDomain) return errorResponse('Invalid domain.')
        ownDomain.records.push({ type: String(body.type), content: String(body.content) })
        return { status: 'SUCCESS', id: '106926659' }
      case 'domain/updateAutoRenew':
        return { status: 'SUCCESS' }
      default:
        return errorResponse('Unknown path.')
    }
  }

  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  const fakePorkbun: FakePorkbun = {
    options: { name: 'porkbun', api_key: 'pk1_test', secret_key: 'sk1_test', api_base: `http://127.0.0.1:${port}/api/json/v3` },
    domains: new Map(),
    prices: { registration: '9.73', renewal: '11.08' },
    taken: new Set(),
    premium: new Set(),
    requested_paths: [],
    charged: [],
    next_outcomes: new Map(),
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return fakePorkbun
}
