import { expect } from 'vitest'
import { get } from '../support/edge.ts'
import { until } from '../support/until.ts'

interface CaptureStory {
  /** Calls the API and records the response. */
  ask(method: string, path: string, body?: unknown): Promise<{ status: number; body: Record<string, unknown> }>
  edge_url: string
  slug: string
  secret: string
}

/** Sends requests that carry a secret in headers and in every kind of body, while they are captured; reads and replays each. */
export async function captureSecrets({ ask, edge_url, slug, secret }: CaptureStory): Promise<void> {
  expect((await ask('PUT', `/instance/projects/${slug}/request-capture`, { masked_fields: ['own_field'] })).status).toBe(200)
  const encoded = encodeURIComponent(secret)
  const json = JSON.stringify({ user: { password: secret }, own_field: [secret], a: 1 })
  const multipart = `--b0\r\nContent-Disposition: form-data; name="password"\r\n\r\n${secret}\r\n--b0--\r\n`
  for (const [type, body] of [
    ['application/json', json],
    ['application/json', json.slice(0, 50)],
    ['application/x-www-form-urlencoded', new URLSearchParams({ password: secret, own_field: secret }).toString()],
    ['multipart/form-data; boundary=b0', multipart],
    ['text/xml', `<a><password>${secret}</password></a>`],
  ] as const) {
    const { headers } = await get(Number(new URL(edge_url).port), `/?token=${encoded}`, {
      method: 'POST',
      host: `${slug}.localhost`,
      body,
      headers: { 'content-type': type, authorization: `Bearer ${encoded}`, cookie: `a=${encoded}`, 'x-api-key': encoded, 'own-field': encoded },
    })
    const path = `/instance/projects/${slug}/requests/${String(headers['x-request-id'])}`
    const response = await until(async () => ((answer) => (answer.status === 200 ? answer : undefined))(await ask('GET', `${path}/capture`)), {
      what: 'the captured request',
    })
    expect(response.body.captured).not.toBeNull()
    expect((await ask('POST', `${path}/replay`, { target: { kind: 'production' } })).status).toBe(200)
  }
}
