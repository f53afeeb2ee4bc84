import { createServer } from 'node:http'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'

/** Porkbun's API of names, version 3, over HTTP, as its documentation shows the answers. It keeps state. */
export interface PorkbunStandIn {
  options: { name: 'porkbun'; api_key: string; secret_key: string; api_base: string }
  /** Names of the account. */
  domains: Map<string, { expireDate: string; records: { type: string; content: string }[] }>
  /** In dollars. */
  prices: { registration: string; renewal: string }
  /** Names that are somebody else's. */
  taken: Set<string>
  premium: Set<string>
  /** Paths so far. */
  asked: string[]
  /** What was paid, in cents. */
  charged: number[]
  /** How the next question of a path ends: `lost` does the work and cuts the connection, `cut` does not even do it. */
  next: Map<string, 'lost' | 'cut' | 'refused'>
  close(): Promise<void>
}

const years = (text: string, count: number) => `${Number(text.slice(0, 4)) + count}${text.slice(4)}`

export async function startPorkbun(now: () => number = Date.now): Promise<PorkbunStandIn> {
  const keys = new Set<string>()
  const server = createServer((request, response) => {
    void (async () => {
      const body = JSON.parse(await text(request)) as Record<string, unknown>
      const path = (request.url ?? '').replace('/api/json/v3', '')
      const [, group = '', verb = '', name = ''] = path.split('/')
      stand.asked.push(path)
      const ends = stand.next.get(`${group}/${verb}`)
      stand.next.delete(`${group}/${verb}`)
      if (ends === 'cut') return request.socket.destroy()
      const answer = ends === 'refused' ? no('Something is in the way.') : work(group, verb, name, body, request.headers['idempotency-key'])
      if (ends === 'lost') return request.socket.destroy()
      response.writeHead(answer.status === 'SUCCESS' ? 200 : 400, { 'content-type': 'application/json' })
      return response.end(JSON.stringify(answer))
    })()
  })

  const no = (message: string) => ({ status: 'ERROR', message })
  function work(
    group: string,
    verb: string,
    name: string,
    body: Record<string, unknown>,
    key: string | string[] | undefined,
  ): Record<string, unknown> {
    if (body.apikey !== stand.options.api_key || body.secretapikey !== stand.options.secret_key) return no('Invalid API key. (002)')
    const mine = stand.domains.get(name)
    const { registration, renewal } = stand.prices
    const isPaidBefore = typeof key === 'string' && keys.has(key)
    const pay = () => {
      if (typeof key === 'string') keys.add(key)
      stand.charged.push(Number(body.cost))
    }
    switch (`${group}/${verb}`) {
      case 'domain/checkDomain': {
        const avail = !mine && !stand.taken.has(name) && name.endsWith('.com') ? 'yes' : 'no'
        const premium = stand.premium.has(name) ? 'yes' : 'no'
        const additional = { renewal: { type: 'renewal', price: renewal, regularPrice: renewal } }
        return {
          status: 'SUCCESS',
          response: { avail, type: 'registration', price: registration, firstYearPromo: 'no', regularPrice: registration, premium, additional },
          limits: { TTL: '10', limit: '10', used: 1, naturalLanguage: '1 out of 10 checks within 10 seconds used.' },
        }
      }
      case 'domain/create':
        if (mine && isPaidBefore) return { status: 'SUCCESS', domain: name, cost: body.cost, orderId: 4711 }
        if (mine || stand.taken.has(name)) return no('Domain is not available.')
        if (body.agreeToTerms !== 'yes') return no('You must agree to the terms.')
        if (body.cost !== Math.round(Number(registration) * 100)) return no('The cost does not match the current price.')
        pay()
        stand.domains.set(name, {
          expireDate: years(new Date(now()).toISOString().replace('T', ' ').slice(0, 19), 1),
          records: [{ type: 'ALIAS', content: 'pixie.porkbun.com' }],
        })
        return { status: 'SUCCESS', domain: name, cost: body.cost, orderId: 4711, balance: 100_000 }
      case 'domain/renew':
        if (!mine) return no('Invalid domain.')
        if (body.cost !== Math.round(Number(renewal) * 100)) return no('The cost does not match the current price.')
        if (!isPaidBefore) {
          pay()
          mine.expireDate = years(mine.expireDate, 1)
        }
        return { status: 'SUCCESS', domain: name, cost: body.cost, orderId: 4712 }
      case 'domain/listAll':
        return {
          status: 'SUCCESS',
          domains: [...stand.domains].map(([domain, { expireDate }]) => ({ domain, status: 'ACTIVE', tld: 'com', expireDate })),
        }
      case 'pricing/get':
        return { status: 'SUCCESS', pricing: { com: { registration, renewal, transfer: renewal } } }
      case 'dns/deleteByNameType':
        if (!mine) return no('Invalid domain.')
        mine.records = mine.records.filter(({ type }) => type !== String(stand.asked.at(-1)?.split('/')[4]))
        return { status: 'SUCCESS' }
      case 'dns/create':
        if (!mine) return no('Invalid domain.')
        mine.records.push({ type: String(body.type), content: String(body.content) })
        return { status: 'SUCCESS', id: '106926659' }
      case 'domain/updateAutoRenew':
        return { status: 'SUCCESS' }
      default:
        return no('Unknown path.')
    }
  }

  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  const stand: PorkbunStandIn = {
    options: { name: 'porkbun', api_key: 'pk1_test', secret_key: 'sk1_test', api_base: `http://127.0.0.1:${port}/api/json/v3` },
    domains: new Map(),
    prices: { registration: '9.73', renewal: '11.08' },
    taken: new Set(),
    premium: new Set(),
    asked: [],
    charged: [],
    next: new Map(),
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return stand
}
