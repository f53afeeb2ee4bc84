import { describe, expect, test } from 'vitest'
import type { UnsavedFiles } from '../../server/contract/unsaved-files.ts'
import { until } from '../support/platform.ts'
import { requires } from '../support/requirements.ts'
import { createHelpers } from './added-volumes-suite.ts'
import { useDeploymentContext } from './deployment-suite.ts'
import { fullTest } from '../support/full-test.ts'

const server = `
const fs = require('node:fs')
require('node:http').createServer((request, response) => {
  if (request.url === '/write') fs.appendFileSync('/srv/state/note', 'x')
  response.end(fs.existsSync('/srv/state/note') ? fs.readFileSync('/srv/state/note') : 'empty')
}).listen(process.env.PORT)
`
const files = {
  Dockerfile: 'FROM node:24-bookworm-slim\nWORKDIR /app\nCOPY server.js .\nVOLUME /srv/state\nCMD ["node", "server.js"]\n',
  'server.js': server,
}

/** A web service, a prebuilt image and a worker, which all write to paths that are lost. */
const shop = (version: string) => {
  const write = `require('node:fs').mkdirSync('/srv/uploads', { recursive: true }); require('node:fs').appendFileSync('/srv/uploads/note', 'x')`
  const cache = `${write}; require('node:http').createServer((request, response) => response.end('cache')).listen(6379)`
  return {
    Dockerfile: 'FROM node:24-bookworm-slim\nRUN mkdir /srv/uploads && chmod 777 /srv/uploads\nWORKDIR /app\nCOPY . .\n',
    'server.js': `require('node:http').createServer(async (request, response) => response.end('${version} ' + (await fetch('http://cache:6379').then((one) => one.text())))).listen(process.env.PORT)`,
    'worker.js': `${write}; setInterval(() => {}, 1000)`,
    'homeport.yaml': `
services:
  web: { build: ., command: node server.js, port: 3000 }
  cache: { image: "node:24-bookworm-slim", command: ["node", "-e", ${JSON.stringify(cache)}], port: 6379 }
  worker: { build: ., command: node worker.js }
`,
  }
}

describe.skipIf(!requires('docker').ok)('a folder that the image declares as a volume, on Docker', () => {
  const context = useDeploymentContext('docker')
  const { homeport } = createHelpers(context)
  const read = async (path = '/') => (await context.platform.fetchEdge('declared.localhost', path)).body
  const listUnsaved = async () =>
    (await context.platform.api<{ unsaved_files: UnsavedFiles[] }>('GET', '/instance/projects/declared/unsaved-files')).body.unsaved_files

  test('is reported once it has files, and is kept with them', async () => {
    await context.projectWith('declared', files)
    await context.deployReady('declared')
    expect(await read('/write')).toBe('x')
    const [report] = await until(
      async () => {
        await context.platform.advanceInSteps(60_000)
        await read()
        const reports = await listUnsaved()
        return reports.length > 0 ? reports : undefined
      },
      { what: 'the report' },
    )
    expect(report).toMatchObject({ path: '/srv/state', kind: 'uploads', is_file: false, files: 1, size_bytes: 1, volume: 'state' })
    const added = await homeport('volumes', 'add', 'declared', '/srv/state', '--with-unsaved', '--json')
    const { deployment_id } = JSON.parse(added.out) as { deployment_id: string }
    expect(await context.platform.waitForEnd('declared', deployment_id)).toMatchObject({ status: 'ready', error: null })
    expect(await read()).toBe('x')
    expect(await listUnsaved()).toEqual([])
    await context.deployReady('declared')
    expect(await read()).toBe('x')
  })

  fullTest('files of an image that keeps running are not saved, and the image keeps responding', async () => {
    const repository = await context.projectWith('going-on', shop('one'))
    await context.deployReady('going-on')
    repository.commit(shop('two'))
    await context.deployReady('going-on')
    const list = async () =>
      (await context.platform.api<{ unsaved_files: UnsavedFiles[] }>('GET', '/instance/projects/going-on/unsaved-files')).body.unsaved_files
    // Services are inspected in the order of the file, so that the image was before the worker.
    await until(async () => (await list()).find(({ service, saved }) => service === 'worker' && saved !== null), { what: 'the files of the worker' })
    expect((await list()).map(({ service }) => service)).toEqual(['worker'])
    expect((await context.platform.fetchEdge('going-on.localhost')).body).toBe('two cache')
  })
})
