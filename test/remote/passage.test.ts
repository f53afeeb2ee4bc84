import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Remote } from '../../server/contract/remotes.ts'
import { tgzOf } from '../support/archives.ts'
import { readStream } from '../support/event-stream.ts'
import { startTestPlatform, type TestPlatform } from '../support/platform.ts'
import { makeRepository, tinyServer, type Repository } from '../support/repository.ts'
import { until } from '../support/until.ts'
import { addRemote, ask, expectLocked, ofPage, signIn } from './ways.ts'

/* A second real platform as another instance, reached through the first. */

let home: TestPlatform
let away: TestPlatform
let remote: Remote & { base: string }
let repository: Repository

beforeAll(async () => {
  ;[home, away] = await Promise.all([startTestPlatform({ runtime: 'process' }), startTestPlatform({ runtime: 'process' })])
  repository = makeRepository(tinyServer('away'))
  remote = await addRemote(home, away.platform.api_url, await newToken('for home'))
})
afterAll(async () => {
  await Promise.all([home?.remove(), away?.remove()])
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

describe('the list', () => {
  test('has what was added, and no token in it', async () => {
    const { status, body } = await home.api<{ remotes: Remote[] }>('GET', '/instance/remotes')
    expect(status).toBe(200)
    expect(body.remotes.map((one) => one.id)).toContain(remote.id)
    expect(remote).toMatchObject({
      origin: away.platform.api_url,
      name: new URL(away.platform.api_url).host,
      is_signed_in: true,
      keeps_token: 'session',
    })
    expect(JSON.stringify(body)).not.toContain('svc_')
  })

  test('takes an instance once, and never this one', async () => {
    const token = away.platform.instance.token
    const again = await home.api('POST', '/instance/remotes', { url: `${away.platform.api_url}/`, token })
    expect([again.status, again.body.error]).toEqual([409, 'remote_exists'])
    for (const own of [home.platform.api_url, home.platform.api_url.replace('127.0.0.1', 'localhost')]) {
      const itself = await home.api('POST', '/instance/remotes', { url: own, token: home.platform.instance.token })
      expect([itself.status, itself.body.error]).toEqual([400, 'invalid_input'])
      expect(itself.body.message).toContain('this instance')
    }
  })

  test('does not take a token that the other side does not take', async () => {
    const wrong = await home.api('PATCH', `/instance/remotes/${remote.id}`, { token: 'svc_wrong' })
    expect([wrong.status, wrong.body.error]).toEqual([409, 'remote_token_refused'])
    expect((await ask(home, 'GET', `${remote.base}/v1/projects`)).status).toBe(200)
  })

  test('renames and colours', async () => {
    const { status, body } = await home.api<{ remote: Remote }>('PATCH', `/instance/remotes/${remote.id}`, { name: ' Away ', hue: 300 })
    expect([status, body.remote.name, body.remote.hue, body.remote.origin]).toEqual([200, 'Away', 300, away.platform.api_url])
  })
})

describe('a call', () => {
  test('is made there, and its answer is the contract’s', async () => {
    const made = await ask(home, 'POST', `${remote.base}/v1/projects`, {
      body: JSON.stringify({ name: 'There', slug: 'there', repo_url: repository.url }),
    })
    expect([made.status, (made.body.project as { slug: string }).slug]).toEqual([201, 'there'])
    expectLocked(made.headers)
    expect((await away.project('there')).name).toBe('There')
    expect((await home.api('GET', '/v1/projects/there')).status).toBe(404)

    const listed = await ask(home, 'GET', `${remote.base}/v1/projects?limit=100&unknown=1`)
    expect((listed.body.projects as { slug: string }[]).map((one) => one.slug)).toEqual(['there'])
    expect((await ask(home, 'PATCH', `${remote.base}/v1/projects/there`, { body: '{"name":"Changed"}' })).status).toBe(200)
    expect((await ask(home, 'GET', `${remote.base}/instance/session`)).status).toBe(200)
  })

  test('is refused there in its own words and with its own id', async () => {
    const unknown = await ask(home, 'GET', `${remote.base}/v1/projects/nobody`)
    expect([unknown.status, unknown.body.error]).toEqual([404, 'project_not_found'])
    expect(unknown.headers['x-request-id']).toBe(unknown.body.request_id)
    const bad = await ask(home, 'POST', `${remote.base}/v1/projects`, { body: '{"name":"n","slug":"BAD"}' })
    expect([bad.status, bad.body.error, (bad.body.issues as { path: string }[])[0]?.path]).toEqual([400, 'invalid_input', 'slug'])
    expectLocked(bad.headers)
  })

  test('bears its idempotency key', async () => {
    const once = () => ask(home, 'POST', `${remote.base}/v1/tokens`, { body: '{"name":"once"}', headers: { 'idempotency-key': 'the-key-of-this' } })
    const [first, second] = [await once(), await once()]
    expect([first.status, second.status, second.text]).toEqual([201, 201, first.text])
    expect(second.headers['idempotency-replayed']).toBe('true')
  })

  test('is one of the record, at its own path, by its own method', async () => {
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
      const answer = await ask(home, method, remote.base + path)
      expect([method, path, answer.status]).toEqual([method, path, 404])
    }
    expect((await ask(home, 'GET', '/remote/rem_none/v1/projects')).body.error).toBe('remote_not_found')
    expect((await ask(home, 'GET', '/remote')).status).toBe(404)
  })

  test('of a stranger or a member goes nowhere', async () => {
    const { body } = await home.api<{ token: string }>('POST', '/instance/users', { email: 'member@example.com' })
    for (const [method, path] of [
      ['GET', `${remote.base}/v1/projects`],
      ['POST', `${remote.base}/v1/projects`],
      ['GET', '/remote/rem_none/v1/projects'],
      ['GET', '/instance/remotes'],
    ] as const) {
      expect((await ask(home, method, path, { token: body.token })).status).toBe(403)
      expect((await ask(home, method, path, { token: null })).status).toBe(401)
      expect((await ask(home, method, path, { token: 'svc_wrong' })).status).toBe(401)
    }
    expect((await ask(home, 'GET', `${remote.base}/none`, { token: null })).status).toBe(401)
  })
})

describe('a browser', () => {
  test('has a token of its own session, and none of another', async () => {
    const [one, other] = [await signIn(home), await signIn(home)]
    const page = (cookie: string) => ({ token: null, headers: ofPage(home, cookie) })
    expect((await ask(home, 'GET', `${remote.base}/v1/projects`, page(one))).body.error).toBe('remote_token_refused')
    const given = await ask(home, 'PATCH', `/instance/remotes/${remote.id}`, {
      ...page(one),
      body: JSON.stringify({ token: await newToken('browser') }),
    })
    expect((given.body.remote as Remote).is_signed_in).toBe(true)
    expect((await ask(home, 'GET', `${remote.base}/v1/projects`, page(one))).status).toBe(200)
    expect((await ask(home, 'GET', `${remote.base}/v1/projects`, page(other))).status).toBe(409)
    await ask(home, 'POST', '/instance/sign-out', { ...page(one), body: '{}' })
    expect((await ask(home, 'GET', `${remote.base}/v1/projects`, page(one))).status).toBe(401)
  })

  test('on a page of another site changes nothing', async () => {
    const cookie = await signIn(home)
    const token = await newToken('cross')
    await ask(home, 'PATCH', `/instance/remotes/${remote.id}`, { token: null, headers: ofPage(home, cookie), body: JSON.stringify({ token }) })
    const before = (await away.api('GET', '/v1/tokens')).body
    for (const wrong of [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { 'content-type': 'text/plain' },
      { 'content-type': 'application/x-www-form-urlencoded' },
    ]) {
      const answer = await ask(home, 'POST', `${remote.base}/v1/tokens`, {
        token: null,
        headers: { ...ofPage(home, cookie), ...wrong },
        body: '{"name":"cross"}',
      })
      expect([wrong, answer.status]).toEqual([wrong, 'content-type' in wrong ? 415 : 403])
    }
    expect((await away.api('GET', '/v1/tokens')).body).toEqual(before)
  })
})

describe('streams and files', () => {
  test('a file goes there, in whatever form, and is built there', async () => {
    await ask(home, 'POST', `${remote.base}/v1/projects`, { body: '{"name":"Sent","slug":"sent"}' })
    const archive = tgzOf(Object.entries(tinyServer('sent')).map(([name, data]) => ({ name: `app/${name}`, data })))
    const form = new FormData()
    form.append('file', new Blob([new Uint8Array(archive)]), 'app.tgz')
    for (const body of [new Uint8Array(archive), form]) {
      const answer = await fetch(`${home.platform.api_url}${remote.base}/v1/projects/sent/upload`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${home.platform.instance.token}`,
          ...(body === form ? {} : { 'content-type': 'application/gzip' }),
        },
        body,
      })
      const said = (await answer.json()) as { deployment: { id: string } }
      expect([answer.status, said]).toMatchObject([201, {}])
      expect((await away.ended('sent', said.deployment.id)).status).toBe('ready')
    }
  })

  test('a deployment is followed through to its end', async () => {
    const started = await ask(home, 'POST', `${remote.base}/v1/projects/there/deploy`)
    expect(started.status).toBe(201)
    const { id } = started.body.deployment as { id: string }
    const events = []
    for await (const event of readStream(`${home.platform.api_url}${remote.base}/v1/projects/there/deployments/${id}/logs`, home.platform.instance))
      events.push(event)
    expect(events.at(0)?.event).toBe('status')
    expect(events.at(-1)?.event).toBe('end')
    const direct = []
    for await (const event of readStream(`${away.platform.api_url}/v1/projects/there/deployments/${id}/logs`, away.platform.instance))
      direct.push(event)
    expect(events.filter((one) => one.event === 'log')).toEqual(direct.filter((one) => one.event === 'log'))

    const middle = direct.filter((one) => one.event === 'log')[1]
    const rest = []
    const resumed = { ...home.platform.instance, last_event_id: middle?.id }
    for await (const event of readStream(`${home.platform.api_url}${remote.base}/v1/projects/there/deployments/${id}/logs`, resumed)) rest.push(event)
    const after = direct.slice(direct.indexOf(middle!) + 1).filter((one) => one.event === 'log')
    expect(rest.filter((one) => one.event === 'log')).toEqual(after)
  })

  test('what an app prints comes as the text that it is', async () => {
    const lines = []
    for await (const event of readStream(`${home.platform.api_url}${remote.base}/v1/projects/there/runtime-logs?lines=20`, home.platform.instance)) {
      lines.push(event)
      break
    }
    expect(lines).toHaveLength(1)
  })

  test('the source comes as a file to be kept', async () => {
    const { id } = ((await away.api('GET', '/v1/projects/there/deployments')).body.deployments as { id: string }[])[0] ?? { id: '' }
    const path = `/instance/projects/there/deployments/${id}/source`
    const through = await ask(home, 'GET', remote.base + path)
    expect([through.status, through.headers['content-type'], through.headers['content-disposition']]).toEqual([200, 'application/gzip', 'attachment'])
    expectLocked(through.headers)
    const direct = await ask(away, 'GET', path)
    const hash = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')
    expect(hash(through.bytes)).toBe(hash(direct.bytes))
  })

  test('a stream ends when its token is revoked there, and the next call says why', async () => {
    const base = remote.base
    await home.api('PATCH', `/instance/remotes/${remote.id}`, { token: await newToken('short') })
    const events = readStream(`${home.platform.api_url}${base}/v1/projects/there/runtime-logs`, home.platform.instance)
    await events.next()
    await away.api('DELETE', `/v1/tokens/${await tokenId('short')}`)
    await until(async () => (await events.next()).done, { what: 'the end of the stream' })
    const refused = await ask(home, 'GET', `${base}/v1/projects`)
    expect([refused.status, refused.body.error]).toEqual([409, 'remote_token_refused'])
    await home.api('PATCH', `/instance/remotes/${remote.id}`, { token: await newToken('again') })
    expect((await ask(home, 'GET', `${base}/v1/projects`)).status).toBe(200)
  })

  test('a remote that is removed ends what goes to it', async () => {
    const events = readStream(`${home.platform.api_url}${remote.base}/v1/projects/there/runtime-logs`, home.platform.instance)
    await events.next()
    expect((await home.api('DELETE', `/instance/remotes/${remote.id}`)).status).toBe(204)
    await until(async () => (await events.next()).done, { what: 'the end of the stream' })
    expect((await ask(home, 'GET', `${remote.base}/v1/projects`)).body.error).toBe('remote_not_found')
    expect((await home.api('DELETE', `/instance/remotes/${remote.id}`)).status).toBe(404)
  })
})

test('no token of another instance is in the log or in the data folder', async () => {
  expect(home.log.join('\n')).not.toMatch(/Bearer|svc_/)
})
