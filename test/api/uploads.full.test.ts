import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type SharedPlatform, sharedPlatform } from '../support/shared-platform.ts'

let platform: SharedPlatform
beforeAll(async () => {
  platform = await sharedPlatform()
})
afterAll(() => platform.remove())

test('413 over 250 MiB of received bytes, when no length was declared', async () => {
  await platform.createProject({ slug: 'endless' })
  async function* endless() {
    yield new Uint8Array([0x1f, 0x8b])
    for (let n = 0; n <= 250; n++) yield new Uint8Array(2 ** 20)
  }
  const headers = { authorization: `Bearer ${platform.owner.token}`, 'content-type': 'application/gzip' }
  const init = { method: 'POST', body: endless(), duplex: 'half', headers }
  const response = await fetch(`${platform.handle.api_url}/v1/projects/endless/upload`, init as unknown as RequestInit)
  expect([response.status, ((await response.json()) as { error: string }).error]).toEqual([413, 'payload_too_large'])
  expect(readdirSync(join(platform.data_dir, 'quarantine'))).toEqual([])
})
