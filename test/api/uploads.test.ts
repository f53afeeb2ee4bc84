import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Deployment } from '../../server/contract/deployments.ts'
import { archiveTypes } from '../../server/contract/uploads.ts'
import { tgzOf, zipOf } from '../support/archives.ts'
import { until } from '../support/until.ts'
import { type Answer, expectRefusal, startWorld, type Who, type World } from './world.ts'

let world: World

const server = (text: string) => `require('node:http').createServer((_, response) => response.end(${JSON.stringify(text)})).listen(process.env.PORT)`
const packageJson = '{"name":"x","private":true,"scripts":{"start":"node server.js"}}'
const tgz = (text: string) =>
  tgzOf([
    { name: 'app/package.json', data: packageJson },
    { name: 'app/server.js', data: server(text) },
  ])
const zip = (text: string) =>
  zipOf([
    { name: 'package.json', data: packageJson },
    { name: 'server.js', data: server(text) },
  ])

async function send(
  slug: string,
  body: BodyInit,
  headers: Record<string, string> = { 'content-type': 'application/gzip' },
  who: Who = 'owner',
  path = `/v1/projects/${slug}/upload`,
): Promise<Answer> {
  const token = world.tokens[who]
  const answer = await fetch(world.home.platform.api_url + path, {
    method: 'POST',
    body,
    headers: { ...headers, ...(token === null ? {} : { authorization: `Bearer ${token}` }) },
  })
  const text = await answer.text()
  return { status: answer.status, headers: answer.headers, text, body: JSON.parse(text) as Record<string, unknown> }
}
const form = (fields: [string, Buffer | string][]) => {
  const data = new FormData()
  for (const [name, value] of fields) {
    if (typeof value === 'string') data.append(name, value)
    else data.append(name, new Blob([new Uint8Array(value)]), 'a.tgz')
  }
  return data
}
const quarantine = () => readdirSync(join(world.home.data_dir, 'quarantine'))
const bundles = async (slug: string) => {
  const folder = join(world.home.data_dir, 'archives', (await world.home.project(slug)).id)
  return existsSync(folder) ? readdirSync(folder).toSorted() : []
}
const served = async (slug: string) => (await world.home.edge(`${slug}.localhost`)).body
const fresh = (slug: string) => world.home.createProject({ slug })
const uploaded = async (slug: string, body: Buffer) => {
  const answer = await send(slug, new Uint8Array(body))
  expect(answer.status).toBe(201)
  return world.home.ended(slug, String(answer.body.deployment_id))
}

beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.close())

describe('POST upload', () => {
  test.each([...archiveTypes, 'Application/ZIP; charset=binary'])('201 as %s, whichever of the two it is', async (type) => {
    const slug = `as-${archiveTypes.indexOf(type as (typeof archiveTypes)[number]) + 1}x`
    await fresh(slug)
    const answer = await send(slug, new Uint8Array(type.includes('tar') ? zip('zip') : tgz('tar')), { 'content-type': type })
    expect(answer.status).toBe(201)
    expect(answer.body).toMatchObject({ deployment_id: expect.stringMatching(/^dpl_/), status: 'queued' })
    expect(answer.body.deployment).toMatchObject({
      trigger: 'upload',
      source: 'upload',
      branch: null,
      commit_sha: null,
      target: 'production',
      parent_id: null,
    })
    expect(quarantine()).toEqual([])
  })

  test('201 as the field of a form, and it goes live', async () => {
    await fresh('formed')
    const answer = await send('formed', form([['file', zip('from a form')]]), {})
    expect(answer.status).toBe(201)
    const ended = await world.home.ended('formed', String(answer.body.deployment_id))
    expect(ended).toMatchObject({ status: 'ready', error: null })
    expect(ended.build_log).toContain('2 files unpacked')
    expect(await served('formed')).toBe('from a form')
  })

  test('201 with what it was made of, which stays with it and with what is built from it again', async () => {
    await fresh('told')
    const commit = { commit_sha: 'a'.repeat(40), commit_message: 'Open the shop', commit_author: 'Ida' }
    const path = '/instance/projects/told/upload'
    const { body } = await send(`told`, new Uint8Array(tgz('told')), undefined, 'owner', `${path}?${new URLSearchParams(commit)}`)
    expect(await world.home.ended('told', String(body.deployment_id))).toMatchObject({ status: 'ready', source: 'upload', branch: null, ...commit })
    const again = await world.ask('owner', 'POST', `/v1/projects/told/deployments/${String(body.deployment_id)}/retry`)
    expect(await world.home.ended('told', String(again.body.deployment_id))).toMatchObject({ status: 'ready', ...commit })
    expectRefusal(await send('told', new Uint8Array(tgz('x')), undefined, 'owner', `${path}?commit_sha=HEAD`), 400, 'invalid_input')
  })

  test('400 for what is no archive, with the entry and the reason', async () => {
    await fresh('refused')
    const answer = await send('refused', new Uint8Array(tgzOf([{ name: '../../evil', data: 'x' }])))
    expectRefusal(answer, 400, 'invalid_archive')
    expect(answer.body.message).toMatch(/“\.\.\/\.\.\/evil” leads out of the archive/)
    expectRefusal(await send('refused', 'hello'), 400, 'invalid_archive')
    expectRefusal(await send('refused', ''), 400, 'invalid_archive')
    expect(quarantine()).toEqual([])
    expect(await bundles('refused')).toEqual([])
    expect((await world.home.project('refused')).status).toBe('created')
  })

  test('400 for a form that is something else', async () => {
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
      expectRefusal(await send('forms', form(fields), {}), 400, 'invalid_input')
    expectRefusal(await send('forms', 'no form', { 'content-type': 'multipart/form-data' }), 400, 'invalid_input')
    expectRefusal(await send('forms', 'no form', { 'content-type': 'multipart/form-data; boundary=x' }), 400, 'invalid_input')
    expect(quarantine()).toEqual([])
    expect((await send('forms', form([['file', good]]), {})).status).toBe(201)
  })

  test('400 for a form without its closing boundary', async () => {
    await fresh('unclosed')
    const headers = { 'content-type': 'multipart/form-data; boundary=x' }
    const head = '--x\r\ncontent-disposition: form-data; name="file"; filename="a.tgz"\r\n\r\n'
    for (const end of ['', '\r\n', '\r\n--', '\r\n--x', '\r\n--x-', '\r\n--x\r\n'])
      for (const content of [tgz('x'), Buffer.from('')]) {
        const answer = await send('unclosed', Buffer.concat([Buffer.from(head), content, Buffer.from(end)]), headers)
        expect([end, content.length, answer.status, answer.body.error]).toEqual([end, content.length, 400, 'invalid_input'])
      }
    expect(quarantine()).toEqual([])
  })

  test('415 for another type or coding; the checks before it come first', async () => {
    await fresh('typed')
    const good = new Uint8Array(tgz('x'))
    expectRefusal(await send('typed', good, { 'content-type': 'application/x-www-form-urlencoded' }), 415, 'unsupported_media_type')
    expectRefusal(await send('typed', good, { 'content-type': 'application/json' }), 415, 'unsupported_media_type')
    expectRefusal(await send('typed', good, { 'content-type': 'application/gzip', 'content-encoding': 'gzip' }), 415, 'unsupported_media_type')
    expectRefusal(await send('typed', good, { 'content-type': 'text/plain' }, 'nobody'), 401, 'unauthorized')
    expectRefusal(await send('typed', good, { 'content-type': 'text/plain' }, 'stranger'), 404, 'project_not_found')
    expectRefusal(await send('unknown', good, { 'content-type': 'text/plain' }), 404, 'project_not_found')
    expect((await send('typed', good, undefined, 'member')).status).toBe(201)
  })

  test('a refused client that sends much sees its answer, and may go on by the same connection', async () => {
    await fresh('patient')
    const much = new Uint8Array(12 * 2 ** 20)
    expectRefusal(await send('patient', much, undefined, 'nobody'), 401, 'unauthorized')
    expectRefusal(await send('unknown', much), 404, 'project_not_found')
    expectRefusal(await send('patient', much), 400, 'invalid_archive')
    expectRefusal(await send('patient', much, { 'content-type': 'text/plain' }), 415, 'unsupported_media_type')
    expect(quarantine()).toEqual([])
  })

  test('413 over 250 MiB, before any of it is sent', async () => {
    await fresh('large')
    const { hostname, port } = new URL(world.home.platform.api_url)
    const announced = await new Promise<number>((resolve, reject) => {
      const asking = request({
        hostname,
        port,
        path: '/v1/projects/large/upload',
        method: 'POST',
        headers: { ...auth(), 'content-type': 'application/gzip', 'content-length': 250 * 2 ** 20 + 1, expect: '100-continue' },
      })
      asking.on('continue', () => reject(new Error('was told to go on')))
      asking.on('response', (answer) => {
        resolve(answer.statusCode ?? 0)
        asking.destroy()
      })
      asking.on('error', () => {})
      asking.flushHeaders()
    })
    expect(announced).toBe(413)
    expect(quarantine()).toEqual([])
  })

  test('a client that goes away leaves nothing', async () => {
    await fresh('gone-away')
    const { hostname, port } = new URL(world.home.platform.api_url)
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
    expect(((await world.ask('owner', 'GET', '/v1/projects/gone-away/deployments')).body.deployments as Deployment[]).length).toBe(0)
    expect(await bundles('gone-away')).toEqual([])
  })
})

describe('the kept archive', () => {
  test('a retry and a roll-back build it again, and the project takes it along when it goes', async () => {
    await fresh('again')
    const first = await uploaded('again', tgz('first'))
    const second = await uploaded('again', tgz('second'))
    expect(await served('again')).toBe('second')
    const rolled = await world.ask('owner', 'POST', `/v1/projects/again/deployments/${first.id}/rollback`)
    expect(rolled.body.deployment).toMatchObject({ trigger: 'rollback', source: 'upload', parent_id: first.id })
    await world.home.ended('again', String(rolled.body.deployment_id))
    expect(await served('again')).toBe('first')
    const retried = await world.ask('owner', 'POST', `/v1/projects/again/deployments/${second.id}/retry`)
    expect(retried.body.deployment).toMatchObject({ trigger: 'retry', source: 'upload', parent_id: second.id })
    expect((await world.home.ended('again', String(retried.body.deployment_id))).status).toBe('ready')
    expect(await served('again')).toBe('second')
    expect(await bundles('again')).toEqual([first.id, second.id].toSorted())
    const { id } = await world.home.project('again')
    await world.ask('owner', 'DELETE', '/v1/projects/again')
    await until(() => !existsSync(join(world.home.data_dir, 'archives', id)) || undefined, { what: 'the archives to be gone' })
  })

  test('is freed with retention; what is current and what it replaced stay', async () => {
    await fresh('retained')
    await world.ask('instance_owner', 'PATCH', '/instance/settings', { keep_deployments: 2 })
    const ids: string[] = []
    for (const text of ['one', 'two', 'three']) ids.push((await uploaded('retained', tgz(text))).id)
    const rolled = await world.ask('owner', 'POST', `/v1/projects/retained/deployments/${ids[1]}/rollback`)
    await world.home.ended('retained', String(rolled.body.deployment_id))
    await uploaded('retained', tgz('four'))
    await until(async () => (await bundles('retained')).length === 2 || undefined, { what: 'two archives' })
    const kept = await bundles('retained')
    expect(kept).toContain(ids[1])
    expect(kept).not.toContain(ids[0])
    await world.ask('instance_owner', 'PATCH', '/instance/settings', { keep_deployments: 10 })
    const lost = await world.ask('owner', 'POST', `/v1/projects/retained/deployments/${ids[0]}/retry`)
    const ended = await world.home.ended('retained', String(lost.body.deployment_id))
    expect(ended.error).toMatchObject({ code: 'clone_failed', message: 'The archive is no longer kept.' })
  })

  test('is what was sent, byte by byte', async () => {
    await fresh('bytes')
    const body = tgz('bytes')
    const { id } = await uploaded('bytes', body)
    const kept = readFileSync(join(world.home.data_dir, 'archives', (await world.home.project('bytes')).id, id))
    expect(kept.equals(body)).toBe(true)
  })
})

const auth = () => ({ authorization: `Bearer ${world.tokens.owner}` })
