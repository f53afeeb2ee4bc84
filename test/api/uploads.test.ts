import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fullTest } from '../support/full-test.ts'
import type { Deployment } from '../../server/contract/deployments.ts'
import { archiveTypes } from '../../server/contract/uploads.ts'
import { createTarGz, createZip } from '../support/archives.ts'
import { until } from '../support/until.ts'
import { type ApiResponse, expectError, createApiContext, type Caller, type ApiContext } from './api-context.ts'

let context: ApiContext

const server = (text: string) => `require('node:http').createServer((_, response) => response.end(${JSON.stringify(text)})).listen(process.env.PORT)`
const packageJson = '{"name":"x","private":true,"scripts":{"start":"node server.js"}}'
const tgz = (text: string) =>
  createTarGz([
    { name: 'app/package.json', data: packageJson },
    { name: 'app/server.js', data: server(text) },
  ])
const zip = (text: string) =>
  createZip([
    { name: 'package.json', data: packageJson },
    { name: 'server.js', data: server(text) },
  ])

async function send(
  slug: string,
  body: BodyInit,
  headers: Record<string, string> = { 'content-type': 'application/gzip' },
  who: Caller = 'owner',
  path = `/v1/projects/${slug}/upload`,
): Promise<ApiResponse> {
  const token = context.tokens[who]
  const response = await fetch(context.platform.handle.api_url + path, {
    method: 'POST',
    body,
    headers: { ...headers, ...(token === null ? {} : { authorization: `Bearer ${token}` }) },
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, body: JSON.parse(text) as Record<string, unknown> }
}
const form = (fields: [string, Buffer | string][]) => {
  const data = new FormData()
  for (const [name, value] of fields) {
    if (typeof value === 'string') data.append(name, value)
    else data.append(name, new Blob([new Uint8Array(value)]), 'a.tgz')
  }
  return data
}
const quarantine = () => readdirSync(join(context.platform.data_dir, 'quarantine'))
const bundles = async (slug: string) => {
  const folder = join(context.platform.data_dir, 'archives', (await context.platform.getProject(slug)).id)
  return existsSync(folder) ? readdirSync(folder).toSorted() : []
}
const served = async (slug: string) => (await context.platform.fetchEdge(`${slug}.localhost`)).body
const fresh = (slug: string) => context.platform.createProject({ slug })
const uploaded = async (slug: string, body: Buffer) => {
  const response = await send(slug, new Uint8Array(body))
  expect(response.status).toBe(201)
  return context.platform.waitForEnd(slug, String(response.body.deployment_id))
}

beforeAll(async () => {
  context = await createApiContext()
})
afterAll(() => context.close())

describe('POST upload', () => {
  test.each([...archiveTypes, 'Application/ZIP; charset=binary'])('201 as %s, whichever format the archive has', async (type) => {
    const slug = `as-${archiveTypes.indexOf(type as (typeof archiveTypes)[number]) + 1}x`
    await fresh(slug)
    const response = await send(slug, new Uint8Array(type.includes('tar') ? zip('zip') : tgz('tar')), { 'content-type': type })
    expect(response.status).toBe(201)
    expect(response.body).toMatchObject({ deployment_id: expect.stringMatching(/^dpl_/), status: 'queued' })
    expect(response.body.deployment).toMatchObject({
      trigger: 'upload',
      source: 'upload',
      branch: null,
      commit_sha: null,
      target: 'production',
      parent_id: null,
    })
    expect(quarantine()).toEqual([])
  })

  fullTest('201 as a form field, and it goes live', async () => {
    await fresh('formed')
    const response = await send('formed', form([['file', zip('from a form')]]), {})
    expect(response.status).toBe(201)
    const ended = await context.platform.waitForEnd('formed', String(response.body.deployment_id))
    expect(ended).toMatchObject({ status: 'ready', error: null })
    expect(ended.build_log).toContain('2 files unpacked')
    expect(await served('formed')).toBe('from a form')
  })

  test('201 with commit details, which are kept for the deployment and its retries', async () => {
    await fresh('told')
    const commit = { commit_sha: 'a'.repeat(40), commit_message: 'Open the shop', commit_author: 'Ida' }
    const path = '/instance/projects/told/upload'
    const { body } = await send(`told`, new Uint8Array(tgz('told')), undefined, 'owner', `${path}?${new URLSearchParams(commit)}`)
    expect(await context.platform.waitForEnd('told', String(body.deployment_id))).toMatchObject({
      status: 'ready',
      source: 'upload',
      branch: null,
      ...commit,
    })
    const again = await context.request('owner', 'POST', `/v1/projects/told/deployments/${String(body.deployment_id)}/retry`)
    expect(await context.platform.waitForEnd('told', String(again.body.deployment_id))).toMatchObject({ status: 'ready', ...commit })
    expectError(await send('told', new Uint8Array(tgz('x')), undefined, 'owner', `${path}?commit_sha=HEAD`), 400, 'invalid_input')
  })

  test('201 with a name; the deployment and its retries have it, their size and the files changed', async () => {
    await fresh('named')
    const upload = async (text: string, name: string) => {
      const path = `/v1/projects/named/upload?${new URLSearchParams({ name })}`
      const { body } = await send('named', new Uint8Array(tgz(text)), undefined, 'owner', path)
      const { build_log: _, ...ended } = await context.platform.waitForEnd('named', String(body.deployment_id))
      return ended
    }
    const first = await upload('one', 'shop.tar.gz')
    const source_bytes = packageJson.length + server('one').length
    expect(first).toMatchObject({ source_name: 'shop.tar.gz', source_bytes, files_changed: null })
    const second = await upload('two', 'shop-2.tar.gz')
    expect(second).toMatchObject({ source_name: 'shop-2.tar.gz', source_bytes, files_changed: 1 })
    const again = await context.request('owner', 'POST', `/v1/projects/named/deployments/${second.id}/retry`)
    expect(await context.platform.waitForEnd('named', String(again.body.deployment_id))).toMatchObject({
      source_name: 'shop-2.tar.gz',
      files_changed: 1,
    })
    expect(await upload('two', 'shop-2.tar.gz')).toMatchObject({ files_changed: 0 })
  })

  test('400 for an invalid archive, with the entry and the reason', async () => {
    await fresh('refused')
    const response = await send('refused', new Uint8Array(createTarGz([{ name: '../../evil', data: 'x' }])))
    expectError(response, 400, 'invalid_archive')
    expect(response.body.message).toMatch(/“\.\.\/\.\.\/evil” points outside of the archive/)
    expectError(await send('refused', 'hello'), 400, 'invalid_archive')
    expectError(await send('refused', ''), 400, 'invalid_archive')
    expect(quarantine()).toEqual([])
    expect(await bundles('refused')).toEqual([])
    expect((await context.platform.getProject('refused')).status).toBe('created')
  })

  test('400 for any other form', async () => {
    await fresh('forms')
    const good = tgz('x')
    for (const fields of [
      [],
      [['other', good]],
      [['file', 'text']],
      [
        ['file', good],
        ['file', good],
      ],
      [
        ['file', good],
        ['note', 'text'],
      ],
      [
        ['note', 'text'],
        ['file', good],
      ],
    ] as [string, Buffer | string][][])
      expectError(await send('forms', form(fields), {}), 400, 'invalid_input')
    expectError(await send('forms', 'no form', { 'content-type': 'multipart/form-data' }), 400, 'invalid_input')
    expectError(await send('forms', 'no form', { 'content-type': 'multipart/form-data; boundary=x' }), 400, 'invalid_input')
    expect(quarantine()).toEqual([])
    expect((await send('forms', form([['file', good]]), {})).status).toBe(201)
  })

  test('400 for a form without its closing boundary', async () => {
    await fresh('unclosed')
    const headers = { 'content-type': 'multipart/form-data; boundary=x' }
    const head = '--x\r\ncontent-disposition: form-data; name="file"; filename="a.tgz"\r\n\r\n'
    for (const end of ['', '\r\n', '\r\n--', '\r\n--x', '\r\n--x-', '\r\n--x\r\n'])
      for (const content of [tgz('x'), Buffer.from('')]) {
        const response = await send('unclosed', Buffer.concat([Buffer.from(head), content, Buffer.from(end)]), headers)
        expect([end, content.length, response.status, response.body.error]).toEqual([end, content.length, 400, 'invalid_input'])
      }
    expect(quarantine()).toEqual([])
  })

  test('415 for another content type or encoding, after the checks that come first', async () => {
    await fresh('typed')
    const good = new Uint8Array(tgz('x'))
    expectError(await send('typed', good, { 'content-type': 'application/x-www-form-urlencoded' }), 415, 'unsupported_media_type')
    expectError(await send('typed', good, { 'content-type': 'application/json' }), 415, 'unsupported_media_type')
    expectError(await send('typed', good, { 'content-type': 'application/gzip', 'content-encoding': 'gzip' }), 415, 'unsupported_media_type')
    expectError(await send('typed', good, { 'content-type': 'text/plain' }, 'anonymous'), 401, 'unauthorized')
    expectError(await send('typed', good, { 'content-type': 'text/plain' }, 'stranger'), 404, 'project_not_found')
    expectError(await send('unknown', good, { 'content-type': 'text/plain' }), 404, 'project_not_found')
    expect((await send('typed', good, undefined, 'member')).status).toBe(201)
  })

  test('a refused client that sends a large body receives its response, and can reuse the connection', async () => {
    await fresh('patient')
    const much = new Uint8Array(12 * 2 ** 20)
    expectError(await send('patient', much, undefined, 'anonymous'), 401, 'unauthorized')
    expectError(await send('unknown', much), 404, 'project_not_found')
    expectError(await send('patient', much), 400, 'invalid_archive')
    expectError(await send('patient', much, { 'content-type': 'text/plain' }), 415, 'unsupported_media_type')
    expect(quarantine()).toEqual([])
  })

  test('413 over 250 MiB, before any of it is sent', async () => {
    await fresh('large')
    const { hostname, port } = new URL(context.platform.handle.api_url)
    const announced = await new Promise<number>((resolve, reject) => {
      const asking = request({
        hostname,
        port,
        path: '/v1/projects/large/upload',
        method: 'POST',
        headers: { ...auth(), 'content-type': 'application/gzip', 'content-length': 250 * 2 ** 20 + 1, expect: '100-continue' },
      })
      asking.on('continue', () => reject(new Error('was told to go on')))
      asking.on('response', (response) => {
        resolve(response.statusCode ?? 0)
        asking.destroy()
      })
      asking.on('error', () => {})
      asking.flushHeaders()
    })
    expect(announced).toBe(413)
    expect(quarantine()).toEqual([])
  })

  test('a client that disconnects leaves nothing behind', async () => {
    await fresh('gone-away')
    const { hostname, port } = new URL(context.platform.handle.api_url)
    const asking = request({
      hostname,
      port,
      path: '/v1/projects/gone-away/upload',
      method: 'POST',
      headers: { ...auth(), 'content-type': 'application/gzip' },
    })
    asking.on('error', () => {})
    asking.write(tgz('x').subarray(0, 100))
    await until(() => quarantine().length === 1 || undefined, { what: 'the upload to begin' })
    asking.destroy()
    await until(() => quarantine().length === 0 || undefined, { what: 'the quarantine to be empty' })
    expect(((await context.request('owner', 'GET', '/v1/projects/gone-away/deployments')).body.deployments as Deployment[]).length).toBe(0)
    expect(await bundles('gone-away')).toEqual([])
  })
})

describe('the stored archive', () => {
  test('is built again by a retry and a rollback, and is deleted with the project', async () => {
    await fresh('again')
    const first = await uploaded('again', tgz('first'))
    const second = await uploaded('again', tgz('second'))
    expect(await served('again')).toBe('second')
    const rolled = await context.request('owner', 'POST', `/v1/projects/again/deployments/${first.id}/rollback`)
    expect(rolled.body.deployment).toMatchObject({ trigger: 'rollback', source: 'upload', parent_id: first.id })
    await context.platform.waitForEnd('again', String(rolled.body.deployment_id))
    expect(await served('again')).toBe('first')
    const retried = await context.request('owner', 'POST', `/v1/projects/again/deployments/${second.id}/retry`)
    expect(retried.body.deployment).toMatchObject({ trigger: 'retry', source: 'upload', parent_id: second.id })
    expect((await context.platform.waitForEnd('again', String(retried.body.deployment_id))).status).toBe('ready')
    expect(await served('again')).toBe('second')
    expect(await bundles('again')).toEqual([first.id, second.id].toSorted())
    const { id } = await context.platform.getProject('again')
    await context.request('owner', 'DELETE', '/v1/projects/again')
    await until(() => !existsSync(join(context.platform.data_dir, 'archives', id)) || undefined, { what: 'the archives to be gone' })
  })

  fullTest('is deleted by retention, except for the current deployment and the one it replaced', async () => {
    await fresh('retained')
    await context.request('instance_owner', 'PATCH', '/instance/settings', { keep_deployments: 2 })
    const ids: string[] = []
    for (const text of ['one', 'two', 'three']) ids.push((await uploaded('retained', tgz(text))).id)
    const rolled = await context.request('owner', 'POST', `/v1/projects/retained/deployments/${ids[1]}/rollback`)
    await context.platform.waitForEnd('retained', String(rolled.body.deployment_id))
    await uploaded('retained', tgz('four'))
    await until(async () => (await bundles('retained')).length === 2 || undefined, { what: 'two archives' })
    const kept = await bundles('retained')
    expect(kept).toContain(ids[1])
    expect(kept).not.toContain(ids[0])
    await context.request('instance_owner', 'PATCH', '/instance/settings', { keep_deployments: 10 })
    const lost = await context.request('owner', 'POST', `/v1/projects/retained/deployments/${ids[0]}/retry`)
    const ended = await context.platform.waitForEnd('retained', String(lost.body.deployment_id))
    expect(ended.error).toMatchObject({ code: 'clone_failed', message: 'The archive is no longer stored.' })
  })

  test('is byte for byte what was sent', async () => {
    await fresh('bytes')
    const body = tgz('bytes')
    const { id } = await uploaded('bytes', body)
    const kept = readFileSync(join(context.platform.data_dir, 'archives', (await context.platform.getProject('bytes')).id, id))
    expect(kept.equals(body)).toBe(true)
  })
})

const auth = () => ({ authorization: `Bearer ${context.tokens.owner}` })
