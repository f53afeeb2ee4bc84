import { expect, test } from 'vitest'
import type { UnsavedFiles } from '../../server/contract/unsaved-files.ts'
import { fullTest } from '../support/full-test.ts'
import { until } from '../support/platform.ts'
import { createHelpers, guestbook } from './added-volumes-suite.ts'
import type { DeploymentContext } from './deployment-suite.ts'

/** Files that an app writes outside of volumes: reported once, saved before they are lost, kept or dismissed. */
export function unsavedFilesSuite(context: DeploymentContext): void {
  const { read, listVolumes, homeport, add } = createHelpers(context)
  const listUnsaved = async (slug: string) =>
    (await context.platform.api<{ unsaved_files: UnsavedFiles[] }>('GET', `/instance/projects/${slug}/unsaved-files`)).body.unsaved_files
  const paths = async (slug: string) => (await listUnsaved(slug)).map(({ path }) => path)
  /** Advances to the inspection of the live version. */
  const waitForReports = (slug: string, count: number) =>
    until(
      async () => {
        await context.platform.advanceInSteps(60_000)
        await read(slug)
        const reports = await listUnsaved(slug)
        return reports.length === count ? reports : undefined
      },
      { what: `${count} reports of ${slug}` },
    )
  const countLines = async (slug: string, text: string) =>
    (await homeport('logs', slug, '--lines', '500')).out.split('\n').filter((line) => line.includes(text)).length

  test('a database and uploads are reported once each, with how to keep them', async () => {
    await context.projectWith('guests', guestbook('one'))
    await context.deployReady('guests')
    await read('guests', '/sign/Ada')
    await read('guests', '/upload/a.png')
    expect(await waitForReports('guests', 2)).toMatchObject([
      { service: null, path: '/app/guests.db', kind: 'database', is_file: true, files: 1, volume: 'guests.db', saved: null },
      { service: null, path: '/app/public/uploads', kind: 'uploads', is_file: false, files: 1, size_bytes: 5, volume: 'uploads', saved: null },
    ])
    const listed = await homeport('volumes', 'guests')
    expect(listed.out).toContain('Not in a volume: /app/public/uploads (1 file, 5 bytes). The next deployment loses it.')
    expect(listed.out).toContain('Keep it: homeport volumes add guests /app/guests.db')
    await context.platform.advanceInSteps(20 * 60_000)
    expect(await countLines('guests', 'at /app/guests.db, which is outside of a volume')).toBe(1)
  })

  fullTest('reported paths are kept with their files, and the next version has them', async () => {
    const added = await homeport('volumes', 'add', 'guests', '/app/guests.db', '--with-unsaved', '--json')
    const { deployment_id } = JSON.parse(added.out) as { deployment_id: string }
    expect(await context.platform.waitForEnd('guests', deployment_id)).toMatchObject({ status: 'ready', error: null })
    expect(await paths('guests')).toEqual([])
    await context.deployReady('guests')
    expect(await read('guests')).toEqual({ version: 'one', guests: ['Ada'], uploads: ['a.png'] })
    await context.platform.advanceInSteps(5 * 60_000)
    expect(await paths('guests')).toEqual([])
  })

  fullTest('files are saved before a version ends, and a volume can start with them', async () => {
    const repository = await context.projectWith('late', guestbook('one'))
    await context.deployReady('late')
    await read('late', '/sign/Ada')
    repository.commit(guestbook('two'))
    await context.deployReady('late')
    expect((await read('late', '/sign/Bob')).guests).toEqual(['Bob'])
    const [report] = await until(
      async () => {
        const reports = await listUnsaved('late')
        return reports[0]?.saved ? reports : undefined
      },
      { what: 'the files of the first version' },
    )
    expect(report).toMatchObject({ path: '/app/guests.db', saved: { reason: 'before_replace' } })
    const refused = await homeport('volumes', 'add', 'late', '/app/guests.db', '--snapshot', 'snp_none')
    expect(refused.err).toMatch(/^snapshot_not_found/)
    const added = await homeport('volumes', 'add', 'late', '/app/guests.db', '--snapshot', report!.saved!.id, '--json')
    expect(added).toMatchObject({ code: 0, err: '' })
    const { deployment_id } = JSON.parse(added.out) as { deployment_id: string }
    expect(await context.platform.waitForEnd('late', deployment_id)).toMatchObject({ status: 'ready', error: null })
    expect((await read('late')).guests).toEqual(['Ada'])
    expect((await listVolumes('late')).map(({ name, snapshots }) => [name, snapshots.length])).toEqual([['guests.db', 1]])
  })

  fullTest('a dismissed finding does not return', async () => {
    await context.projectWith('dismissed', guestbook('one'))
    await context.deployReady('dismissed')
    await read('dismissed', '/sign/Ada')
    await waitForReports('dismissed', 1)
    expect(await homeport('volumes', 'dismiss', 'dismissed', '/app/guests.db')).toMatchObject({ code: 0, err: '' })
    expect(await paths('dismissed')).toEqual([])
    await context.deployReady('dismissed')
    await read('dismissed', '/upload/a.png')
    expect((await waitForReports('dismissed', 1))[0]?.path).toBe('/app/public/uploads')
    expect((await listVolumes('dismissed')).map(({ name }) => name)).toEqual([])
    expect((await homeport('volumes', 'dismiss', 'dismissed', '/app/guests.db')).code).toBe(2)
    expect((await context.platform.api('POST', '/instance/projects/dismissed/unsaved-files/uns_none/dismiss')).status).toBe(404)
  })

  fullTest('an app that writes caches, logs, symlinks and names with line breaks is reported only for its data', async () => {
    const hostile = `
fs.mkdirSync('cache/data', { recursive: true }); fs.writeFileSync('cache/data/a.db', 'x')
fs.mkdirSync('logs'); fs.writeFileSync('logs/uploads', 'x')
fs.mkdirSync('up\\nloads/data', { recursive: true }); fs.writeFileSync('up\\nloads/data/a.db', 'x')
fs.symlinkSync('/etc', 'media'); fs.symlinkSync('/etc/passwd', 'passwd.db')
fs.mkdirSync('many/data', { recursive: true }); for (let i = 0; i < 3000; i++) fs.writeFileSync('many/data/' + i, '')
`
    await context.projectWith('hostile', guestbook('one', hostile))
    await context.deployReady('hostile')
    const reports = await waitForReports('hostile', 2)
    expect(reports.map(({ path }) => path)).toEqual(['/app/guests.db', '/app/many/data'])
    // A symlinked path is not followed, so the volume starts empty.
    const { deployment } = await add('hostile', 'media')
    expect(deployment.status).toBe('failed')
    expect(deployment.build_log).toContain('The live version has no files at /app/media')
    expect(await read('hostile')).toMatchObject({ version: 'one' })
  })
}
