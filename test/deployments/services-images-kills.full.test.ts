import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startTestPlatform, until } from '../support/platform.ts'
import { makeRepository } from '../support/repository.ts'
import { requires } from '../support/requirements.ts'

/** A stand-in for a database, which records whether another one uses its volume at the same time. */
const store = `
const fs = require('node:fs')
const net = require('node:net')
const socket = '/data/socket'
const begin = () => net.createServer().listen(socket)
net.connect(socket)
  .on('connect', () => fs.writeFileSync('/data/shared', process.env.MARK))
  .on('error', () => { fs.rmSync(socket, { force: true }); begin() })
require('node:http')
  .createServer((request, response) => response.end(JSON.stringify({ mark: process.env.MARK, is_shared: fs.existsSync('/data/shared') })))
  .listen(6379)
process.on('SIGTERM', () => process.exit())
`
const files = (mark: string, release = '') => ({
  'package.json': JSON.stringify({ name: 'stored', private: true, scripts: { start: 'node server.js' } }),
  'server.js': `
require('node:http').createServer(async (request, response) => {
  response.end(await fetch('http://store:6379').then((answer) => answer.text(), String))
}).listen(process.env.PORT, process.env.HOST)
`,
  'homeport.yaml': `
services:
  web: { build: ., command: node server.js, port: 3000, depends_on: [store] }
  store:
    image: "node:24-bookworm-slim"
    command: ["node", "-e", ${JSON.stringify(store)}]
    environment: { MARK: "${mark}" }
    volumes: ["data:/data"]
    port: 6379
volumes: { data: {} }
${release}`,
})

test.skipIf(!requires('docker').ok)(
  'kill -9 while a deployed version has replaced the image of the live one: the live version gets it back, and never do two have the volume',
  async () => {
    const data_dir = mkdtempSync(join(tmpdir(), 'homeport-image-kills-'))
    const repository = makeRepository(files('one'))
    let platform = await startTestPlatform({ runtime: 'docker', data_dir })
    await platform.createProject({ slug: 'stored', repo_url: repository.url, previews: false })
    expect(await platform.waitForEnd('stored', (await platform.deploy('stored')).id)).toMatchObject({ status: 'ready', error: null })
    repository.commit(files('two', `release: node -e "console.log('hanging'); setInterval(() => {}, 1000)"`))
    const { id } = await platform.deploy('stored')
    // Its second attempt is the last.
    for (const attempt of [1, 2]) {
      await until(
        async () => {
          const { build_log } = await platform.getDeployment('stored', id)
          return (build_log.includes('hanging') && build_log.includes('Starting this deployment again') === (attempt === 2)) || undefined
        },
        { what: `attempt ${attempt}` },
      )
      await platform.kill()
      platform = await startTestPlatform({ runtime: 'docker', data_dir })
    }
    expect(await platform.waitForEnd('stored', id)).toMatchObject({ status: 'failed', error: { code: 'interrupted' } })
    const answer = await until(
      async () => {
        const { status, body } = await platform.fetchEdge('stored.localhost')
        return status === 200 && body.includes('"one"') ? body : undefined
      },
      { what: 'the image of the live version' },
    )
    expect(JSON.parse(answer)).toEqual({ mark: 'one', is_shared: false })
    await platform.remove()
    repository.remove()
    rmSync(data_dir, { recursive: true, force: true })
  },
)
