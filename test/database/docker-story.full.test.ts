/** One test of the server in Docker; the whole suite runs there in the full tier. */
import type { ContainerInspectInfo } from 'dockerode'
import { describe, expect, test } from 'vitest'
import type { Database, DatabaseDump } from '../../server/contract/databases.ts'
import { makeRepository } from '../support/repository.ts'
import { requires } from '../support/requirements.ts'
import { until } from '../support/until.ts'
import { findDatabaseContainer, dockerViewOf } from './docker-server.ts'
import { queryDatabase, guestBookFiles, usePlatform } from './guest-book-app.ts'

describe.skipIf(!requires('docker').ok)('with a Docker engine', () => {
  const getPlatform = usePlatform('docker')

  test('a database in Docker is isolated, used by an app in a container, dumped and restored, and removed with its project', async () => {
    const platform = getPlatform()
    const { docker, instance_id } = await dockerViewOf(platform)
    const repository = makeRepository(guestBookFiles())
    await platform.createProject({ slug: 'book', repo_url: repository.url })
    await platform.createProject({ slug: 'stays' })
    const { database } = (await platform.api<{ database: Database }>('POST', '/v1/projects/book/database')).body
    const witness = (await platform.api<{ database: Database }>('POST', '/v1/projects/stays/database')).body.database
    const container = docker.getContainer((await findDatabaseContainer(docker, instance_id))!.Id)
    expectIsolated(await container.inspect(), database)
    const logs = (await container.logs({ stdout: true, stderr: true })).toString()
    for (const secret of [database.password, 'SCRAM-SHA-256$']) expect(logs).not.toContain(secret)

    expect((await platform.waitForEnd('book', (await platform.deploy('book')).id)).error).toBeNull()
    expect((await platform.fetchEdge('book.localhost', '/sign?name=ada')).body).toBe('ada')
    const { dump } = (await platform.api<{ dump: DatabaseDump }>('POST', '/instance/projects/book/database/dumps')).body
    await queryDatabase(database.connection_string, 'DROP TABLE guests')
    expect((await platform.api('POST', `/instance/projects/book/database/dumps/${dump.id}/restore`)).status).toBe(200)
    expect((await platform.fetchEdge('book.localhost', '/sign?name=bea')).body).toBe('ada,bea')

    const networks = { label: [`homeport.project=${(await platform.getProject('book')).id}`] }
    expect((await docker.listNetworks({ filters: networks })).length).toBeGreaterThan(0)
    expect((await platform.api('DELETE', '/v1/projects/book')).status).toBe(204)
    await until(async () => ((await docker.listNetworks({ filters: networks })).length === 0 ? true : undefined), { what: 'its network to go' })
    const roles = () => queryDatabase(witness.connection_string, `SELECT 1 FROM pg_roles WHERE rolname = '${database.db_user}'`)
    await until(async () => ((await roles()).length === 0 ? true : undefined), { what: 'its role to go' })
    repository.remove()

    // The server is removed with the last database, whose dump keeps the content for the next one.
    const server = await container.inspect()
    const volume = docker.getVolume(server.Mounts[0]!.Name!)
    await queryDatabase(witness.connection_string, 'CREATE TABLE kept AS SELECT 1 AS a')
    expect((await platform.api('DELETE', '/v1/projects/stays/database')).status).toBe(204)
    const isGone = (inspected: Promise<unknown>) =>
      inspected.then(
        () => undefined,
        () => true,
      )
    await until(() => isGone(volume.inspect()), { what: 'the volume to go' })
    expect(await findDatabaseContainer(docker, instance_id)).toBeUndefined()
    expect(await docker.listNetworks({ filters: { label: [`homeport.instance=${instance_id}`, 'homeport.role=database'] } })).toEqual([])
    const { dumps } = (await platform.api<{ dumps: DatabaseDump[] }>('GET', '/instance/projects/stays/database/dumps')).body
    const anew = (await platform.api<{ database: Database }>('POST', '/v1/projects/stays/database')).body.database
    expect((await platform.api('POST', `/instance/projects/stays/database/dumps/${dumps[0]!.id}/restore`)).status).toBe(200)
    expect(await queryDatabase(anew.connection_string, 'TABLE kept')).toEqual([[1]])
  })
})

function expectIsolated(found: ContainerInspectInfo, database: Database): void {
  expect(found.HostConfig).toMatchObject({
    Memory: 1024 ** 3,
    MemorySwap: 1024 ** 3,
    PidsLimit: 512,
    CapDrop: ['ALL'],
    SecurityOpt: ['no-new-privileges'],
    Privileged: false,
    ReadonlyRootfs: true,
    Binds: null,
    PortBindings: { '5432/tcp': [{ HostIp: '127.0.0.1', HostPort: String(database.port) }] },
    RestartPolicy: { Name: 'unless-stopped' },
  })
  expect([found.Config.User, found.Config.Image]).toEqual(['postgres', 'postgres:18-bookworm'])
  expect(JSON.stringify(found)).not.toContain(database.password)
}
