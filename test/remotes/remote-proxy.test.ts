import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Remote } from '../../server/contract/remotes.ts'
import { createTarGz } from '../support/archives.ts'
import { readEventStream } from '../support/event-stream.ts'
import { startTestPlatform, type TestPlatform } from '../support/platform.ts'
import { makeRepository, tinyServer, type Repository } from '../support/repository.ts'
import { until } from '../support/until.ts'
import { addRemote, sendRequest, expectSandboxed, dashboardHeaders, signIn } from './proxy-requests.ts'

/* A second real platform as another instance, reached through the first. */

let platform: TestPlatform
let away: TestPlatform
let remote: Remote & { base: string }
let repository: Repository

beforeAll(async () => {
  ;[platform, away] = await Promise.all([startTestPlatform({ runtime: 'process' }), startTestPlatform({ runtime: 'process' })])
  repository = makeRepository(tinyServer('away'))
  remote = await addRemote(platform, away.handle.api_url, await newToken('for home'))
})
afterAll(async () => {
  await Promise.all([platform?.remove(), away?.remove()])
  repository?.remove()
})

async function newToken(name: string): Promise<string> {
  const { body } = await away.api<{ token: string }>('POST', '/v1/tokens', { name })
  return body.token
}

const tokenId = async (name: string) => {
  const { body } = await away.api<{ api_tokens: { id: string; name: string }[] }>('GET', '/v1/tokens')
  return body.api_tokens.find((one) => one.name === name)?.id ?? ''
}

describe('the list of remotes', () => {
  test('has what was added, without tokens', async () => {
    const { status, body } = await platform.api<{ remotes: Remote[] }>('GET', '/instance/remotes')
    expect(status).toBe(200)
    expect(body.remotes.map((one) => one.id)).toContain(remote.id)
    expect(remote).toMatchObject({
      origin: away.handle.api_url,
      name: new URL(away.handle.api_url).host,
      is_signed_in: true,
      keeps_token: 'session',
    })
    expect(JSON.stringify(body)).not.toContain('svc_')
  })

  test('accepts an instance once, and never this one', async () => {
    const token = away.handle.instance.token
    const again = await platform.api('POST', '/instance/remotes', { url: `${away.handle.api_url}/`, token })
    expect([again.status, again.body.error]).toEqual([409, 'remote_exists'])
    for (const own of [platform.handle.api_url, platform.handle.api_url.replace('127.0.0.1', 'localhost')]) {
      const itself = await platform.api('POST', '/instance/remotes', { url: own, token: platform.handle.instance.token })
      expect([itself.status, itself.body.error]).toEqual([400, 'invalid_input'])
      expect(itself.body.message).toContain('this instance')
    }
  })

  test('refuses a token that the remote refuses', async () => {
    const wrong = await platform.api('PATCH', `/instance/remotes/${remote.id}`, { token: 'svc_wrong' })
    expect([wrong.status, wrong.body.error]).toEqual([409, 'remote_token_refused'])
    expect((await sendRequest(platform, 'GET', `${remote.base}/v1/projects`)).status).toBe(200)
  })

  test('changes name and color', async () => {
    const { status, body } = await platform.api<{ remote: Remote }>('PATCH', `/instance/remotes/${remote.id}`, { name: ' Away ', hue: 300 })
    expect([status, body.remote.name, body.remote.hue, body.remote.origin]).toEqual([200, 'Away', 300, away.handle.api_url])
  })
})

describe('a request', () => {
  test('runs on the remote, and its response matches the contract', async () => {
    const made = await sendRequest(platform, 'POST', `${remote.base}/v1/projects`, {
      body: JSON.stringify({ name: 'There', slug: 'there', repo_url: repository.url }),
    })
    expect([made.status, (made.body.project as { slug: string }).slug]).toEqual([201, 'there'])
    expectSandboxed(made.headers)
    expect((await away.getProject('there')).name).toBe('There')
    expect((await platform.api('GET', '/v1/projects/there')).status).toBe(404)

    const listed = await sendRequest(platform, 'GET', `${remote.base}/v1/projects?limit=100&unknown=1`)
    expect((listed.body.projects as { slug: string }[]).map((one) => one.slug)).toEqual(['there'])
    expect((await sendRequest(platform, 'PATCH', `${remote.base}/v1/projects/there`, { body: '{"name":"Changed"}' })).status).toBe(200)
    expect((await sendRequest(platform, 'GET', `${remote.base}/instance/session`)).status).toBe(200)
  })

  test('is refused with the remote’s own message and request id', async () => {
    const unknown = await sendRequest(platform, 'GET', `${remote.base}/v1/projects/nobody`)
    expect([unknown.status, unknown.body.error]).toEqual([404, 'project_not_found'])
    expect(unknown.headers['x-request-id']).toBe(unknown.body.request_id)
    const bad = await sendRequest(platform, 'POST', `${remote.base}/v1/projects`, { body: '{"name":"n","slug":"BAD"}' })
    expect([bad.status, bad.body.error, (bad.body.issues as { path: string }[])[0]?.path]).toEqual([400, 'invalid_input', 'slug'])
    expectSandboxed(bad.headers)
  })

  test('passes on the idempotency key', async () => {
    const once = () =>
      sendRequest(platform, 'POST', `${remote.base}/v1/tokens`, { body: '{"name":"once"}', headers: { 'idempotency-key': 'the-key-of-this' } })
    const [first, second] = [await once(), await once()]
    expect([first.status, second.status, second.text]).toEqual([201, 201, first.text])
    expect(second.headers['idempotency-replayed']).toBe('true')
  })

  test('must be an operation of the contract, with its path and method', async () => {
    for (const [method, path] of [
      ['GET', '/'],
      ['GET', '/healthz'],
      ['GET', '/app/'],
      ['GET', '/sign-in'],
      ['POST', '/sign-in'],
      ['GET', '/projects'],
      ['PUT', '/v1/projects'],
      ['HEAD', '/v1/projects'],
      ['DELETE', '/v1/projects'],
      ['GET', '/v1/projects/'],
      ['GET', '//v1/projects'],
      ['GET', '/V1/projects'],
      ['GET', '/v1/../v1/projects'],
      ['GET', '/v1/projects/%2e%2e'],
      ['GET', '/v1/projects/a%2fb'],
      ['GET', '/v1/projects/a%00'],
      ['GET', '/remote/x/v1/projects'],
      ['GET', ''],
    ] as const) {
      const response = await sendRequest(platform, method, remote.base + path)
      expect([method, path, response.status]).toEqual([method, path, 404])
    }
    expect((await sendRequest(platform, 'GET', '/remote/rem_none/v1/projects')).body.error).toBe('remote_not_found')
    expect((await sendRequest(platform, 'GET', '/remote')).status).toBe(404)
  })

  test('of another account or a member is refused', async () => {
    const { body } = await platform.api<{ token: string }>('POST', '/instance/users', { email: 'member@example.com' })
    for (const [method, path] of [
      ['GET', `${remote.base}/v1/projects`],
      ['POST', `${remote.base}/v1/projects`],
      ['GET', '/remote/rem_none/v1/projects'],
      ['GET', '/instance/remotes'],
    ] as const) {
      expect((await sendRequest(platform, method, path, { token: body.token })).status).toBe(403)
      expect((await sendRequest(platform, method, path, { token: null })).status).toBe(401)
      expect((await sendRequest(platform, method, path, { token: 'svc_wrong' })).status).toBe(401)
    }
    expect((await sendRequest(platform, 'GET', `${remote.base}/none`, { token: null })).status).toBe(401)
  })
})

describe('a browser', () => {
  test('has the token of its own session, and no other', async () => {
    const [one, other] = [await signIn(platform), await signIn(platform)]
    const page = (cookie: string) => ({ token: null, headers: dashboardHeaders(platform, cookie) })
    expect((await sendRequest(platform, 'GET', `${remote.base}/v1/projects`, page(one))).body.error).toBe('remote_token_refused')
    const given = await sendRequest(platform, 'PATCH', `/instance/remotes/${remote.id}`, {
      ...page(one),
      body: JSON.stringify({ token: await newToken('browser') }),
    })
    expect((given.body.remote as Remote).is_signed_in).toBe(true)
    expect((await sendRequest(platform, 'GET', `${remote.base}/v1/projects`, page(one))).status).toBe(200)
    expect((await sendRequest(platform, 'GET', `${remote.base}/v1/projects`, page(other))).status).toBe(409)
    await sendRequest(platform, 'POST', '/instance/sign-out', { ...page(one), body: '{}' })
    expect((await sendRequest(platform, 'GET', `${remote.base}/v1/projects`, page(one))).status).toBe(401)
  })

  test('on a page of another site cannot change anything', async () => {
    const cookie = await signIn(platform)
    const token = await newToken('cross')
    await sendRequest(platform, 'PATCH', `/instance/remotes/${remote.id}`, {
      token: null,
      headers: dashboardHeaders(platform, cookie),
      body: JSON.stringify({ token }),
    })
    const before = (await away.api('GET', '/v1/tokens')).body
    for (const wrong of [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { 'content-type': 'text/plain' },
      { 'content-type': 'application/x-www-form-urlencoded' },
    ]) {
      const response = await sendRequest(platform, 'POST', `${remote.base}/v1/tokens`, {
        token: null,
        headers: { ...dashboardHeaders(platform, cookie), ...wrong },
        body: '{"name":"cross"}',
      })
      expect([wrong, response.status]).toEqual([wrong, 'content-type' in wrong ? 415 : 403])
    }
    expect((await away.api('GET', '/v1/tokens')).body).toEqual(before)
  })
})

describe('streams and files', () => {
  test('an archive is uploaded there, in any form, and built there', async () => {
    await sendRequest(platform, 'POST', `${remote.base}/v1/projects`, { body: '{"name":"Sent","slug":"sent"}' })
    const archive = createTarGz(Object.entries(tinyServer('sent')).map(([name, data]) => ({ name: `app/${name}`, data })))
    const form = new FormData()
    form.append('file', new Blob([new Uint8Array(archive)]), 'app.tgz')
    for (const body of [new Uint8Array(archive), form]) {
      const response = await fetch(`${platform.handle.api_url}${remote.base}/v1/projects/sent/upload`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${platform.handle.instance.token}`,
          ...(body === form ? {} : { 'content-type': 'application/gzip' }),
        },
        body,
      })
      const said = (await response.json()) as { deployment: { id: string } }
      expect([response.status, said]).toMatchObject([201, {}])
      expect((await away.waitForEnd('sent', said.deployment.id)).status).toBe('ready')
    }
  })

  test('a deployment is followed to its end', async () => {
    const started = await sendRequest(platform, 'POST', `${remote.base}/v1/projects/there/deploy`)
    expect(started.status).toBe(201)
    const { id } = started.body.deployment as { id: string }
    const events = []
    for await (const event of readEventStream(
      `${platform.handle.api_url}${remote.base}/v1/projects/there/deployments/${id}/logs`,
      platform.handle.instance,
    ))
      events.push(event)
    expect(events.at(0)?.event).toBe('status')
    expect(events.at(-1)?.event).toBe('end')
    const direct = []
    for await (const event of readEventStream(`${away.handle.api_url}/v1/projects/there/deployments/${id}/logs`, away.handle.instance))
      direct.push(event)
    expect(events.filter((one) => one.event === 'log')).toEqual(direct.filter((one) => one.event === 'log'))

    const middle = direct.filter((one) => one.event === 'log')[1]
    const rest = []
    const resumed = { ...platform.handle.instance, last_event_id: middle?.id }
    for await (const event of readEventStream(`${platform.handle.api_url}${remote.base}/v1/projects/there/deployments/${id}/logs`, resumed))
      rest.push(event)
    const after = direct.slice(direct.indexOf(middle!) + 1).filter((one) => one.event === 'log')
    expect(rest.filter((one) => one.event === 'log')).toEqual(after)
  })

  test('the output of an app arrives as text', async () => {
    const lines = []
    for await (const event of readEventStream(
      `${platform.handle.api_url}${remote.base}/v1/projects/there/runtime-logs?lines=20`,
      platform.handle.instance,
    )) {
      lines.push(event)
      break
    }
    expect(lines).toHaveLength(1)
  })

  test('the source arrives as a download', async () => {
    const { id } = ((await away.api('GET', '/v1/projects/there/deployments')).body.deployments as { id: string }[])[0] ?? { id: '' }
    const path = `/instance/projects/there/deployments/${id}/source`
    const through = await sendRequest(platform, 'GET', remote.base + path)
    expect([through.status, through.headers['content-type'], through.headers['content-disposition']]).toEqual([200, 'application/gzip', 'attachment'])
    expectSandboxed(through.headers)
    const direct = await sendRequest(away, 'GET', path)
    const hash = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')
    expect(hash(through.bytes)).toBe(hash(direct.bytes))
  })

  test('a stream ends when its token is revoked there, and the next request says why', async () => {
    const base = remote.base
    await platform.api('PATCH', `/instance/remotes/${remote.id}`, { token: await newToken('short') })
    const events = readEventStream(`${platform.handle.api_url}${base}/v1/projects/there/runtime-logs`, platform.handle.instance)
    await events.next()
    await away.api('DELETE', `/v1/tokens/${await tokenId('short')}`)
    await until(async () => (await events.next()).done, { what: 'the end of the stream' })
    const refused = await sendRequest(platform, 'GET', `${base}/v1/projects`)
    expect([refused.status, refused.body.error]).toEqual([409, 'remote_token_refused'])
    await platform.api('PATCH', `/instance/remotes/${remote.id}`, { token: await newToken('again') })
    expect((await sendRequest(platform, 'GET', `${base}/v1/projects`)).status).toBe(200)
  })

  test('removing a remote ends its requests', async () => {
    const events = readEventStream(`${platform.handle.api_url}${remote.base}/v1/projects/there/runtime-logs`, platform.handle.instance)
    await events.next()
    expect((await platform.api('DELETE', `/instance/remotes/${remote.id}`)).status).toBe(204)
    await until(async () => (await events.next()).done, { what: 'the end of the stream' })
    expect((await sendRequest(platform, 'GET', `${remote.base}/v1/projects`)).body.error).toBe('remote_not_found')
    expect((await platform.api('DELETE', `/instance/remotes/${remote.id}`)).status).toBe(404)
  })
})

test('the log and the data folder contain no token of another instance', async () => {
  expect(platform.log.join('\n')).not.toMatch(/Bearer|svc_/)
})
