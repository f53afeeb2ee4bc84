import { describe, expect, test } from 'vitest'
import { requires } from '../support/requirements.ts'
import { runProgram } from '../support/runtime.ts'
import { until } from '../support/until.ts'
import { useDeploymentContext } from './deployment-suite.ts'
import { replicasSuite } from './replicas-suite.ts'

/** Names its container, except to requests that this container is to hold. */
const server = `
const name = require('node:os').hostname()
require('node:http').createServer((request, response) => {
  if (request.url === '/held-by/' + name) return console.log('holding')
  response.end(name)
}).listen(process.env.PORT, process.env.HOST)
`

describe.skipIf(!requires('docker').ok)('replicas in containers', () => {
  const context = useDeploymentContext('docker')
  replicasSuite(context)

  test('a request to a replica whose machine is lost is answered by another one', async () => {
    await context.projectWith('lost', {
      'package.json': JSON.stringify({ private: true, scripts: { start: 'node server.js' } }),
      'server.js': server,
    })
    await context.deployReady('lost')
    await context.platform.api('PATCH', '/instance/projects/lost/settings', { replicas: 2 })
    const read = async (path: string) => (await context.platform.fetchEdge('lost.localhost', path)).body
    const names = new Set<string>()
    await until(async () => names.add(await read('/')).size === 2 || undefined, { what: 'answers of both replicas' })
    const [lost = '', other = ''] = names
    const answers: Promise<string>[] = []
    await until(
      async () => {
        answers.push(read(`/held-by/${lost}`))
        return (await runProgram('docker', ['logs', lost])).includes('holding') || undefined
      },
      { what: 'a request that is held' },
    )
    // Nothing closes the connections to it.
    const networks = await runProgram('docker', ['inspect', lost, '--format', '{{range $name, $_ := .NetworkSettings.Networks}}{{$name}} {{end}}'])
    for (const network of networks.trim().split(' ')) await runProgram('docker', ['network', 'disconnect', '--force', network, lost])
    await runProgram('docker', ['kill', lost])
    expect(new Set(await Promise.all(answers))).toEqual(new Set([other]))
  })
})
