/** An uploaded archive from 201 to an answer, again after a retry and a roll-back, on each runtime. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Deployment } from '../../server/contract/deployments.ts'
import { tgzOf } from '../support/archives.ts'
import { startTestPlatform, type TestPlatform } from '../support/platform.ts'
import { requires } from '../support/requirements.ts'

const app = (text: string) =>
  tgzOf([
    { name: 'app-main/', type: '5' },
    { name: 'app-main/package.json', data: '{"name":"x","private":true,"scripts":{"start":"node server.js"}}' },
    { name: 'app-main/server.js', data: "require('node:http').createServer((_, r) => r.end(require('./text.js'))).listen(process.env.PORT)" },
    { name: 'app-main/text.js', type: '2', link: 'lib/text.js' },
    { name: 'app-main/lib/text.js', data: `module.exports = ${JSON.stringify(text)}` },
  ])

describe.each(['process', 'docker'] as const)('%s', (runtime) => {
  describe.skipIf(runtime === 'docker' && !requires('docker').ok)('an upload', () => {
    let home: TestPlatform
    beforeAll(async () => {
      home = await startTestPlatform({ runtime })
      await home.createProject({ slug: 'uploaded' })
    })
    afterAll(() => home.remove())

    const upload = async (text: string): Promise<Deployment> => {
      const answer = await fetch(`${home.platform.api_url}/v1/projects/uploaded/upload`, {
        method: 'POST',
        body: new Uint8Array(app(text)),
        headers: { authorization: `Bearer ${home.platform.instance.token}`, 'content-type': 'application/gzip' },
      })
      expect(answer.status).toBe(201)
      return home.ended('uploaded', ((await answer.json()) as { deployment_id: string }).deployment_id)
    }
    const again = async (id: string, how: 'retry' | 'rollback'): Promise<Deployment> => {
      const { status, body } = await home.api<{ deployment_id: string }>('POST', `/v1/projects/uploaded/deployments/${id}/${how}`)
      expect(status).toBe(201)
      return home.ended('uploaded', body.deployment_id)
    }
    const served = async () => (await home.edge('uploaded.localhost')).body

    test('goes live, and comes back by retry and roll-back', async () => {
      const first = await upload('first')
      expect(first).toMatchObject({ status: 'ready', error: null, source: 'upload', trigger: 'upload', runtime })
      expect(await served()).toBe('first')
      await upload('second')
      expect(await served()).toBe('second')
      expect(await again(first.id, 'retry')).toMatchObject({ status: 'ready', trigger: 'retry', parent_id: first.id })
      expect(await served()).toBe('first')
      const rolled = await again((await upload('third')).id, 'rollback')
      expect(rolled).toMatchObject({ status: 'ready', trigger: 'rollback' })
      expect(await again(rolled.id, 'retry')).toMatchObject({ status: 'ready', source: 'upload' })
      expect(await served()).toBe('third')
    })
  })
})
