import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { fullTest } from '../support/full-test.ts'
import type { DeploymentDetail } from '../../server/contract/deployments.ts'
import { createTarGz, createZip } from '../support/archives.ts'
import { makeRepository, tinyServer } from '../support/repository.ts'
import { until } from '../support/until.ts'
import { expectError, createApiContext, type Caller, type ApiContext } from './api-context.ts'

let context: ApiContext
const folders: string[] = []
/** Compressed before any test, because it takes so long that a server would drop the silent connection. */
const large = createTarGz(Object.entries({ ...tinyServer('large'), 'cargo.bin': randomBytes(24 * 2 ** 20) }).map(([name, data]) => ({ name, data })))
const newFolder = () => {
  const folder = mkdtempSync(join(tmpdir(), 'homeport-sources-'))
  folders.push(folder)
  return folder
}

beforeAll(async () => {
  context = await createApiContext()
})
afterAll(async () => {
  await context.close()
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})
/** No temporary file remains in the folder where sources are prepared. */
afterEach(() => until(() => outgoing().length === 0 || undefined, { what: 'an empty place' }))

const outgoing = () => {
  const folder = join(context.platform.data_dir, 'outgoing')
  return existsSync(folder) ? readdirSync(folder) : []
}
const pathOf = (slug: string, id: string) => `/instance/projects/${slug}/deployments/${id}/source`
const get = (slug: string, id: string, { signal, who = 'owner' }: { signal?: AbortSignal; who?: Caller } = {}) =>
  fetch(context.platform.handle.api_url + pathOf(slug, id), {
    headers: { authorization: `Bearer ${context.tokens[who]}` },
    ...(signal ? { signal } : {}),
  })

async function archiveOf(slug: string, id: string, who: Caller = 'owner'): Promise<Buffer> {
  const response = await get(slug, id, { who })
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/gzip'])
  return Buffer.from(await response.arrayBuffer())
}
/** `drwxr-xr-x name`, `lrw… name -> target`, listed by the system's tar. */
function listOf(archive: Buffer): string[] {
  const list = execFileSync('tar', ['--list', '--verbose', '--gzip', '--file=-'], { input: archive, encoding: 'utf8' })
  return list
    .trim()
    .split('\n')
    .map((line) => line.replace(/^(\S+)\s+\S+\s+\d+ \S+ \S+ (?=source)/, '$1 '))
}
async function send(slug: string, archive: Buffer, type = 'application/gzip'): Promise<DeploymentDetail> {
  const response = await fetch(`${context.platform.handle.api_url}/v1/projects/${slug}/upload`, {
    method: 'POST',
    body: new Uint8Array(archive),
    headers: { authorization: `Bearer ${context.tokens.owner}`, 'content-type': type },
  })
  const body = (await response.json()) as { deployment_id: string }
  expect([response.status, body]).toEqual([201, expect.anything()])
  return context.platform.waitForEnd(slug, body.deployment_id)
}
async function deployFolder(slug: string, path: string): Promise<DeploymentDetail> {
  const response = await context.request('instance_owner', 'POST', '/instance/deploy-folder', { path, slug })
  expect(response.status).toBe(201)
  return context.platform.waitForEnd(slug, (response.body.deployment as { id: string }).id)
}

describe('GET source', () => {
  test('of a git deployment: the deployed commit, not the head, as it would be built elsewhere', async () => {
    const repository = makeRepository({ ...tinyServer('one'), 'node_modules/left/index.js': '1', '.env.example': 'A=' })
    writeFileSync(join(repository.folder, 'run.sh'), '#!/bin/sh\n')
    chmodSync(join(repository.folder, 'run.sh'), 0o755)
    symlinkSync('server.js', join(repository.folder, 'link.js'))
    repository.commit({})
    await context.platform.createProject({ slug: 'from-git', repo_url: repository.url })
    const { id } = await context.platform.deploy('from-git')
    expect((await context.platform.waitForEnd('from-git', id)).status).toBe('ready')
    repository.commit({ 'server.js': 'broken', 'more.txt': 'later' })

    const archive = await archiveOf('from-git', id)
    expect(listOf(archive)).toEqual([
      'drwxr-xr-x source/',
      '-rw-r--r-- source/.env.example',
      'lrwxr-xr-x source/link.js -> server.js',
      '-rw-r--r-- source/package.json',
      '-rwxr-xr-x source/run.sh',
      '-rw-r--r-- source/server.js',
    ])
    // The same source gives the same bytes.
    expect((await archiveOf('from-git', id)).equals(archive)).toBe(true)
    await context.platform.createProject({ slug: 'git-again' })
    expect(await send('git-again', archive)).toMatchObject({ status: 'ready', source: 'upload' })
    expect((await context.platform.fetchEdge('git-again.localhost')).body).toBe('one')

    repository.remove()
    const response = await context.request('owner', 'GET', pathOf('from-git', id))
    expectError(response, 404, 'source_not_found')
    expect(response.body.message).toContain('repository does not exist')
  })

  test('of an upload: the stored archive in one format; a single top folder of the app is kept', async () => {
    await context.platform.createProject({ slug: 'from-zip' })
    const files = Object.entries(tinyServer('zipped')).map(([name, data]) => ({ name: `top/apps/web/${name}`, data, mode: 0o100644 }))
    const zip = createZip([...files, { name: 'top/apps/web/.git/config', data: 'token' }, { name: 'top/apps/web/node_modules/a.js', data: '1' }])
    await context.request('owner', 'PATCH', '/v1/projects/from-zip', { root_directory: 'apps/web' })
    const first = await send('from-zip', zip, 'application/zip')
    expect(first.status).toBe('ready')
    const archive = await archiveOf('from-zip', first.id)
    expect(listOf(archive).map((line) => line.split(' ')[1])).toEqual([
      'source/',
      'source/apps/',
      'source/apps/web/',
      'source/apps/web/package.json',
      'source/apps/web/server.js',
    ])
    await context.platform.createProject({ slug: 'zip-again' })
    await context.platform.api('PATCH', '/v1/projects/zip-again', { root_directory: 'apps/web' })
    const again = await send('zip-again', archive)
    expect(again.status).toBe('ready')
    // A source downloaded from here and uploaded again stays the same.
    expect(listOf(await archiveOf('zip-again', again.id))).toEqual(listOf(archive))
    // A retry has its own id and the same source.
    const retry = await context.request('owner', 'POST', `/v1/projects/from-zip/deployments/${first.id}/retry`)
    const second = await context.platform.waitForEnd('from-zip', String(retry.body.deployment_id))
    expect(listOf(await archiveOf('from-zip', second.id))).toEqual(listOf(archive))
    rmSync(join(context.platform.data_dir, 'archives', second.project_id), { recursive: true })
    expectError(await context.request('owner', 'GET', pathOf('from-zip', second.id)), 404, 'source_not_found')
  })

  fullTest('of a folder: its stored copy; without the copy, the folder itself if git reports no changes', async () => {
    const repository = makeRepository(tinyServer('foldered'))
    const clean = await deployFolder('from-folder', repository.folder)
    expect(clean.status).toBe('ready')
    const archive = await archiveOf('from-folder', clean.id, 'instance_owner')
    writeFileSync(join(repository.folder, 'new.txt'), 'not committed')
    const dirty = await deployFolder('from-folder', repository.folder)
    expect(listOf(await archiveOf('from-folder', dirty.id, 'instance_owner'))).toContain('-rw-r--r-- source/new.txt')
    expect((await archiveOf('from-folder', clean.id, 'instance_owner')).equals(archive)).toBe(true)

    rmSync(join(context.platform.data_dir, 'sources'), { recursive: true })
    for (const id of [clean.id, dirty.id]) {
      const response = await context.request('instance_owner', 'GET', pathOf('from-folder', id))
      expectError(response, 404, 'source_not_found')
      expect(response.body.message).toContain('Deploy the folder again')
    }
    rmSync(join(repository.folder, 'new.txt'))
    expect(listOf(await archiveOf('from-folder', clean.id, 'instance_owner'))).toEqual(listOf(archive))
    expectError(await context.request('instance_owner', 'GET', pathOf('from-folder', dirty.id)), 404, 'source_not_found')
    repository.remove()

    const plain = newFolder()
    mkdirSync(join(plain, 'public'))
    writeFileSync(join(plain, 'public', 'index.html'), 'hello')
    writeFileSync(join(plain, '.env'), 'SECRET=1')
    const bare = await deployFolder('from-bare', plain)
    expect(listOf(await archiveOf('from-bare', bare.id, 'instance_owner')).map((line) => line.split(' ')[1])).toEqual([
      'source/',
      'source/public/',
      'source/public/index.html',
    ])
    rmSync(join(context.platform.data_dir, 'sources', bare.id), { recursive: true })
    expectError(await context.request('instance_owner', 'GET', pathOf('from-bare', bare.id)), 404, 'source_not_found')
  })

  test('404 for a deployment that never had a source, and for other accounts', async () => {
    await context.platform.createProject({ slug: 'sourceless', repo_url: 'file:///nowhere/at/all' })
    const { id } = await context.platform.deploy('sourceless')
    await context.platform.waitForEnd('sourceless', id)
    const response = await context.request('owner', 'GET', pathOf('sourceless', id))
    expectError(response, 404, 'source_not_found')
    expect(response.body.message).toContain('was not fetched')
    expectError(await context.request('stranger', 'GET', pathOf('sourceless', id)), 404, 'project_not_found')
    expectError(await context.request('member', 'GET', pathOf('sourceless', 'dpl_unknown')), 404, 'deployment_not_found')
  })

  fullTest('a client that disconnects midway or does not read leaves nothing behind', async () => {
    await context.platform.createProject({ slug: 'large' })
    const { id, status } = await send('large', large)
    expect(status).toBe('ready')
    const gone = new AbortController()
    const response = await get('large', id, { signal: gone.signal })
    const reader = response.body!.getReader()
    await reader.read()
    expect(outgoing()).toHaveLength(1)
    gone.abort()
    await until(() => outgoing().length === 0 || undefined, { what: 'the place to be empty again' })
    const early = new AbortController()
    const pending = get('large', id, { signal: early.signal }).catch(() => undefined)
    await until(() => outgoing().length > 0 || undefined, { what: 'it to be under way' })
    early.abort()
    await pending
  })
})
