import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'

/** Run in a separate process, because other tests load the same packages into theirs. */
const script = `
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
const { loadDockerode } = await import(process.argv[1])
const require = createRequire(import.meta.url)
const isLoaded = (name) => Object.keys(require.cache).some((path) => path.replaceAll('\\\\', '/').includes('/node_modules/' + name + '/'))
const Docker = await loadDockerode()
assert.deepEqual(['dockerode', 'ssh2', 'protobufjs'].map(isLoaded), [true, false, false])
// Nothing listens on port 1: the error comes from ssh2 itself.
await assert.rejects(new Docker({ protocol: 'ssh', host: '127.0.0.1', port: 1, username: 'nobody' }).ping(), /ECONNREFUSED/)
assert.equal(isLoaded('ssh2'), true)
const grpc = createRequire(require.resolve('dockerode'))('@grpc/grpc-js')
assert.equal(typeof new grpc.Server().addService, 'function')
assert.equal(isLoaded('@grpc/grpc-js'), true)
`

test('dockerode is loaded without its rarely needed modules, which load on demand', () => {
  const library = new URL('../../server/runtime/docker/load-dockerode.ts', import.meta.url).href
  expect(execFileSync(process.execPath, ['--input-type=module', '--eval', script, library], { encoding: 'utf8' })).toBe('')
})
