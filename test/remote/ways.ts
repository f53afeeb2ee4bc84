import { request, type IncomingHttpHeaders } from 'node:http'
import { expect } from 'vitest'
import type { Remote } from '../../server/contract/remotes.ts'
import type { TestPlatform } from '../support/platform.ts'

export interface Got {
  status: number
  headers: IncomingHttpHeaders
  bytes: Buffer
  text: string
  body: Record<string, unknown>
}

/** The cookie of a browser that signed in by a link. */
export async function signIn(home: TestPlatform): Promise<string> {
  const answer = await fetch(await home.platform.signInUrl(), { redirect: 'manual' })
  const cookie = answer.headers.get('set-cookie')?.split(';')[0]
  expect(cookie).toBeDefined()
  return cookie ?? ''
}

/** What the dashboard's own page sends with a change. */
export const ofPage = (home: TestPlatform, cookie: string) => ({
  cookie,
  origin: home.platform.api_url,
  'sec-fetch-site': 'same-origin',
  'content-type': 'application/json',
})

/** A plain request, so that every header goes out as it is given. */
export function ask(
  home: TestPlatform,
  method: string,
  path: string,
  options: { headers?: Record<string, string>; body?: string | Buffer; token?: string | null } = {},
): Promise<Got> {
  const { hostname, port } = new URL(home.platform.api_url)
  const token = options.token === undefined ? home.platform.instance.token : options.token
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
      (answer) => {
        const chunks: Buffer[] = []
        answer.on('data', (chunk: Buffer) => chunks.push(chunk))
        answer.on('error', reject)
        answer.on('end', () => {
          const bytes = Buffer.concat(chunks)
          const isJson = answer.headers['content-type']?.startsWith('application/json') === true
          const text = bytes.toString()
          const body = isJson && text !== '' ? (JSON.parse(text) as Record<string, unknown>) : {}
          resolve({ status: answer.statusCode ?? 0, headers: answer.headers, bytes, text, body })
        })
      },
    )
    question.on('error', reject)
    question.end(options.body)
  })
}

/** Adds a remote, and says below which path it is reached. */
export async function addRemote(home: TestPlatform, url: string, token: string): Promise<Remote & { base: string }> {
  const { status, body } = await home.api<{ remote: Remote; message?: string }>('POST', '/instance/remotes', { url, token })
  if (status !== 201) throw new Error(`adding ${url} answered ${status}: ${body.message}`)
  return { ...body.remote, base: `/remote/${body.remote.id}` }
}

export const expectLocked = (headers: IncomingHttpHeaders) => {
  expect(headers['content-security-policy']).toBe("default-src 'none'; sandbox")
  expect(headers['x-content-type-options']).toBe('nosniff')
  expect(headers['set-cookie']).toBeUndefined()
  expect(headers.location).toBeUndefined()
}

export function expectUnreachable(answer: Got, says: RegExp) {
  expect([answer.status, answer.body.error]).toEqual([502, 'remote_unreachable'])
  expect(answer.body.message).toMatch(says)
  expect(answer.headers['content-type']).toBe('application/json; charset=utf-8')
  expect(answer.headers['x-content-type-options']).toBe('nosniff')
  expect(answer.headers['set-cookie']).toBeUndefined()
  expect(answer.headers.location).toBeUndefined()
  expect(answer.text).not.toContain(hostileToken)
}

/** With which the platform asks instances that mean no good. */
export const hostileToken = 'svc_the-token-of-the-remote'
