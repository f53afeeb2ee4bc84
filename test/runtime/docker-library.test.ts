import { createRequire } from 'node:module'
import { expect, test } from 'vitest'
import { loadDockerode } from '../../server/runtime/docker-library.ts'

const require = createRequire(import.meta.url)
const isLoaded = (name: string) => Object.keys(require.cache).some((path) => path.replaceAll('\\', '/').includes(`/node_modules/${name}/`))

test('the library of the engine comes without what it seldom needs, and gets that when it asks for it', async () => {
  const Docker = await loadDockerode()
  expect(isLoaded('dockerode')).toBe(true)
  expect(isLoaded('ssh2')).toBe(false)
  expect(isLoaded('protobufjs')).toBe(false)

  // Nothing listens on port 1: that says ssh2 itself.
  await expect(new Docker({ protocol: 'ssh', host: '127.0.0.1', port: 1, username: 'nobody' }).ping()).rejects.toThrow(/ECONNREFUSED/)
  expect(isLoaded('ssh2')).toBe(true)

  const grpc: { Server: new () => object } = createRequire(require.resolve('dockerode'))('@grpc/grpc-js')
  expect(new grpc.Server()).toHaveProperty('addService')
  expect(isLoaded('@grpc/grpc-js')).toBe(true)
})
