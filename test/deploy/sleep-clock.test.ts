import { expect, test } from 'vitest'
import { startPlatform } from '../../server/index.ts'
import type { Clock } from '../../server/lib/clock.ts'
import { readOptions } from '../../server/options.ts'
import { newFolder } from '../support/instance-process.ts'
import { createClient } from '../support/platform.ts'
import { makeRepository } from '../support/repository.ts'
import { sleeper } from '../support/sleeper.ts'
import { until } from '../support/until.ts'

const hours = 3_600_000

test('a night in which the machine slept is nobody’s idleness', async () => {
  // Twice as fast as the wall, so that sleep_after_s need not be waited out; a look that comes a moment late is no night yet.
  let jumped = 0
  const clock: Clock = { now: () => Date.now(), monotonic: () => performance.now() * 2 + jumped }
  const folder = newFolder('clock')
  const repository = makeRepository(sleeper())
  const platform = await startPlatform(readOptions({ data: folder.path, port: '0', 'edge-port': '0', runtime: 'process' }), { clock })
  try {
    const client = createClient(platform.instance)
    const goesCold = () =>
      until(async () => ((await client.project('sleeper')).is_cold ? true : undefined), { what: 'the app to go cold' })
    await client.api('PATCH', '/instance/settings', { rate_limit_authenticated: 1_000_000, sleep_after_s: 8 })
    await client.createProject({ slug: 'sleeper', repo_url: repository.url })
    const { id } = await client.deploy('sleeper')
    expect(await client.ended('sleeper', id)).toMatchObject({ status: 'ready' })
    expect((await client.edge('sleeper.localhost')).status).toBe(200)

    jumped += 8 * hours
    const resumed = clock.monotonic()
    await goesCold()
    expect(clock.monotonic() - resumed).toBeGreaterThanOrEqual(8_000)

    // The time that it was frozen is not counted over a night either: it is frozen still, and goes on.
    const before = JSON.parse((await client.edge('sleeper.localhost')).body) as { born: string }
    await goesCold()
    jumped += 8 * hours
    platform.resync()
    await until(async () => ((await client.api('GET', '/healthz')).status === 200 ? true : undefined), { what: 'a look at the clock' })
    expect(JSON.parse((await client.edge('sleeper.localhost')).body)).toMatchObject({ born: before.born })
  } finally {
    await createClient(platform.instance).api('DELETE', '/v1/projects/sleeper')
    await platform.stop()
    repository.remove()
    folder.remove()
  }
})
