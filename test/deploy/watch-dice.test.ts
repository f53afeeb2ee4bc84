import { afterAll, beforeAll, describe, test } from 'vitest'
import { instanceIdOf, viewEngine } from '../support/docker.ts'
import { startTestPlatform, type TestPlatform } from '../support/platform.ts'
import { tinyServer } from '../support/repository.ts'
import { requires } from '../support/requirements.ts'
import { foldersOf, rollBranches } from './branch-stories.ts'

/* Chance pushes, rewrites, renames and deletes branches; the previews follow and leave nothing behind. HOMEPORT_SEED throws the same again. */

const seed = Number(process.env.HOMEPORT_SEED ?? 20_261_121)
let home: TestPlatform | undefined
afterAll(() => home?.remove())

describe('on the process runtime', () => {
  beforeAll(async () => {
    home = await startTestPlatform({ runtime: 'process' })
  })
  afterAll(async () => {
    await home?.remove()
    home = undefined
  })

  test('100 steps', { timeout: 900_000 }, async () => {
    const platform = home
    if (!platform) throw new Error('There is no platform.')
    await rollBranches({
      home: platform,
      seed,
      steps: 100,
      files: (text) => ({ 'index.html': `<h1>${text}</h1>` }),
      leftovers: async (open) => foldersOf(platform.data_dir, open),
    })
  })

  test('15 steps of apps with a process each', { timeout: 600_000 }, async () => {
    const platform = home
    if (!platform) throw new Error('There is no platform.')
    await rollBranches({
      home: platform,
      seed: seed + 1,
      steps: 15,
      files: (text) => tinyServer(text),
      leftovers: async (open) => foldersOf(platform.data_dir, open),
    })
  })
})

const docker = requires('docker')
describe.skipIf(!docker.ok)(docker.ok ? 'on Docker' : `on Docker: ${docker.reason}`, () => {
  beforeAll(async () => {
    home = await startTestPlatform({ runtime: 'docker' })
  })

  test('12 steps', { timeout: 900_000 }, async () => {
    const platform = home
    if (!platform) throw new Error('There is no platform.')
    const { body } = await platform.api<{ user: { id: string; account_id: string } }>('GET', '/instance/session')
    const engine = viewEngine(instanceIdOf(body.user.id))
    await rollBranches({
      home: platform,
      seed: seed + 2,
      steps: 12,
      files: (text) => tinyServer(text),
      async leftovers(open) {
        const [containers, images] = await Promise.all([engine.containers(), engine.images()])
        const foreign = [...containers, ...images].filter((one) => one.deployment_id !== '' && !open.has(one.deployment_id))
        return [...foldersOf(platform.data_dir, open), ...foreign.map((one) => `${one.role} ${one.deployment_id}`)]
      },
    })
  })
})
