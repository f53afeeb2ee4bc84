import { type IncomingMessage, type RequestListener, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { createApiClient } from '../../renderer/api/api-client.ts'
import { ApiError } from '../../server/client/api-error.ts'
import { loadWithRetry } from '../../renderer/lib/load-with-retry.ts'

const closers: (() => Promise<unknown>)[] = []

afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

async function instance(answer: RequestListener): Promise<{ url: string; requests: IncomingMessage[] }> {
  const requests: IncomingMessage[] = []
  const server = createServer((request, response) => {
    requests.push(request)
    answer(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closers.push(() => new Promise((resolve) => server.close(resolve)))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests }
}

const problemOf = (call: Promise<unknown>) =>
  call.then(
    () => undefined,
    (error: unknown) => (error instanceof ApiError ? error : undefined),
  )

describe('the client of a remote instance', () => {
  it('sends no token of its own, and a body as JSON', async () => {
    const home = await instance((_, response) =>
      response.setHeader('content-type', 'application/json').writeHead(200).end('{"ok":true,"status":"inactive"}'),
    )
    const client = createApiClient({ base_url: home.url, onSignedOut: () => undefined, onTokenRefused: () => undefined })
    expect(await client.call('stopProject', { params: { slug: 'a/b c' } })).toEqual({ ok: true, status: 'inactive' })
    expect(home.requests[0]).toMatchObject({ method: 'POST', url: '/v1/projects/a%2Fb%20c/stop' })
    expect(home.requests[0]?.headers).toMatchObject({ 'content-type': 'application/json' })
    expect(home.requests[0]?.headers).not.toHaveProperty('authorization')
  })

  it('retries a change when its connection was lost, with the same idempotency key', async () => {
    const home = await instance((request, response) =>
      home.requests.length % 2 === 1 ? request.socket.destroy() : response.writeHead(200).end('{"ok":true,"status":"inactive"}'),
    )
    const client = createApiClient({ base_url: home.url, onSignedOut: () => undefined, onTokenRefused: () => undefined })
    const call = () => client.call('stopProject', { params: { slug: 'shop' } })
    expect(await call()).toEqual({ ok: true, status: 'inactive' })
    await call()
    const keys = home.requests.map(({ headers }) => headers['idempotency-key'])
    expect(keys).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/), keys[0], expect.any(String), keys[2]])
    expect(keys[2]).not.toBe(keys[0])
  })

  it('does not retry a canceled request', async () => {
    const abort = new AbortController()
    const home = await instance(() => abort.abort())
    const client = createApiClient({ base_url: home.url, onSignedOut: () => undefined, onTokenRefused: () => undefined })
    await expect(client.call('stopProject', { params: { slug: 'shop' }, signal: abort.signal })).rejects.toThrow('aborted')
    expect(home.requests).toHaveLength(1)
  })

  it('refuses .. as a parameter', async () => {
    const home = await instance((_, response) => response.writeHead(200).end('{}'))
    const client = createApiClient({ base_url: home.url, onSignedOut: () => undefined, onTokenRefused: () => undefined })
    expect(await problemOf(client.call('getProject', { params: { slug: '..' } }))).toMatchObject({ code: 'bad_answer' })
    expect(home.requests).toHaveLength(0)
  })

  it('reports that the proxy has no valid token, without ending its own session', async () => {
    const events: string[] = []
    const refusal = { error: 'remote_token_refused', message: 'A new token.', request_id: 'req_3' }
    const home = await instance((_, response) => response.writeHead(409).end(JSON.stringify(refusal)))
    const client = createApiClient({ base_url: home.url, onSignedOut: () => events.push('signed out'), onTokenRefused: () => events.push('refused') })
    expect(await problemOf(client.call('listProjects', {}))).toMatchObject({ code: 'remote_token_refused' })
    expect(events).toEqual(['refused'])
  })

  it('never follows a redirect', async () => {
    const evil = await instance((_, response) => response.writeHead(200).end('{}'))
    const home = await instance((_, response) => response.writeHead(302, { location: `${evil.url}/v1/projects` }).end())
    const client = createApiClient({ base_url: home.url, onSignedOut: () => undefined, onTokenRefused: () => undefined })
    expect(await problemOf(client.call('listProjects', {}))).toMatchObject({ code: 'unreachable', status: 0 })
    expect(home.requests).toHaveLength(1)
    expect(evil.requests).toHaveLength(0)
  })

  it('reports an error with the platform’s message', async () => {
    const envelope = {
      error: 'invalid_input',
      message: 'Some fields are wrong.',
      issues: [{ path: 'slug', message: 'Too short.' }],
      request_id: 'req_1',
    }
    const home = await instance((_, response) => response.writeHead(400, { 'x-request-id': 'req_1' }).end(JSON.stringify(envelope)))
    const client = createApiClient({ base_url: home.url, onSignedOut: () => undefined, onTokenRefused: () => undefined })
    const problem = await problemOf(client.call('createProject', { body: { name: 'x', slug: 'x' } }))
    expect(problem).toMatchObject({ code: 'invalid_input', status: 400, message: 'Some fields are wrong.', request_id: 'req_1' })
    expect(problem?.issueFor('slug')).toBe('Too short.')
  })

  it('handles a response that is not an envelope, a Retry-After, and an expired session', async () => {
    let signedOut = 0
    const statuses = [502, 429, 401]
    const home = await instance((_, response) =>
      response.writeHead(statuses.shift() ?? 500, { 'retry-after': '7', 'x-request-id': 'req_2' }).end('<html>'),
    )
    const client = createApiClient({ base_url: home.url, onSignedOut: () => signedOut++, onTokenRefused: () => undefined })
    expect(await problemOf(client.call('listProjects', {}))).toMatchObject({ code: 'bad_answer', status: 502, request_id: 'req_2' })
    expect(await problemOf(client.call('listProjects', {}))).toMatchObject({ status: 429, retry_after_s: 7 })
    expect(signedOut).toBe(0)
    expect(await problemOf(client.call('listProjects', {}))).toMatchObject({ status: 401 })
    expect(signedOut).toBe(1)
  })
})

describe('a lazily loaded part of the page', () => {
  const failing = (times: number) => () =>
    times-- > 0 ? Promise.reject(new TypeError('Failed to fetch dynamically imported module')) : Promise.resolve('here')
  const wait = () => Promise.resolve()
  const reload = () => Promise.resolve()

  it('is requested again when the network changes during loading', async () => {
    expect(await loadWithRetry(failing(3), { wait, reload })).toBe('here')
  })

  it('reports its own error when it never loads', async () => {
    expect(await problemOf(loadWithRetry(failing(100), { wait, reload }))).toMatchObject({ code: 'unreachable' })
  })
})
