import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Database } from '../../server/contract/databases.ts'
import { instanceIdOf, viewEngine } from '../support/docker.ts'
import { newFolder } from '../support/instance-process.ts'
import { startTestPlatform, type TestPlatform } from '../support/platform.ts'
import { makeRepository, type Repository } from '../support/repository.ts'
import { requires } from '../support/requirements.ts'
import { packedGuestBook } from './guests.ts'

/** A database stays where it was made, whatever later deployments run on. */
describe.skipIf(!requires('docker').ok)('a database and an app on two runtimes', () => {
  const folder = newFolder('other-runtime')
  let home: TestPlatform
  let repository: Repository
  let ownerId: string

  const start = async (runtime: 'docker' | 'process') => {
    home = await startTestPlatform({ runtime, data_dir: folder.path })
  }
  const make = async (slug: string) => {
    await home.createProject({ slug, repo_url: repository.url })
    expect((await home.api('POST', `/v1/projects/${slug}/database`)).status).toBe(201)
  }
  const deployed = async (slug: string) => {
    const deployment = await home.ended(slug, (await home.deploy(slug)).id)
    expect(deployment.error).toBeNull()
    return deployment.build_log
  }

  beforeAll(async () => {
    repository = makeRepository(packedGuestBook())
    await start('process')
    ownerId = (await home.api<{ user: { id: string } }>('GET', '/instance/session')).body.user.id
  })
  afterAll(async () => {
    await home.remove()
    await viewEngine(instanceIdOf(ownerId)).removeAll()
    repository.remove()
  })

  test('a container does not reach the embedded server: it is told so, and gets no address that leads nowhere', async () => {
    await make('inside')
    await home.platform.stop()
    await start('docker')
    const log = await deployed('inside')
    expect(log).toContain('The database of this project lies in the server of the runtime process, which an app on docker does not reach')
    expect((await home.edge('inside.localhost', '/url')).body).toBe('none')
    expect((await home.api<{ database: Database }>('GET', '/v1/projects/inside/database')).status).toBe(200)
  })

  test('a process reaches the server in Docker', async () => {
    await make('outside')
    await home.platform.stop()
    await start('process')
    const log = await deployed('outside')
    expect(log).not.toContain('does not reach')
    expect((await home.edge('outside.localhost', '/sign?name=ada')).body).toBe('ada')
  })
})
