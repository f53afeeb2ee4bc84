/** A backup of an instance on Docker: its images stay in the engine, so a restored one builds again what is current. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Docker from 'dockerode'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Database } from '../../server/contract/databases.ts'
import type { Deployment } from '../../server/contract/deployments.ts'
import type { Backup } from '../../server/contract/upkeep.ts'
import { guestBook } from '../database/guests.ts'
import { startTestPlatform, type TestPlatform, until } from '../support/platform.ts'
import { makeRepository, type Repository } from '../support/repository.ts'
import { dockerSocket, requires } from '../support/requirements.ts'
import { restore } from './forge.ts'

describe.skipIf(!requires('docker').ok)('on Docker', () => {
  const folder = mkdtempSync(join(tmpdir(), 'homeport-backup-docker-'))
  const into = join(folder, 'new')
  let home: TestPlatform
  let again: TestPlatform | undefined
  let book: Repository

  beforeAll(async () => {
    home = await startTestPlatform({ runtime: 'docker' })
    book = makeRepository(guestBook)
    await home.createProject({ slug: 'book', repo_url: book.url })
    const { body } = await home.api<{ database: Database; deployment_id: string | null }>('POST', '/v1/projects/book/database')
    expect(body).toMatchObject({ database: expect.anything() })
    expect((await home.ended('book', (await home.deploy('book')).id)).error).toBeNull()
    expect((await home.edge('book.localhost', '/sign?name=Ada')).body).toBe('Ada')
    // One that was stopped by its owner stays so.
    await home.createProject({ slug: 'quiet', repo_url: book.url })
    await home.ended('quiet', (await home.deploy('quiet')).id)
    await home.api('POST', '/v1/projects/quiet/stop')
  })
  afterAll(async () => {
    await again?.remove()
    await home?.remove()
    book?.remove()
    rmSync(folder, { recursive: true, force: true })
  })

  test('the backup says that images are not in it; restored beside the old one it builds them, and touches nothing of the old one', async () => {
    const docker = new Docker({ socketPath: dockerSocket })
    const { body } = await home.api<{ backup: Backup; left_out: string[] }>('POST', '/instance/backups')
    expect(body.left_out).toEqual([expect.stringMatching(/^The Docker images of 2 deployments: what is current is built again/)])
    const keyFile = join(folder, 'key')
    writeFileSync(keyFile, readFileSync(join(home.data_dir, 'master.key')))
    await restore(body.backup.path, into, { key_file: keyFile })
    const ours = async () => (await docker.listContainers({ all: true })).filter((one) => one.Labels['homeport.instance'] !== undefined)
    // Of the old one alone: other tests have containers on this engine, which come and go.
    const project = (await home.project('book')).id
    const old = (await ours()).find((one) => one.Labels['homeport.project'] === project)?.Labels['homeport.instance']
    const before = (await ours()).filter((one) => one.State === 'running' && one.Labels['homeport.instance'] === old).map((one) => one.Id)
    expect(before.length).toBeGreaterThan(0)

    again = await startTestPlatform({ runtime: 'docker', data_dir: into })
    expect(again.platform.notices.join(' ')).toContain('1 app is being built again')
    const { deployments } = (await again.api<{ deployments: Deployment[] }>('GET', '/v1/projects/book/deployments')).body
    expect(deployments.map((one) => one.trigger)).toEqual(['retry', 'manual'])
    const rebuilt = await again.ended('book', deployments[0]!.id)
    expect([rebuilt.error, rebuilt.commit_sha]).toEqual([null, deployments[1]!.commit_sha])
    expect((await again.edge('book.localhost', '/sign?name=Grace')).body).toBe('Ada,Grace')
    expect((await again.project('quiet')).status).toBe('inactive')

    // The old one: its rows, its app and its containers are as they were.
    expect((await home.edge('book.localhost', '/guests')).body).toBe('Ada')
    const now = await ours()
    expect(now.filter((one) => one.State === 'running').map((one) => one.Id)).toEqual(expect.arrayContaining(before))
    expect(new Set(now.map((one) => one.Labels['homeport.instance'])).size).toBeGreaterThanOrEqual(2)

    // Stopped and started, it has nothing left to catch up on.
    await again.platform.stop()
    again = await startTestPlatform({ runtime: 'docker', data_dir: into })
    expect(again.platform.notices.join(' ')).not.toContain('restored')
    const page = await until(
      async () => {
        const answer = await again?.edge('book.localhost', '/guests')
        return answer?.status === 200 ? answer.body : undefined
      },
      { what: 'the app to be adopted' },
    )
    expect(page).toBe('Ada,Grace')
  })
})
