import Docker from 'dockerode'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Database } from '../../server/contract/databases.ts'
import { instanceIdOf, viewEngine, type EngineView } from '../support/docker.ts'
import type { RunningInstance } from '../support/instance-process.ts'
import { startTestPlatform, type TestPlatform } from '../support/platform.ts'
import { makeRepository, type Repository } from '../support/repository.ts'
import { dockerSocket, requires } from '../support/requirements.ts'
import { until } from '../support/until.ts'
import { asked, packedGuestBook } from './guests.ts'
import { restartStories } from './restart-stories.ts'
import { databaseStories } from './stories.ts'

describe.skipIf(!requires('docker').ok)('with a Docker engine', () => {
  databaseStories('docker')

  const docker = new Docker({ socketPath: dockerSocket })
  const serverOf = async ({ ask }: Pick<RunningInstance, 'ask'>) => {
    const { user } = (await (await ask('/instance/session')).json()) as { user: { id: string } }
    return serverIn(user.id)
  }
  const serverIn = async (ownerId: string) => {
    const label = [`homeport.instance=${instanceIdOf(ownerId)}`, 'homeport.role=database']
    return (await docker.listContainers({ all: true, filters: { label } }))[0]
  }

  let last: Docker.ContainerInfo | undefined
  restartStories('docker', {
    async kill(home) {
      last = (await serverOf(home).catch(() => undefined)) ?? last
      const container = docker.getContainer(last!.Id)
      // Between two lives its number is 0, which to a signal means: everybody of my own group.
      const pid = await until(async () => (await container.inspect()).State.Pid || undefined, { what: 'a server to kill' })
      // As a crash does it: docker kill would count as a wish, after which the engine does not start it again.
      process.kill(pid, 'SIGKILL')
      await until(async () => ((await container.inspect()).State.Pid === pid ? undefined : true), { what: 'the end of postgres' })
    },
    async runs(home) {
      last = (await serverOf(home).catch(() => undefined)) ?? last
      return (await docker.getContainer(last!.Id).inspect()).State.Running
    },
  })

  describe('the server’s container', () => {
    let home: TestPlatform
    let view: EngineView
    let ownerId: string
    let repository: Repository
    let database: Database

    const make = async (slug: string) => (await home.api<{ database: Database }>('POST', `/v1/projects/${slug}/database`)).body.database
    beforeAll(async () => {
      home = await startTestPlatform({ runtime: 'docker' })
      ownerId = (await home.api<{ user: { id: string } }>('GET', '/instance/session')).body.user.id
      view = viewEngine(instanceIdOf(ownerId))
      repository = makeRepository(packedGuestBook())
      await home.createProject({ slug: 'book', repo_url: repository.url })
      database = await make('book')
    })
    afterAll(async () => {
      await home.remove()
      repository.remove()
    })

    test('is shut in, listens on loopback alone, and nothing that describes it has a password', async () => {
      const found = await docker.getContainer((await serverIn(ownerId))!.Id).inspect()
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
      expect(found.Config.User).toBe('postgres')
      expect(found.Config.Image).toBe('postgres:15-bookworm')
      expect(JSON.stringify(found)).not.toContain(database.password)
      const logs = (await docker.getContainer(found.Id).logs({ stdout: true, stderr: true })).toString()
      expect(logs).not.toContain(database.password)
      expect(logs).not.toContain('SCRAM-SHA-256$')
    })

    test('an app of a project without a database does not reach it, nor does one of another project reach this network', async () => {
      const ended = async (slug: string) => {
        const deployment = await home.ended(slug, (await home.deploy(slug)).id)
        expect(deployment.error).toBeNull()
      }
      await home.createProject({ slug: 'none', repo_url: repository.url })
      await home.createProject({ slug: 'other', repo_url: repository.url })
      await make('other')
      await Promise.all(['book', 'none', 'other'].map(ended))
      const { NetworkSettings } = await docker.getContainer((await serverIn(ownerId))!.Id).inspect()
      const networks = Object.entries(NetworkSettings.Networks)
      expect(networks).toHaveLength(3)
      const reach = async (slug: string, host: string) => (await home.edge(`${slug}.localhost`, `/reach?host=${host}&port=5432`)).body
      expect(await reach('book', 'database.homeport.internal')).toBe('open')
      expect(await reach('none', 'database.homeport.internal')).toMatch(/ENOTFOUND|EAI_AGAIN/)
      const open: Record<string, string[]> = { book: [], none: [], other: [] }
      // All at once: what is shut says nothing, and is waited for.
      await Promise.all(
        Object.keys(open).flatMap((slug) =>
          networks.map(async ([name, { IPAddress }]) => {
            if ((await reach(slug, IPAddress)) === 'open') open[slug]!.push(name.replace(/.*-databases-?/, ''))
          }),
        ),
      )
      const idOf = async (slug: string) => (await home.project(slug)).id
      expect(open).toEqual({ book: [await idOf('book')], none: [], other: [await idOf('other')] })
    })

    test('removed by somebody, it is made again over its volume, at the same port', async () => {
      await asked(database.connection_string, 'CREATE TABLE kept (a int)')
      await docker.getContainer((await serverIn(ownerId))!.Id).remove({ force: true })
      const { body } = await home.api<{ database: Database }>('GET', '/v1/projects/book/database')
      expect(body.database).toEqual({ ...database, size_bytes: expect.any(Number) })
      expect(await asked(database.connection_string, "SELECT to_regclass('kept')::text")).toEqual([['kept']])
      // The network of the project leads to the new one.
      expect((await home.edge('book.localhost', '/sign?name=cleo')).body).toBe('cleo')
    })

    test('a project that goes takes its network along, and nothing else', async () => {
      const gone = (await home.project('other')).id
      expect((await home.api('DELETE', '/v1/projects/other')).status).toBe(204)
      const networks = async () => (await view.docker.listNetworks({ filters: { label: [`homeport.project=${gone}`] } })).length
      await expect.poll(networks, { timeout: 60_000 }).toBe(0)
      expect((await home.api('GET', '/v1/projects/book/database')).status).toBe(200)
    })
  })
})
