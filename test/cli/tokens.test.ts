import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ApiToken } from '../../server/contract/tokens.ts'
import { type CommandLine, commandLine } from '../support/command.ts'
import { type SharedPlatform, sharedPlatform } from '../support/shared-platform.ts'

let platform: SharedPlatform
let run: CommandLine

beforeAll(async () => {
  platform = await sharedPlatform()
  run = commandLine(platform.handle.instance, '.')
})
afterAll(() => platform.remove())

test('a token is created, printed alone on standard output, works, is listed and revoked', async () => {
  const made = await run('tokens', 'create', 'from the shell', '--days', '30')
  expect(made).toMatchObject({ code: 0, err: expect.stringMatching(/^Created tok_\w{26}\. The token is shown only once:$/m) })
  const token = made.out.trim()
  expect(token).toMatch(/^svc_[0-9A-Za-z]{49}$/)
  const signIn = async () => (await platform.api('GET', '/v1/projects', undefined, token)).status
  expect(await signIn()).toBe(200)

  const listed = await run('tokens', 'list')
  expect(listed.out).toContain('from the shell')
  expect(listed.out).toContain(`svc_…${token.slice(-4)}`)
  expect(listed.out).toMatch(/\d{4}-\d\d-\d\d/)
  expect(listed.out).not.toContain(token)
  const { api_tokens } = await run.json<{ api_tokens: ApiToken[] }>('tokens')
  const id = api_tokens.find(({ name }) => name === 'from the shell')?.id ?? ''

  expect(await run('tokens', 'revoke', id)).toMatchObject({ code: 0, out: expect.stringContaining('Revoked.') })
  expect(await signIn()).toBe(401)
  expect(await run('tokens', 'revoke', id)).toMatchObject({ code: 1, err: expect.stringContaining('token_not_found') })
})

test('--scope and --project limit a token, and the list shows both', async () => {
  await platform.createProject({ slug: 'limited' })
  const made = await run('tokens', 'create', 'reader', '--scope', 'read', '--project', 'limited')
  const token = made.out.trim()
  expect((await platform.api('GET', '/v1/projects/limited', undefined, token)).status).toBe(200)
  expect((await platform.api('POST', '/v1/projects/limited/stop', undefined, token)).status).toBe(403)
  const listed = await run('tokens')
  expect(listed.out).toMatch(/^ID +NAME +TOKEN +SCOPE +PROJECT +LAST USED +EXPIRES/m)
  expect(listed.out).toMatch(/reader +svc_…\S+ +read +limited /)
  expect(await run('tokens', 'create', 'n', '--scope=write')).toMatchObject({ code: 2, err: expect.stringContaining('read, deploy, admin') })
  expect(await run('tokens', 'create', 'n', '--project', 'none')).toMatchObject({ code: 1, err: expect.stringContaining('project_not_found') })
})

test('a token with the scope deploy sets variables without reading any', async () => {
  await platform.createProject({ slug: 'variables' })
  const { out } = await run('tokens', 'create', 'ci', '--scope', 'deploy')
  const asCi = commandLine({ ...platform.handle.instance, token: out.trim() }, '.')
  for (const value of ['one', 'two']) expect(await asCi('env', 'set', 'variables', `A=${value}`)).toMatchObject({ code: 0 })
  expect(await asCi('env', 'list', 'variables')).toMatchObject({ code: 1, err: expect.stringContaining('insufficient_scope') })
  expect((await run('env', 'list', 'variables', '--show')).out).toContain('two')
})

test('a hosted account has no scopes, and its tokens are created, listed and revoked all the same', async () => {
  const hosted = createServer(async (request, response) => {
    const chunks = (await request.toArray()) as Buffer[]
    const { url = '', method = 'GET', headers } = request
    const answer = url.startsWith('/v1/')
      ? await fetch(platform.handle.api_url + url, {
          method,
          headers: { authorization: headers.authorization ?? '', 'content-type': 'application/json' },
          ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
        })
      : Response.json({ error: 'route_not_found', message: 'Nothing answers at this address.', request_id: 'req_1' }, { status: 404 })
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.status === 204 ? null : await answer.text())
  })
  await once(hosted.listen(0, '127.0.0.1'), 'listening')
  const asHosted = commandLine({ ...platform.handle.instance, api_url: `http://127.0.0.1:${(hosted.address() as AddressInfo).port}` }, '.')
  expect(await asHosted('tokens', 'create', 'of a hosted account')).toMatchObject({ code: 0 })
  expect((await asHosted('tokens')).out).toMatch(/of a hosted account +svc_…\S+ +all +all /)
  expect(await asHosted('tokens', 'create', 'n', '--scope', 'read')).toMatchObject({ code: 1, err: expect.stringContaining('route_not_found') })
  hosted.close()
})

test('--json prints the record with the token', async () => {
  const { out, code } = await run('tokens', 'create', 'ci', '--json')
  expect(code).toBe(0)
  expect(JSON.parse(out)).toMatchObject({ token: expect.stringMatching(/^svc_/), api_token: { name: 'ci', expires_at: null } })
})

test('usage errors: unknown verb, missing name, invalid number of days', async () => {
  expect(await run('tokens', 'fold')).toMatchObject({ code: 2, err: expect.stringContaining('Use list, create or revoke.') })
  expect(await run('tokens', 'create')).toMatchObject({ code: 2, err: expect.stringContaining('NAME is missing') })
  for (const days of ['0', '366', 'x', '1.5', '-1'])
    expect(await run('tokens', 'create', 'n', `--days=${days}`)).toMatchObject({ code: 2, err: expect.stringContaining('from 1 to 365') })
})
