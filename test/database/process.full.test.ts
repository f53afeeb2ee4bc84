import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Database } from '../../server/contract/databases.ts'
import { startTestPlatform, type TestPlatform } from '../support/platform.ts'
import { makeRepository, type Repository } from '../support/repository.ts'
import { requires } from '../support/requirements.ts'
import { viewOf } from './docker-server.ts'
import { dumpStories, leaveHalfDump } from './dump-stories.ts'
import { gone, isAlive } from './embedded.ts'
import { packedGuestBook, usePlatform } from './guests.ts'
import { restartStories } from './restart-stories.ts'
import { databaseStories } from './stories.ts'

describe('on process', () => {
  const platform = usePlatform('process', leaveHalfDump)
  databaseStories(platform, { fetches: true })
  dumpStories(platform, { rows: 100_000 })
})

const pidOf = ({ data_dir }: TestPlatform): number => Number(readFileSync(join(data_dir, 'postgres/cluster/postmaster.pid'), 'utf8').split('\n')[0])
restartStories('process', {
  async kill(home) {
    const pid = pidOf(home)
    process.kill(pid, 'SIGKILL')
    await gone(pid)
  },
  async runs(home) {
    try {
      return isAlive(pidOf(home))
    } catch {
      return false
    }
  },
})

/** A database stays where it was made, whatever later deployments run on. */
describe.skipIf(!requires('docker').ok)('a database and an app on two runtimes', () => {
  const data_dir = mkdtempSync(join(tmpdir(), 'homeport-two-runtimes-'))
  let home: TestPlatform
  let repository: Repository

  const start = async (runtime: 'docker' | 'process') => void (home = await startTestPlatform({ runtime, data_dir }))
  const make = async (slug: string) => {
    await home.createProject({ slug, repo_url: repository.url })
    expect((await home.api<{ database: Database }>('POST', `/v1/projects/${slug}/database`)).status).toBe(201)
  }
  const deployed = async (slug: string) => {
    const deployment = await home.ended(slug, (await home.deploy(slug)).id)
    expect(deployment.error).toBeNull()
    return deployment.build_log
  }

  beforeAll(async () => {
    repository = makeRepository(packedGuestBook())
    await start('process')
  })
  afterAll(async () => {
    const { removeAll } = await viewOf(home)
    await home.remove()
    await removeAll()
    repository.remove()
  })

  test('a container does not reach the embedded server: it is told so, and gets no address that leads nowhere', async () => {
    await make('inside')
    await home.platform.stop()
    await start('docker')
    const log = await deployed('inside')
    expect(log).toContain('The database of this project lies in the server of the runtime process, which an app on docker does not reach')
    expect((await home.edge('inside.localhost', '/url')).body).toBe('none')
    expect((await home.api('GET', '/v1/projects/inside/database')).status).toBe(200)
  })

  test('a process reaches the server in Docker', async () => {
    await make('outside')
    await home.platform.stop()
    await start('process')
    expect(await deployed('outside')).not.toContain('does not reach')
    expect((await home.edge('outside.localhost', '/sign?name=ada')).body).toBe('ada')
  })
})
