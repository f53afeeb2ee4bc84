import { type IncomingMessage, type Server, type ServerResponse, createServer, request as ask } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Page, expect } from '@playwright/test'
import type { TestPlatform } from '../support/platform.ts'

/** A proxy to a platform that can modify its responses. */
export interface InstanceProxy {
  url: string
  close(): Promise<void>
}

/** A hosted account: the customer's operations, and nothing of /instance. */
export function startHostedAccountProxy(remote: TestPlatform): Promise<InstanceProxy> {
  return startProxy(remote, (req, res) => {
    if (!req.url?.startsWith('/instance')) return false
    res.writeHead(404, { 'content-type': 'application/json' }).end(JSON.stringify({ error: 'route_not_found', message: 'There is no such thing.' }))
    return true
  })
}

/** A remote with arbitrary text in its responses. */
export function startTamperingProxy(remote: TestPlatform, change: (key: string, text: string) => string): Promise<InstanceProxy> {
  return startProxy(
    remote,
    () => false,
    (text) => JSON.stringify(JSON.parse(text, (key, value: unknown) => (typeof value === 'string' ? change(key, value) : value))),
  )
}

async function startProxy(
  remote: TestPlatform,
  refuse: (req: IncomingMessage, res: ServerResponse) => boolean,
  change?: (text: string) => string,
): Promise<InstanceProxy> {
  const { hostname, port } = new URL(remote.handle.api_url)
  const server: Server = createServer((req, res) => {
    if (refuse(req, res)) return void req.resume()
    // With a new connection, because a kept one may be closed just as it is reused.
    const upstreamOptions = {
      agent: false,
      hostname,
      port,
      path: req.url,
      method: req.method,
      headers: { ...req.headers, host: `${hostname}:${port}` },
    }
    const upstreamRequest = ask(upstreamOptions, (response) => {
      const isJson = response.headers['content-type']?.startsWith('application/json') === true
      if (!change || !isJson) {
        res.writeHead(response.statusCode ?? 502, response.headers)
        res.flushHeaders()
        return void response.pipe(res)
      }
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (piece: string) => (text += piece))
      response.on('end', () => {
        const { 'content-length': _, ...headers } = response.headers
        res.writeHead(response.statusCode ?? 502, headers).end(text === '' ? '' : change(text))
      })
    })
    upstreamRequest.on('error', () => res.destroy())
    res.on('close', () => upstreamRequest.destroy())
    req.pipe(upstreamRequest)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

export async function createToken(platform: TestPlatform, name = 'dashboard'): Promise<{ token: string; id: string }> {
  const { body } = await platform.api<{ token: string; api_token: { id: string } }>('POST', '/v1/tokens', { name })
  return { token: body.token, id: body.api_token.id }
}

/** Adds an instance like a user, and returns its path in the dashboard. */
export async function addInstance(
  dashboard: Page,
  local: TestPlatform,
  { url, token, name }: { url: string; token: string; name: string },
): Promise<string> {
  await dashboard.goto(`${local.handle.dashboard_url}instances?do=add`)
  const dialog = dashboard.getByRole('dialog', { name: 'Add instance' })
  await dialog.getByLabel('URL').fill(url)
  await dialog.getByLabel('API token').fill(token)
  await dialog.getByLabel('Name').fill(name)
  await dialog.getByRole('button', { name: 'Add instance' }).click()
  await expect(dialog).toBeHidden()
  const link = dashboard.getByRole('list', { name: 'Instances' }).getByRole('link', { name, exact: true })
  return (await link.getAttribute('href')) ?? ''
}
