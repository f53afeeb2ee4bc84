import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { until } from '../support/platform.ts'
import { tinyServer } from '../support/repository.ts'
import { useSharedDeploymentContext } from './deployment-suite.ts'

const context = useSharedDeploymentContext('process')

test('the end of a removed app is not cut short by the removal of another project', async () => {
  const events: string[] = []
  const mayEnd = Promise.withResolvers<void>()
  // The app says here that it has been asked to end, and ends with the answer.
  const listener = createServer((request, response) => {
    events.push(request.url ?? '')
    void mayEnd.promise.then(() => response.end())
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void listener.close())
  await once(listener, 'listening')
  const url = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`
  const slow = `
const http = require('node:http')
http.createServer((request, response) => response.end('slow')).listen(process.env.PORT, process.env.HOST)
process.on('SIGTERM', () => http.get('${url}/asked', () => http.get('${url}/ended', () => process.exit())))
`
  await context.projectWith('slow', { ...tinyServer('slow'), 'server.js': slow })
  await context.projectWith('other', tinyServer('other'))
  await context.deployReady('slow')
  const { id } = await context.deployReady('other')
  const bundle = join(context.platform.data_dir, 'bundles', id)
  expect(existsSync(bundle)).toBe(true)

  await context.platform.api('DELETE', '/v1/projects/slow')
  await until(async () => events.includes('/asked') || undefined, { what: 'the app to be asked to end' })
  await context.platform.api('DELETE', '/v1/projects/other')
  await until(async () => !existsSync(bundle) || undefined, { what: 'the other project to be cleaned up' })
  mayEnd.resolve()
  await until(async () => events.includes('/ended') || undefined, { what: 'the app to exit on its own' })
  expect(events).toEqual(['/asked', '/ended'])
})
