import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { commandLine } from '../support/command.ts'
import { buildImage } from '../support/docker.ts'
import { requires } from '../support/requirements.ts'
import { runProgram } from '../support/runtime.ts'
import { useSharedDeploymentContext } from './deployment-suite.ts'

const image = `homeport-test-ready-${process.pid}:1`

describe.skipIf(!requires('docker').ok)('a project whose source is an image', () => {
  const context = useSharedDeploymentContext('docker')

  test('goes live with deploy --image, on the port in PORT or on the specified one', async () => {
    const source = mkdtempSync(join(tmpdir(), 'homeport-image-'))
    const server = `require('http').createServer((q, r) => r.end('port ' + process.env.PORT)).listen(process.env.PORT)`
    writeFileSync(join(source, 'Dockerfile'), `FROM node:24-bookworm-slim\nCMD ${JSON.stringify(['node', '-e', server])}\n`)
    await buildImage(image, source)
    const run = commandLine(context.platform.handle.instance, source)
    try {
      expect(await run('deploy', '--image', image, '--project', 'ready')).toMatchObject({ code: 0, out: expect.stringContaining('Live at') })
      expect((await context.platform.fetchEdge('ready.localhost')).body).toBe('port 8080')
      expect((await run('deploy', '--image', image, '--project', 'ready', '--port', '9000')).code).toBe(0)
      expect((await context.platform.fetchEdge('ready.localhost')).body).toBe('port 9000')
      expect((await run('deploy', '--image', 'Not An Image', '--project', 'ready')).code).toBe(2)
      expect((await run('deploy', '--image', image)).code).toBe(2)
    } finally {
      await context.platform.api('DELETE', '/v1/projects/ready')
      await runProgram('docker', ['image', 'rm', '--force', image])
      rmSync(source, { recursive: true })
    }
  })
})
