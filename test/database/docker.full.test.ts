import Docker from 'dockerode'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Database } from '../../server/contract/databases.ts'
import { currentPostgresVersion } from '../../server/contract/postgres-versions.ts'
import { ensureProjectNetwork, getDatabaseHost, removeProjectNetwork } from '../../server/database/docker-network.ts'
import { createDockerDatabaseServer } from '../../server/database/docker-server.ts'
import { createDockerEngine } from '../../server/runtime/docker/engine.ts'
import { makeRepository } from '../support/repository.ts'
import { dockerSocket, requires } from '../support/requirements.ts'
import { runtimeOptions } from '../support/runtime.ts'
import { until } from '../support/until.ts'
import { findDatabaseContainer, dockerViewOf } from './docker-server.ts'
import { dumpSuite, createPartialDump } from './dump-suite.ts'
import { queryDatabase, guestBookFiles, usePlatform } from './guest-book-app.ts'
import { restartSuite } from './restart-suite.ts'
import { databaseSuite } from './database-suite.ts'

describe.skipIf(!requires('docker').ok)('on Docker', () => {
  const getPlatform = usePlatform('docker', createPartialDump)
  databaseSuite(getPlatform)
  dumpSuite(getPlatform, { rows: 30_000 })

  describe('the server’s container', () => {
    let docker: Docker
    let database: Database
    const server = async () => docker.getContainer((await findDatabaseContainer(docker, (await dockerViewOf(getPlatform())).instance_id))!.Id)
    const make = async (slug: string) => (await getPlatform().api<{ database: Database }>('POST', `/v1/projects/${slug}/database`)).body.database

    beforeAll(async () => {
      ;({ docker } = await dockerViewOf(getPlatform()))
    })

    test('is reachable neither by an app of a project without a database nor by one of another project', async () => {
      const platform = getPlatform()
      const repository = makeRepository(guestBookFiles())
      for (const slug of ['book', 'none', 'another']) await platform.createProject({ slug, repo_url: repository.url })
      database = await make('book')
      await make('another')
      const ended = async (slug: string) => expect((await platform.waitForEnd(slug, (await platform.deploy(slug)).id)).error).toBeNull()
      await Promise.all(['book', 'none', 'another'].map(ended))
      const { NetworkSettings } = await (await server()).inspect()
      const reach = async (slug: string, host: string) => (await platform.fetchEdge(`${slug}.localhost`, `/reach?host=${host}&port=5432`)).body
      const host = getDatabaseHost(currentPostgresVersion)
      expect(await reach('book', host)).toBe('open')
      expect(await reach('none', host)).toMatch(/ENOTFOUND|EAI_AGAIN/)
      const open: Record<string, string[]> = { book: [], none: [], another: [] }
      // Concurrently, because a blocked connection is silent and times out.
      await Promise.all(
        Object.keys(open).flatMap((slug) =>
          Object.entries(NetworkSettings.Networks).map(async ([name, { IPAddress }]) => {
            if ((await reach(slug, IPAddress)) === 'open') open[slug]!.push(name.replace(/.*-databases-?/, ''))
          }),
        ),
      )
      const idOf = async (slug: string) => (await platform.getProject(slug)).id
      expect(open).toEqual({ book: [await idOf('book')], none: [], another: [await idOf('another')] })
      repository.remove()
    })

    test('removed externally, it is created again with its volume, on the same port', async () => {
      await queryDatabase(database.connection_string, 'CREATE TABLE kept (a int)')
      await (await server()).remove({ force: true })
      const { body } = await getPlatform().api<{ database: Database }>('GET', '/v1/projects/book/database')
      expect(body.database).toEqual({ ...database, size_bytes: expect.any(Number) })
      expect(await queryDatabase(database.connection_string, "SELECT to_regclass('kept')::text")).toEqual([['kept']])
      // The network of the project leads to the new one.
      expect((await getPlatform().fetchEdge('book.localhost', '/sign?name=cleo')).body).toBe('cleo')
    })
  })
})

describe.skipIf(!requires('docker').ok)('with a Docker engine', () => {
  const docker = new Docker({ socketPath: dockerSocket })
  const containers = new Map<string, string>()
  /** Looked up once, because a killed platform cannot be asked. */
  const containerOf = async (platform: Parameters<typeof dockerViewOf>[0] & { data_dir: string }) => {
    const known = containers.get(platform.data_dir) ?? (await findDatabaseContainer(docker, (await dockerViewOf(platform)).instance_id))!.Id
    containers.set(platform.data_dir, known)
    return docker.getContainer(known)
  }
  restartSuite('docker', {
    async kill(platform) {
      const container = await containerOf(platform)
      // Between two runs its pid is 0, which for a signal means the own process group.
      const pid = await until(async () => (await container.inspect()).State.Pid || undefined, { what: 'a server to kill' })
      // Like a crash: after docker kill the engine would not restart it.
      process.kill(pid, 'SIGKILL')
      await until(async () => ((await container.inspect()).State.Pid === pid ? undefined : true), { what: 'the end of postgres' })
    },
    runs: async (platform) => (await (await containerOf(platform)).inspect()).State.Running,
  })

  test('a server that the engine keeps restarting does not count as running', async () => {
    const options = await runtimeOptions()
    const engine = createDockerEngine(options)
    const server = createDockerDatabaseServer({ runtime: 'docker', version: 15, engine, data_dir: options.data_dir, log: options.log })
    const HostConfig = { RestartPolicy: { Name: 'always' }, PortBindings: { '5432/tcp': [{ HostPort: '5432' }] }, NetworkMode: 'none' }
    const container = await docker.createContainer({
      Image: 'postgres:15-bookworm',
      name: engine.createName('databases'),
      Entrypoint: ['false'],
      HostConfig,
    })
    try {
      await container.start()
      // The engine doubles its restart delay: after a few it is long enough to inspect one.
      await until(async () => ((await container.inspect()).RestartCount >= 4 ? true : undefined), { what: 'four restarts' })
      expect(await server.state()).toMatchObject({ running: false, message: expect.stringContaining('is restarting') })
    } finally {
      await server.close(false)
      await container.remove({ force: true })
      await options.remove()
    }
  })

  test('concurrent requests create one network', async () => {
    const options = await runtimeOptions()
    const engine = createDockerEngine(options)
    const name = engine.getDatabaseNetworkName('prj_busy')
    try {
      await Promise.all(Array.from({ length: 12 }, () => ensureProjectNetwork(engine, docker, 'prj_busy')))
      await ensureProjectNetwork(engine, docker, 'prj_busy')
      expect((await docker.listNetworks({ filters: { name: [name] } })).map((one) => one.Name)).toEqual([name])
    } finally {
      await removeProjectNetwork(engine, docker, 'prj_busy')
      await options.remove()
    }
    expect(await docker.listNetworks({ filters: { name: [name] } })).toEqual([])
  })
})
