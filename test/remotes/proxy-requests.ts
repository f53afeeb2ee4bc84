import { request, type IncomingHttpHeaders } from 'node:http'
import { expect } from 'vitest'
import type { Remote } from '../../server/contract/remotes.ts'
import type { TestPlatform } from '../support/platform.ts'

export interface ProxyResponse {
  status: number
  headers: IncomingHttpHeaders
  bytes: Buffer
  text: string
  body: Record<string, unknown>
}

/** The cookie of a browser that signed in with a link. */
export async function signIn(platform: TestPlatform): Promise<string> {
  const response = await fetch(await platform.handle.signInUrl(), { redirect: 'manual' })
  const cookie = response.headers.get('set-cookie')?.split(';')[0]
  expect(cookie).toBeDefined()
  return cookie ?? ''
}

/** The headers that the dashboard sends with a change. */
export const dashboardHeaders = (platform: TestPlatform, cookie: string) => ({
  cookie,
  origin: platform.handle.api_url,
  'sec-fetch-site': 'same-origin',
  'content-type': 'application/json',
})

/** A plain request, so that every header is sent unchanged. */
export function sendRequest(
  platform: TestPlatform,
  method: string,
  path: string,
  options: { headers?: Record<string, string>; body?: string | Buffer; token?: string | null } = {},
): Promise<ProxyResponse> {
  const { hostname, port } = new URL(platform.handle.api_url)
  const token = options.token === undefined ? platform.handle.instance.token : options.token
  return new Promise((resolve, reject) => {
    const question = request(
      {
        host: hostname,
        port,
        method,
        path,
        agent: false,
        headers: {
          ...(token === null ? {} : { authorization: `Bearer ${token}` }),
          ...(options.body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(options.body) }),
          ...options.headers,
        },
      },
      (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () => {
          const bytes = Buffer.concat(chunks)
          const isJson = response.headers['content-type']?.startsWith('application/json') === true
          const text = bytes.toString()
          const body = isJson && text !== '' ? (JSON.parse(text) as Record<string, unknown>) : {}
          resolve({ status: response.statusCode ?? 0, headers: response.headers, bytes, text, body })
        })
      },
    )
    question.on('error', reject)
    question.end(options.body)
  })
}

/** Adds a remote, and returns the path below which it is reached. */
export async function addRemote(platform: TestPlatform, url: string, token: string): Promise<Remote & { base: string }> {
  const { status, body } = await platform.api<{ remote: Remote; message?: string }>('POST', '/instance/remotes', { url, token })
  if (status !== 201) throw new Error(`adding ${url} answered ${status}: ${body.message}`)
  return { ...body.remote, base: `/remote/${body.remote.id}` }
}

export const expectSandboxed = (headers: IncomingHttpHeaders) => {
  expect(headers['content-security-policy']).toBe("default-src 'none'; sandbox")
  expect(headers['x-content-type-options']).toBe('nosniff')
  expect(headers['set-cookie']).toBeUndefined()
  expect(headers.location).toBeUndefined()
}

export function expectUnreachable(response: ProxyResponse, says: RegExp) {
  expect([response.status, response.body.error]).toEqual([502, 'remote_unreachable'])
  expect(response.body.message).toMatch(says)
  expect(response.headers['content-type']).toBe('application/json; charset=utf-8')
  expect(response.headers['x-content-type-options']).toBe('nosniff')
  expect(response.headers['set-cookie']).toBeUndefined()
  expect(response.headers.location).toBeUndefined()
  expect(response.text).not.toContain(hostileToken)
}

/** The token that the platform sends to malicious instances. */
export const hostileToken = 'svc_the-token-of-the-remote'
