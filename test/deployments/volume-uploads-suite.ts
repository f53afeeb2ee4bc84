import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import type { Volume } from '../../server/contract/volumes.ts'
import { fullTest } from '../support/full-test.ts'
import { createTarGz, createZip } from '../support/archives.ts'
import { createHelpers, guestbook } from './added-volumes-suite.ts'
import type { DeploymentContext } from './deployment-suite.ts'

/** Archives that replace the files of volumes. */
export function volumeUploadsSuite(context: DeploymentContext): void {
  const { read, add, homeport, listVolumes } = createHelpers(context)
  const folder = mkdtempSync(join(tmpdir(), 'homeport-volume-uploads-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  /** Posts an archive into a volume. */
  async function upload<Body = { files: number; size_bytes: number; before: { id: string } | null; error?: string }>(
    slug: string,
    name: string,
    bytes: Buffer,
    query = '',
  ): Promise<{ status: number; body: Body }> {
    const { api_url, instance } = context.platform.handle
    const response = await fetch(`${api_url}/instance/projects/${slug}/volumes/${name}/upload${query}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${instance.token}`, 'content-type': 'application/gzip' },
      body: new Uint8Array(bytes),
    })
    return { status: response.status, body: (await response.json()) as Body }
  }
  const archiveOf = (files: Record<string, string>) => createTarGz(Object.entries(files).map(([name, data]) => ({ name, data })))
  /** Leftovers of uploads next to the volumes. */
  const leftovers = () => {
    const path = join(context.platform.data_dir, 'volume-uploads')
    return existsSync(path) ? readdirSync(path) : []
  }

  test('an archive replaces the files of a volume, and a snapshot keeps the previous ones', async () => {
    await context.projectWith('gallery', guestbook('one'))
    await context.deployReady('gallery')
    await read('gallery', '/upload/old.png')
    await add('gallery', 'public/uploads')
    const { status, body } = await upload('gallery', 'uploads', archiveOf({ 'a.png': 'a', 'b.png': 'bb' }))
    expect([status, body]).toEqual([200, { files: 2, size_bytes: 3, before: expect.objectContaining({ reason: 'before_restore' }) }])
    expect((await read('gallery')).uploads).toEqual(['a.png', 'b.png'])

    const restored = await homeport('volumes', 'restore', 'gallery', 'uploads', body.before?.id ?? '')
    expect(restored.code).toBe(0)
    expect((await read('gallery')).uploads).toEqual(['old.png'])
    expect(leftovers()).toEqual([])
  })

  fullTest('a download is uploaded to a volume of another project with the command line', async () => {
    const file = join(folder, 'gallery.tar.gz')
    expect(await homeport('volumes', 'download', 'gallery', 'uploads', file)).toMatchObject({ code: 0 })
    await context.projectWith('copy', guestbook('one'))
    await context.deployReady('copy')
    await add('copy', 'public/uploads')
    const uploaded = await homeport('volumes', 'upload', 'copy', 'uploads', file)
    expect([uploaded.code, uploaded.out]).toEqual([
      0,
      expect.stringMatching(/^Uploaded 1 file \(7 bytes\) into uploads\.\nThe previous files are in snapshot snp_/),
    ])
    expect((await read('copy')).uploads).toEqual(['old.png'])

    writeFileSync(join(folder, 'photos.zip'), createZip([{ name: 'new.png', data: 'x', mode: 0o100644 }]))
    expect(await homeport('volumes', 'upload', 'copy', 'uploads', join(folder, 'photos.zip'), '--only-if-empty')).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^volume_not_empty: The volume “uploads” is not empty/),
    })
    expect((await homeport('volumes', 'upload', 'copy', 'uploads', join(folder, 'photos.zip'), '--json')).out).toContain('"files":1')
    expect((await read('copy')).uploads).toEqual(['new.png'])
    expect(await homeport('volumes', 'upload', 'copy', 'uploads', join(folder, 'none.zip'))).toMatchObject({ code: 2 })
    expect(await homeport('volumes', 'upload', 'copy', 'other', file)).toMatchObject({ code: 1, err: expect.stringMatching(/^volume_not_found/) })
  })

  test('a refused archive leaves the volume and the running app unchanged', async () => {
    const before = await read('gallery')
    const hostile = createTarGz([
      { name: 'a.png', data: 'a' },
      { name: '../../canary', data: 'x' },
    ])
    expect(await upload('gallery', 'uploads', hostile)).toMatchObject({ status: 400, body: { error: 'invalid_archive' } })
    expect(await upload('gallery', 'uploads', createTarGz([{ name: 'l', type: '2', link: '/etc' }]))).toMatchObject({ status: 400 })
    expect(await upload('gallery', 'uploads', Buffer.from('no archive'))).toMatchObject({ status: 400, body: { error: 'invalid_archive' } })
    expect(await upload('gallery', 'uploads', archiveOf({ a: 'a' }).subarray(0, 40))).toMatchObject({ status: 400 })
    for (const name of ['...', '-x', 'a%2F..%2Fb', 'a%00b', 'x'.repeat(300)])
      expect((await upload('gallery', name, archiveOf({ a: 'a' }), '?create=true')).status, name).toBeGreaterThanOrEqual(400)
    expect(await read('gallery')).toEqual(before)
    expect(leftovers()).toEqual([])
    expect(existsSync(join(context.platform.data_dir, 'canary'))).toBe(false)
  })

  fullTest('the first version with a volume starts with the files that were uploaded before it', async () => {
    await context.projectWith('early', guestbook('one'))
    expect(await upload('early', 'uploads', archiveOf({ 'a.png': 'a' }))).toMatchObject({ status: 404, body: { error: 'volume_not_found' } })
    await context.platform.api('POST', '/instance/projects/early/volumes', { path: 'public/uploads' })
    expect(await upload('early', 'uploads', archiveOf({ 'a.png': 'a' }), '?create=true&only_if_empty=true')).toMatchObject({
      status: 200,
      body: { files: 1, before: null },
    })
    expect(await upload('early', 'uploads', archiveOf({ 'b.png': 'b' }), '?create=true&only_if_empty=true')).toMatchObject({
      status: 409,
      body: { error: 'volume_not_empty' },
    })
    expect((await listVolumes('early')).map(({ name, used_by, size_bytes }: Volume) => [name, used_by, size_bytes])).toEqual([['uploads', [], 1]])
    await context.deployReady('early')
    expect((await read('early')).uploads).toEqual(['a.png'])
  })
}
