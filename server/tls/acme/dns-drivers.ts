import { z } from 'zod'
import { type Clock, timeoutSignal } from '../../lib/clock.ts'
import { AcmeError } from './acme-client.ts'

/** Sets the TXT records of DNS-01 challenges. */
export interface DnsDriver {
  /** Adds one value; the name may have others. */
  addTxt(name: string, value: string): Promise<void>
  /** Removes this value and no other. */
  removeTxt(name: string, value: string): Promise<void>
}

export type DnsDriverChoice = { name: 'webhook'; url: string; token: string | null } | { name: 'cloudflare'; token: string; api_base: string | null }

/** The drivers by name. */
export const createDnsDriver = (choice: DnsDriverChoice, clock: Clock): DnsDriver =>
  choice.name === 'webhook' ? createWebhookDriver(choice, clock) : createCloudflareDriver(choice, clock)

const timeout_ms = 30_000

async function call(clock: Clock, label: string, url: string, init: RequestInit): Promise<unknown> {
  let response: Response
  let text: string
  try {
    response = await fetch(url, { ...init, redirect: 'error', signal: timeoutSignal(clock, timeout_ms) })
    text = await response.text()
  } catch (cause) {
    throw new AcmeError('dnsDriver', `${label} did not respond.`, { cause })
  }
  if (!response.ok) throw new AcmeError('dnsDriver', `${label} answered ${response.status}.`)
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * The protocol of lego's `httpreq`, which acme-dns bridges and many scripts speak: POST `/present` and `/cleanup` with `{fqdn, value}`. The token is
 * `user:password` for Basic authentication, or a bearer token.
 */
function createWebhookDriver({ url, token }: Extract<DnsDriverChoice, { name: 'webhook' }>, clock: Clock): DnsDriver {
  const authorization: Record<string, string> =
    token === null ? {} : { authorization: token.includes(':') ? `Basic ${btoa(token)}` : `Bearer ${token}` }
  const send = (action: 'present' | 'cleanup') => async (name: string, value: string) =>
    void (await call(clock, 'The DNS webhook', `${url.replace(/\/+$/, '')}/${action}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...authorization },
      body: JSON.stringify({ fqdn: `${name}.`, value }),
    }))
  return { addTxt: send('present'), removeTxt: send('cleanup') }
}

const listSchema = z.object({ result: z.array(z.object({ id: z.string() })) })

/** Cloudflare's API, version 4. The token needs the permission to edit the DNS of the zone. */
function createCloudflareDriver({ token, api_base }: Extract<DnsDriverChoice, { name: 'cloudflare' }>, clock: Clock): DnsDriver {
  const base = (api_base ?? 'https://api.cloudflare.com/client/v4').replace(/\/+$/, '')
  const callApi = (path: string, init: RequestInit = {}) =>
    call(clock, 'Cloudflare', base + path, { ...init, headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' } })
  const list = async (path: string, query: Record<string, string>): Promise<string[]> => {
    const { data } = listSchema.safeParse(await callApi(`${path}?${new URLSearchParams(query).toString()}`))
    if (!data) throw new AcmeError('dnsDriver', 'Cloudflare sent a response that Homeport does not understand.')
    return data.result.map(({ id }) => id)
  }
  /** The zone of a name has the name of one of its parents. */
  const findRecords = async (name: string): Promise<string> => {
    for (let zone = name; zone.includes('.'); zone = zone.slice(zone.indexOf('.') + 1)) {
      const [id] = await list('/zones', { name: zone })
      if (id !== undefined) return `/zones/${encodeURIComponent(id)}/dns_records`
    }
    throw new AcmeError('dnsDriver', `The Cloudflare token can edit no zone of ${name}.`)
  }
  return {
    async addTxt(name, value) {
      await callApi(await findRecords(name), { method: 'POST', body: JSON.stringify({ type: 'TXT', name, content: value, ttl: 60 }) })
    },
    async removeTxt(name, value) {
      const records = await findRecords(name)
      for (const id of await list(records, { type: 'TXT', name, content: value }))
        await callApi(`${records}/${encodeURIComponent(id)}`, { method: 'DELETE' })
    },
  }
}
