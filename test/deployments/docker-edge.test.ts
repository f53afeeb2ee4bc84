import { describe, expect, test } from 'vitest'
import { requires } from '../support/requirements.ts'
import { tinyServer } from '../support/repository.ts'
import { useSharedDeploymentContext } from './deployment-suite.ts'

/** Fetches the URL in its query from inside the container. */
const caller = {
  'package.json': JSON.stringify({ name: 'caller', private: true, scripts: { start: 'node server.js' } }),
  'server.js': `
const { get } = require('node:http')
const fetchText = (url) => new Promise((resolve) => get(url, (response) => {
  let text = ''
  response.on('data', (piece) => (text += piece)).on('end', () => resolve(response.statusCode + ' ' + text))
}).on('error', (error) => resolve(error.code)))
require('node:http').createServer(async (request, response) => {
  const url = new URL(request.url, 'http://x').searchParams.get('url')
  response.end(url === null ? 'caller' : await fetchText(url === 'own' ? process.env.HOMEPORT_URL : url))
}).listen(process.env.PORT, process.env.HOST)
`,
}

describe.skipIf(!requires('docker').ok)('the edge, from inside a container', () => {
  const context = useSharedDeploymentContext('docker')
  const ask = async (url: string) => (await context.platform.fetchEdge('caller.localhost', `/?url=${encodeURIComponent(url)}`)).body

  test('an app reaches itself and other projects of its account by their public hostnames, but neither the API nor hostnames of other accounts', async () => {
    const { platform } = context
    await context.projectWith('neighbour', tinyServer('from the neighbour'))
    await context.deployReady('neighbour')
    const other = await platform.api<{ token: string }>('POST', '/instance/users', { email: 'other@example.com', card: true })
    expect((await platform.api('POST', '/v1/projects', { name: 'stranger', slug: 'stranger' }, other.body.token)).status).toBe(201)
    await context.projectWith('caller', caller)
    await context.deployReady('caller')
    const port = new URL(platform.handle.edge_url).port
    expect(await ask(`http://neighbour.localhost:${port}/`)).toBe('200 from the neighbour')
    expect(await ask('own')).toBe('200 caller')
    expect(await ask(`http://stranger.localhost:${port}/`)).toMatch(/^(ENOTFOUND|EAI_AGAIN|ECONNREFUSED)$/)
    const api = new URL(platform.handle.api_url)
    expect(await ask(`http://neighbour.localhost:${api.port}/healthz`)).toBe('ECONNREFUSED')
    await platform.api('DELETE', '/instance/users/other%40example.com')
  })
})
