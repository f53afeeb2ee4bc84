import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { Fork } from '../../server/contract/forks.ts'
import { commitToBranch, waitForFirstCheck, waitForPreview } from '../support/git-branches.ts'
import { startTestPlatform, until } from '../support/platform.ts'
import { makeRepository } from '../support/repository.ts'
import { requires } from '../support/requirements.ts'
import { createSeededRandom } from '../support/seeded-random.ts'
import { notebook } from './fork-suite.ts'

const rounds = 8

/** Kills the platform at random moments of a copy: the branch has its old data or the complete new copy, and nothing else remains. */
function killSuite(runtime: 'process' | 'docker'): void {
  test(`${rounds} kills during a copy leave the old data or the complete new copy`, { timeout: 900_000 }, async () => {
    const seed = Number(process.env.HOMEPORT_TEST_SEED ?? Date.now() % 1e9)
    console.log(`seed ${seed}`)
    const random = createSeededRandom(seed)
    const data_dir = mkdtempSync(join(tmpdir(), 'homeport-fork-kills-'))
    const repository = makeRepository(notebook)
    let platform = await startTestPlatform({ runtime, data_dir })
    const read = async (host: string, path = '/kinds') =>
      until(
        async () => {
          const { status, body } = await platform.fetchEdge(`${host}.localhost`, path)
          return status === 200 ? (JSON.parse(body) as { count: number; kinds: string[] }) : undefined
        },
        { what: `${host} to answer` },
      )
    try {
      await platform.createProject({ slug: 'notebook', repo_url: repository.url, pushes: true })
      await waitForFirstCheck(platform, 'notebook')
      expect(await platform.waitForEnd('notebook', (await platform.deploy('notebook')).id)).toMatchObject({ status: 'ready', error: null })
      await waitForPreview(platform, 'notebook', 'trial', commitToBranch(repository.folder, 'trial', { 'note.txt': 'one' }))
      await read('notebook', '/fill?text=a')
      expect((await platform.api('POST', '/instance/projects/notebook/forks', { branch: 'trial' })).status).toBe(200)
      expect(await read('trial--notebook')).toMatchObject({ count: 3000, kinds: ['a'] })

      const seen: string[] = []
      for (let round = 0; round < rounds; round++) {
        const [before, after] = [seen.at(-1) ?? 'a', String.fromCharCode('b'.charCodeAt(0) + round)]
        await read('notebook', `/fill?text=${after}`)
        const copying = platform.api('POST', '/instance/projects/notebook/forks', { branch: 'trial' }).catch(() => undefined)
        await wait(random.between(20, 6_000))
        await platform.kill()
        await copying
        platform = await startTestPlatform({ runtime, data_dir })
        const { count, kinds } = await read('trial--notebook')
        expect([count, kinds.length], `round ${round}`).toEqual([3000, 1])
        expect([before, after]).toContain(kinds[0])
        seen.push(kinds[0] ?? '')
        const { forks } = (await platform.api<{ forks: Fork[] }>('GET', '/instance/projects/notebook/forks')).body
        expect(forks.map(({ branch, is_copying }) => [branch, is_copying])).toEqual([['trial', false]])
        expect(await read('notebook')).toMatchObject({ count: 3000, kinds: [after] })
      }
      console.log(`after the kills: ${seen.join(' ')}`)
      const listHidden = () => readdirSync(join(data_dir, 'volumes')).filter((name) => name.startsWith('.'))
      if (runtime === 'process') await until(() => expect(listHidden()).toEqual([]) ?? true, { what: 'the started platform to remove what is left' })
    } finally {
      await platform.remove()
      repository.remove()
      rmSync(data_dir, { recursive: true, force: true })
    }
  })
}

describe('on process', () => killSuite('process'))
describe.skipIf(!requires('docker').ok)('on Docker', () => killSuite('docker'))
