import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTarGz } from '../../renderer/features/projects/tar-gz.ts'
import { sampleFiles } from '../../renderer/features/projects/samples.ts'
import { sendRequest } from '../support/http-request.ts'
import { readEventStream } from '../support/event-stream.ts'
import { startTestPlatform, type TestPlatform } from '../support/platform.ts'

/** Every sample, deployed like the dashboard does it, on the runtime that every machine has. */
describe('the sample apps', () => {
  let platform: TestPlatform
  beforeAll(async () => {
    platform = await startTestPlatform({ runtime: 'process' })
  })
  afterAll(() => platform.remove())

  const send = async (name: string) => {
    await platform.createProject({ slug: name, name })
    const archive = await createTarGz(name, sampleFiles(name))
    const response = await sendRequest(`${platform.handle.api_url}/v1/projects/${name}/upload`, {
      method: 'POST',
      headers: { authorization: `Bearer ${platform.handle.instance.token}`, 'content-type': 'application/gzip' },
      body: Buffer.from(await archive.arrayBuffer()),
    })
    expect(response.status, response.text).toBe(201)
    return platform.waitForEnd(name, String(response.json.deployment_id))
  }
  /** Reads the endless log stream until it contains the text. */
  const says = async (slug: string, words: string) => {
    const url = `${platform.handle.api_url}/v1/projects/${slug}/runtime-logs?lines=100`
    for await (const { data } of readEventStream(url, { token: platform.handle.instance.token })) if (data.includes(words)) return
  }
  const flash = (text: string) =>
    sendRequest(`${platform.handle.edge_url}/send`, { method: 'POST', headers: { host: 'signal-lamp.localhost' }, body: Buffer.from(text) })

  test('tide-clock: a folder of files is deployed as a site', async () => {
    const deployment = await send('tide-clock')
    expect(deployment.error, deployment.build_log).toBeNull()
    expect(deployment.framework).toBe('html')
    expect((await platform.fetchEdge('tide-clock.localhost', '/')).body).toContain('Tide clock')
    expect((await platform.fetchEdge('tide-clock.localhost', '/tide.js')).status).toBe(200)
    expect(await platform.fetchEdge('tide-clock.localhost', '/no/such')).toMatchObject({
      status: 404,
      body: expect.stringContaining('Nothing but water'),
    })
  })

  test('signal-lamp: its log shows what it does', async () => {
    const deployment = await send('signal-lamp')
    expect(deployment.error, deployment.build_log).toBeNull()
    expect((await platform.fetchEdge('signal-lamp.localhost', '/')).body).toContain('Signal lamp')
    expect((await flash('sos')).json).toMatchObject({ letters: [{ letter: 'S', signs: '...' }, { letter: 'O', signs: '---' }, { letter: 'S' }] })
    expect((await flash('¿?')).status).toBe(400)
    await says('signal-lamp', 'message 1 sent')
  })

  test('harbour-news: from the second request on it is served from the cache, until a purge', async () => {
    const deployment = await send('harbour-news')
    expect(deployment.error, deployment.build_log).toBeNull()
    const read = () => platform.fetchEdge('harbour-news.localhost', '/')
    expect(await read()).toMatchObject({ status: 200, headers: { 'x-cache': 'MISS' }, body: expect.stringContaining('Edition 1') })
    expect(await read()).toMatchObject({ status: 200, headers: { 'x-cache': 'HIT' }, body: expect.stringContaining('Edition 1') })
    expect((await platform.api('POST', '/v1/projects/harbour-news/cache/purge-tags', { tags: ['front-page'] })).status).toBe(200)
    expect(await read()).toMatchObject({ headers: { 'x-cache': 'MISS' }, body: expect.stringContaining('Edition 2') })
  })

  test('guest-book: greets with its variable, and reveals only the names of variables', async () => {
    const first = await send('guest-book')
    expect(first.error, first.build_log).toBeNull()
    expect((await platform.fetchEdge('guest-book.localhost', '/?name=%3Cb%3EAda')).body).toContain('Good day, &#60;b&#62;Ada')
    const added = await platform.api<{ deployment_id: string }>('POST', '/v1/projects/guest-book/env-vars', {
      key: 'GREETING',
      value: 'Ahoy <there>',
    })
    await platform.waitForEnd('guest-book', added.body.deployment_id)
    const { body } = await platform.fetchEdge('guest-book.localhost', '/')
    expect(body).toContain('Ahoy &#60;there&#62;')
    expect(body).toContain('<code>GREETING</code></li>')
  })

  test('leaky-boat: its build fails with a hint, and it starts once the hint was followed', async () => {
    const broken = await send('leaky-boat')
    expect(broken.status).toBe('failed')
    expect(broken.error).toMatchObject({
      code: 'build_failed',
      message: expect.stringMatching(
        /^`npm run build` ended with exit code 1 after [\d.]+ s\. A variable is missing: HULL \(log: “HULL is not set, so the boat leaks”\)\.$/,
      ),
      hint: 'Add it to the project’s variables for this environment, then deploy again.',
    })
    await platform.api('POST', '/v1/projects/leaky-boat/env-vars', { key: 'HULL', value: 'oak' })
    const again = await platform.api<{ deployment_id: string }>('POST', `/v1/projects/leaky-boat/deployments/${broken.id}/retry`)
    const fixed = await platform.waitForEnd('leaky-boat', again.body.deployment_id)
    expect(fixed.error, fixed.build_log).toBeNull()
    expect((await platform.fetchEdge('leaky-boat.localhost', '/')).body).toContain('Her hull is made of <b>oak</b>')
  })
})
