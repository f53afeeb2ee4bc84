/** A backup of an instance on Docker: its images stay in the engine, so a restored instance rebuilds the current ones. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Deployment } from '../../server/contract/deployments.ts'
import type { Backup } from '../../server/contract/maintenance.ts'
import { dockerViewOf } from '../database/docker-server.ts'
import { guestBookFiles } from '../database/guest-book-app.ts'
import { startTestPlatform, until } from '../support/platform.ts'
import { makeRepository } from '../support/repository.ts'
import { requires } from '../support/requirements.ts'
import { restore } from './forged-backups.ts'

test.skipIf(!requires('docker').ok)(
  'a backup has no images: restored next to the old instance they are built, and nothing of the old one changes',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'homeport-backup-docker-'))
    const [into, keyFile] = [join(folder, 'new'), join(folder, 'key')]
    const book = makeRepository(guestBookFiles())
    const platform = await startTestPlatform({ runtime: 'docker' })
    const old = await dockerViewOf(platform)
    for (const slug of ['book', 'quiet']) await platform.createProject({ slug, repo_url: book.url })
    expect((await platform.api('POST', '/v1/projects/book/database')).status).toBe(201)
    for (const slug of ['book', 'quiet']) expect((await platform.waitForEnd(slug, (await platform.deploy(slug)).id)).error).toBeNull()
    expect((await platform.fetchEdge('book.localhost', '/sign?name=Ada')).body).toBe('Ada')
    // A project that its owner stopped stays stopped.
    await platform.api('POST', '/v1/projects/quiet/stop')

    const { body } = await platform.api<{ backup: Backup; left_out: string[] }>('POST', '/instance/backups')
    expect(body.left_out).toEqual([expect.stringMatching(/^The Docker images of 2 deployments\. After a restore/)])
    writeFileSync(keyFile, readFileSync(join(platform.data_dir, 'master.key')))
    await restore(body.backup.path, into, { key_file: keyFile })
    const before = (await old.containers()).filter(({ running }) => running)
    expect(before.length).toBeGreaterThan(0)

    let again = await startTestPlatform({ runtime: 'docker', data_dir: into })
    expect(again.handle.notices.join(' ')).toContain('1 app is being built again')
    const { deployments } = (await again.api<{ deployments: Deployment[] }>('GET', '/v1/projects/book/deployments')).body
    expect(deployments.map((one) => one.trigger)).toEqual(['retry', 'manual'])
    const rebuilt = await again.waitForEnd('book', deployments[0]!.id)
    expect([rebuilt.error, rebuilt.commit_sha]).toEqual([null, deployments[1]!.commit_sha])
    expect((await again.fetchEdge('book.localhost', '/sign?name=Grace')).body).toBe('Ada,Grace')
    expect((await again.getProject('quiet')).status).toBe('inactive')
    expect((await platform.fetchEdge('book.localhost', '/guests')).body).toBe('Ada')
    expect(await old.containers()).toEqual(expect.arrayContaining(before))

    // After a restart, there is nothing left to rebuild.
    await again.handle.stop()
    again = await startTestPlatform({ runtime: 'docker', data_dir: into })
    expect(again.handle.notices.join(' ')).not.toContain('restored')
    await until(async () => ((await again.fetchEdge('book.localhost', '/guests')).body === 'Ada,Grace' ? true : undefined), {
      what: 'the app to be adopted',
    })
    await again.remove()
    await platform.remove()
    book.remove()
    rmSync(folder, { recursive: true, force: true })
  },
)
