import { once } from 'node:events'
import { createServer, request as forward, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fullTest } from '../support/full-test.ts'
import type { Database } from '../../server/contract/databases.ts'
import type { EnvVar } from '../../server/contract/env-vars.ts'
import type { PromotionReportLine } from '../../server/client/promotion/report.ts'
import type { Volume } from '../../server/contract/volumes.ts'
import { queryDatabase } from '../database/guest-book-app.ts'
import { guestbook } from '../deployments/added-volumes-suite.ts'
import { runCommand } from '../support/command.ts'
import { startTestPlatform, type TestPlatform } from '../support/platform.ts'
import { makeRepository } from '../support/repository.ts'
import { isFullTier } from '../support/tier.ts'

let platform: TestPlatform
let away: TestPlatform
const repository = makeRepository(guestbook('one'))

const run = (args: string[], more: { answers?: string[]; remote_token?: string } = {}) => runCommand(platform.handle.instance, '.', args, more)
const read = async (of: TestPlatform, path = '/') =>
  JSON.parse((await of.fetchEdge('guests.localhost', path)).body) as { guests: string[]; uploads: string[] }
const volumes = async (of: TestPlatform) => (await of.api<{ volumes: Volume[] }>('GET', '/instance/projects/guests/volumes')).body.volumes

beforeAll(async () => {
  ;[platform, away] = await Promise.all([startTestPlatform({ runtime: 'process' }), startTestPlatform({ runtime: 'process' })])
  const { api_url, token } = away.handle.instance
  await run(['instances', 'add', api_url, 'Berth'], { remote_token: token })
  await platform.createProject({ slug: 'guests', name: 'Guests', repo_url: repository.url, previews: false })
  const path = '/instance/projects/guests'
  await platform.api('PATCH', '/v1/projects/guests', { memory_limit_mb: 256 })
  await platform.api('PATCH', `${path}/settings`, { health_path: '/healthz', watch_paths: ['apps/**', '!**/*.md'], preview_volumes: 'snapshot' })
  await platform.api('PATCH', `${path}/mail`, { is_enabled: true })
  await platform.api('POST', `${path}/volumes`, { path: 'public/uploads' })
  await platform.api('POST', `${path}/volumes`, { path: 'guests.db' })
  await platform.api('POST', `${path}/env-vars`, {
    vars: [
      { key: 'TIDES', value: 'high' },
      { key: 'SEALED', value: 'hunter2', is_write_only: true },
      { key: 'BUILD_KEY', value: 'swordfish', is_build_secret: true },
    ],
  })
  await platform.api('POST', `${path}/registries`, { host: 'registry.example.com', username: 'me', password: 'hunter2-of-the-registry' })
  const { id } = await platform.deploy('guests')
  expect((await platform.waitForEnd('guests', id)).error).toBeNull()
  await read(platform, '/sign/Ada')
  await read(platform, '/upload/lantern.png')
})
afterAll(async () => {
  await Promise.all([platform.remove(), away.remove()])
  repository.remove()
})

test('a new project on the target gets source, settings, services, variables and the selected volumes; the rest is listed with what to do', async () => {
  const { code, out, err } = await run(['promote', 'guests', 'Berth', '--volumes', 'all', '--variables', 'TIDES,BUILD_KEY'])
  expect([code, out], err).toEqual([0, expect.stringMatching(/^guests is live on Berth\.\n/)])
  expect(await read(away)).toMatchObject({ guests: ['Ada'], uploads: ['lantern.png'] })
  expect(await away.getProject('guests')).toMatchObject({ name: 'Guests', memory_limit_mb: 256 })
  expect((await away.api('GET', '/instance/projects/guests/settings')).body).toMatchObject({
    settings: { health_path: '/healthz', watch_paths: ['apps/**', '!**/*.md'], preview_volumes: 'snapshot' },
  })
  expect((await away.api('GET', '/instance/projects/guests/mail')).body).toMatchObject({ catcher: { is_enabled: true } })
  expect((await volumes(away)).map(({ name, added }) => [name, added])).toEqual([
    ['guests.db', { service: null, path: '/app/guests.db' }],
    ['uploads', { service: null, path: '/app/public/uploads' }],
  ])
  const { env_vars } = (await away.api<{ env_vars: (EnvVar & { is_build_secret: boolean })[] }>('GET', '/instance/projects/guests/env-vars')).body
  expect(
    env_vars.map(({ key, value, is_build_secret }) => [key, value, is_build_secret]).toSorted(([a], [b]) => (String(a) < String(b) ? -1 : 1)),
  ).toEqual([
    ['BUILD_KEY', 'swordfish', true],
    ['TIDES', 'high', false],
  ])
  const [copied = '', notCopied = ''] = out.split('Not copied:')
  expect(copied).toContain('Mail catcher: Added without data.')
  expect(copied).toMatch(/Files of the volume uploads: 1 file\./)
  expect(notCopied).toContain('Variable SEALED: Its value cannot be read. Add it there.')
  expect(notCopied).toContain('Credentials for registry.example.com: Passwords of registries cannot be read.')
  expect(out + err).not.toMatch(/hunter2|swordfish/)
  // One build with all changes.
  expect((await away.api<{ deployments: unknown[] }>('GET', '/v1/projects/guests/deployments')).body.deployments).toHaveLength(1)
})

test('promoting again keeps the data of the target unless told to replace it, and then saves it in a snapshot', async () => {
  await read(away, '/sign/Bob')
  await read(platform, '/upload/rope.png')
  const again = await run(['promote', 'guests', 'Berth', '--volumes', 'all', '--json'])
  const { report } = JSON.parse(again.out) as { report: PromotionReportLine[] }
  expect(report.filter(({ outcome }) => outcome === 'kept').map(({ item }) => item)).toEqual(
    expect.arrayContaining(['Files of the volume uploads', 'Files of the volume guests.db']),
  )
  expect(await read(away)).toMatchObject({ guests: ['Ada', 'Bob'], uploads: ['lantern.png'] })

  const replaced = await run(['promote', 'guests', 'Berth', '--volumes', 'uploads', '--replace-data'])
  expect([replaced.code, replaced.out], replaced.err).toEqual([0, expect.stringMatching(/2 files\. A snapshot has those from before: snp_/)])
  expect(await read(away)).toMatchObject({ guests: ['Ada', 'Bob'], uploads: ['lantern.png', 'rope.png'] })
})

test('a terminal asks about each volume, with its size; pull brings the project back', async () => {
  const { code, prompts, out, err } = await run(['pull', 'guests', 'Berth', '--slug', 'back'], { answers: ['n', 'yes'] })
  expect([code, out], err).toEqual([0, expect.stringMatching(/^back is live on this instance\.\n/)])
  expect(prompts.map(({ question }) => question)).toEqual([
    expect.stringMatching(/^Copy the files of the volume guests\.db \([\d.]+ [a-zA-Z]+\)\? \[y\/N\] $/),
    'Copy the files of the volume uploads (19 bytes)? [y/N] ',
  ])
  const back = JSON.parse((await platform.fetchEdge('back.localhost')).body) as { guests: string[]; uploads: string[] }
  expect(back).toMatchObject({ guests: [], uploads: ['lantern.png', 'rope.png'] })
  expect(out).toContain('Files of the volume guests.db: Not selected.')
})

fullTest('the data of PostgreSQL arrives with the project, and its sequences continue', async () => {
  const register = makeRepository({ 'index.html': '<h1>Register</h1>' })
  await platform.createProject({ slug: 'register', repo_url: register.url, previews: false })
  const { body } = await platform.api<{ database: Database }>('POST', '/v1/projects/register/database')
  await queryDatabase(body.database.connection_string, 'CREATE TABLE entries (id serial PRIMARY KEY, amount numeric(30, 10))')
  await queryDatabase(body.database.connection_string, 'INSERT INTO entries (amount) VALUES (12345678901234567890.0123456789)')
  expect((await platform.waitForEnd('register', (await platform.deploy('register')).id)).error).toBeNull()

  const { code, out, err } = await run(['promote', 'register', 'Berth', '--databases', 'all'])
  expect([code, out], err).toEqual([0, expect.stringMatching(/Data of the PostgreSQL database: Copied\.\n/)])
  const { connection_string } = (await away.api<{ database: Database }>('GET', '/v1/projects/register/database')).body.database
  await queryDatabase(connection_string, 'INSERT INTO entries (amount) VALUES (1)')
  expect(await queryDatabase(connection_string, 'SELECT id::text, amount::text FROM entries ORDER BY id')).toEqual([
    ['1', '12345678901234567890.0123456789'],
    ['2', '1.0000000000'],
  ])
  register.remove()
})

test('an unlisted instance and uncopyable names are refused before anything is sent', async () => {
  expect(await run(['promote', 'guests', 'Nowhere'])).toMatchObject({ code: 2, err: expect.stringContaining('There is no instance “Nowhere”') })
  expect(await run(['promote', 'guests', 'Berth', '--volumes', 'cargo'])).toMatchObject({ code: 2, err: expect.stringContaining('“cargo”') })
  expect(await run(['promote', 'guests', 'Berth', '--variables', 'SEALED', '--slug', 'new'])).toMatchObject({ code: 2 })
  expect(await run(['promote', 'none', 'Berth'])).toMatchObject({ code: 1, err: expect.stringContaining('project_not_found') })
  expect((await away.api('GET', '/v1/projects/new')).status).toBe(404)
})

if (isFullTier)
  describe('an instance of an earlier version', () => {
    let older: Server
    beforeAll(async () => {
      // It has no uploads into volumes, no mail catcher and only the settings of /v1.
      older = createServer((request, response) => {
        if (/\/(upload\?create|mail$|settings$)/.test(request.url ?? '') && request.url?.startsWith('/instance/')) {
          const body = JSON.stringify({ error: 'route_not_found', message: 'Nothing answers at this address.', request_id: 'req_1' })
          request.resume()
          return void response.writeHead(404, { 'content-type': 'application/json' }).end(body)
        }
        const { hostname, port } = new URL(away.handle.api_url)
        const options = { hostname, port, method: request.method, path: request.url, headers: { ...request.headers, host: `${hostname}:${port}` } }
        request.pipe(
          forward(options, (answer) => {
            response.writeHead(answer.statusCode ?? 500, answer.headers)
            answer.pipe(response)
          }),
        )
      }).listen(0, '127.0.0.1')
      await once(older, 'listening')
      const url = `http://127.0.0.1:${(older.address() as AddressInfo).port}`
      expect(await run(['instances', 'add', url, 'Older'], { remote_token: away.handle.instance.token })).toMatchObject({ code: 0 })
    })
    afterAll(() => void older.close())

    test('gets everything that it supports, and the rest is named', async () => {
      const { code, out, err } = await run(['promote', 'guests', 'Older', '--slug', 'older', '--volumes', 'all'])
      expect([code, out], err).toEqual([0, expect.stringMatching(/^older is live on Older\.\n/)])
      expect(out).toContain('Files of the volume uploads: The other instance does not support volume archives yet. Update it')
      expect(out).toContain('Mail catcher: The other instance does not support it yet.')
      expect(out).toMatch(/Settings health_path, preview_volumes, watch_paths: The other instance does not support them yet\./)
      expect(out).toContain('Volume uploads at /app/public/uploads: The path is already kept there.')
    })
  })
