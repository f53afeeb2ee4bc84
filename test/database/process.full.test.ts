import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { currentPostgresVersion } from '../../server/contract/postgres-versions.ts'
import { startTestPlatform, type TestPlatform } from '../support/platform.ts'
import { makeRepository } from '../support/repository.ts'
import { requires } from '../support/requirements.ts'
import { dockerViewOf } from './docker-server.ts'
import { dumpSuite, createPartialDump } from './dump-suite.ts'
import { waitForExit, isAlive } from './embedded.ts'
import { guestBookFiles, usePlatform } from './guest-book-app.ts'
import { restartSuite } from './restart-suite.ts'
import { databaseSuite } from './database-suite.ts'

describe('on process', () => {
  const getPlatform = usePlatform('process', createPartialDump)
  databaseSuite(getPlatform)
  dumpSuite(getPlatform, { rows: 30_000 })
})

const pidOf = ({ data_dir }: TestPlatform): number =>
  Number(readFileSync(join(data_dir, `postgres-${currentPostgresVersion}/cluster/postmaster.pid`), 'utf8').split('\n')[0])
restartSuite('process', {
  async kill(platform) {
    const pid = pidOf(platform)
    process.kill(pid, 'SIGKILL')
    await waitForExit(pid)
  },
  async runs(platform) {
    try {
      return isAlive(pidOf(platform))
    } catch {
      return false
    }
  },
})

test.skipIf(!requires('docker').ok)(
  'a database stays on its server: a container does not reach the embedded one, a process reaches one in Docker',
  async () => {
    const data_dir = mkdtempSync(join(tmpdir(), 'homeport-two-runtimes-'))
    const repository = makeRepository(guestBookFiles())
    let platform: TestPlatform | undefined
    const restarted = async (runtime: 'docker' | 'process') => {
      await platform?.handle.stop()
      return (platform = await startTestPlatform({ runtime, data_dir }))
    }
    const make = async ({ createProject, api }: TestPlatform, slug: string) => {
      await createProject({ slug, repo_url: repository.url })
      expect((await api('POST', `/v1/projects/${slug}/database`)).status).toBe(201)
    }
    const buildLog = async ({ deploy, waitForEnd: ended }: TestPlatform, slug: string) => {
      const { error, build_log } = await ended(slug, (await deploy(slug)).id)
      expect(error).toBeNull()
      return build_log
    }
    await make(await restarted('process'), 'inside')
    const onDocker = await restarted('docker')
    expect(await buildLog(onDocker, 'inside')).toContain('on the process runtime and apps on docker cannot reach it')
    expect((await onDocker.fetchEdge('inside.localhost', '/url')).body).toBe('none')
    await make(onDocker, 'outside')
    const { removeAll } = await dockerViewOf(onDocker)
    const onProcess = await restarted('process')
    expect(await buildLog(onProcess, 'outside')).not.toContain('cannot reach it')
    expect((await onProcess.fetchEdge('outside.localhost', '/sign?name=ada')).body).toBe('ada')
    await onProcess.remove()
    await removeAll()
    repository.remove()
  },
)
