import { afterAll, describe, expect, test } from 'vitest'
import { createEngineGate } from '../support/engine-gate.ts'
import { tinyServer } from '../support/repository.ts'
import { requires } from '../support/requirements.ts'
import { coreStories, useScene } from './stories.ts'

describe.skipIf(!requires('docker').ok)('deployments on Docker', () => {
  const gate = createEngineGate()
  const scene = useScene('docker', [gate.address])
  afterAll(() => gate.remove())

  test('without an engine deployments wait, and run in their order once it is there', async () => {
    const slugs = ['one', 'two']
    await scene.home.api('PATCH', '/instance/settings', { build_concurrency: 1 })
    const ids: string[] = []
    for (const slug of slugs) {
      await scene.projectWith(slug, tinyServer(slug))
      ids.push((await scene.home.deploy(slug)).id)
    }
    for (const [index, slug] of slugs.entries())
      expect(await scene.home.deployment(slug, ids[index] ?? '')).toMatchObject({ status: 'queued', queue_position: index + 1, error: null })
    await gate.open()
    await scene.home.advance(2_000)
    const ended = await Promise.all(slugs.map((slug, index) => scene.home.ended(slug, ids[index] ?? '')))
    expect(ended.map(({ status }) => status)).toEqual(['ready', 'ready'])
    expect((ended[0]?.started_at ?? '') < (ended[1]?.started_at ?? '')).toBe(true)
    for (const slug of slugs) expect((await scene.home.edge(`${slug}.localhost`)).body).toBe(slug)
  })

  coreStories(scene)
})
