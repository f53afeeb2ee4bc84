import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { systemClock } from '../../server/lib/clock.ts'
import { createDnsDriver } from '../../server/tls/acme/dns-drivers.ts'

interface TxtRecord {
  id: string
  zone: string
  name: string
  content: string
}

let close = () => {}
afterEach(() => close())

/** The part of Cloudflare's API that the driver uses, for the zone `example.com`. */
async function startCloudflare() {
  const records: TxtRecord[] = []
  const calls: string[] = []
  const server = createServer((request, response) => {
    let text = ''
    request.on('data', (bytes: Buffer) => (text += bytes.toString()))
    request.on('end', () => {
      const url = new URL(request.url ?? '', 'http://localhost')
      calls.push(`${request.method} ${url.pathname} ${request.headers.authorization}`)
      const { name, content } = Object.fromEntries(url.searchParams)
      const answer = (status: number, result: unknown) => response.writeHead(status).end(JSON.stringify({ success: status === 200, result }))
      if (request.headers.authorization !== 'Bearer token') return answer(403, null)
      if (url.pathname === '/zones') return answer(200, name === 'example.com' ? [{ id: 'z1' }] : [])
      if (request.method === 'GET')
        return answer(
          200,
          records.filter((one) => one.name === name && one.content === content),
        )
      if (request.method === 'POST') {
        const body = JSON.parse(text) as { name: string; content: string }
        records.push({ id: `r${records.length}`, zone: 'z1', ...body })
        return answer(200, {})
      }
      records.splice(0, records.length, ...records.filter(({ id }) => !url.pathname.endsWith(`/${id}`)))
      return answer(200, {})
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  close = () => void server.close()
  return { records, calls, api_base: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

test('cloudflare: records are added to the zone of the name, and only the own value is removed', async () => {
  const cloudflare = await startCloudflare()
  const driver = createDnsDriver({ name: 'cloudflare', token: 'token', api_base: cloudflare.api_base }, systemClock)
  const name = '_acme-challenge.apps.example.com'
  await driver.addTxt(name, 'one')
  await driver.addTxt(name, 'two')
  expect(cloudflare.records).toMatchObject([
    { name, content: 'one', type: 'TXT' },
    { name, content: 'two', type: 'TXT' },
  ])
  await driver.removeTxt(name, 'one')
  expect(cloudflare.records).toMatchObject([{ content: 'two' }])
})

test('cloudflare: a zone that the token cannot edit, and a wrong token', async () => {
  const { api_base } = await startCloudflare()
  const driver = createDnsDriver({ name: 'cloudflare', token: 'token', api_base }, systemClock)
  await expect(driver.addTxt('_acme-challenge.example.org', 'one')).rejects.toMatchObject({
    type: 'dnsDriver',
    message: expect.stringMatching(/no zone/) as string,
  })
  const stranger = createDnsDriver({ name: 'cloudflare', token: 'wrong', api_base }, systemClock)
  await expect(stranger.addTxt('_acme-challenge.example.com', 'one')).rejects.toThrow('Cloudflare answered 403.')
})

test('webhook: an address that does not respond', async () => {
  const driver = createDnsDriver({ name: 'webhook', url: 'http://127.0.0.1:1', token: null }, systemClock)
  await expect(driver.addTxt('_acme-challenge.example.com', 'one')).rejects.toThrow('The DNS webhook did not respond.')
})
