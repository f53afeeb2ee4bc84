import Module, { createRequire } from 'node:module'
import type Docker from 'dockerode'

/**
 * dockerode, without what it loads on its first lines and needs only for a build by BuildKit (gRPC) or for an engine behind ssh://.
 * That is two thirds of it, with a cipher in 16 MB of its own; it is loaded by the first call that goes there.
 */
export async function loadDockerode(): Promise<typeof Docker> {
  const library = createRequire(createRequire(import.meta.url).resolve('dockerode'))
  const connection = createRequire(library.resolve('docker-modem'))
  loadLazily(library, '@grpc/grpc-js')
  loadLazily(library, '@grpc/proto-loader')
  loadLazily(connection, './ssh')
  return (await import('dockerode')).default
}

/** In place of a CommonJS module: an object that loads it when it is first read from, or called. */
function loadLazily(require: NodeJS.Require, name: string): void {
  const path = require.resolve(name)
  if (require.cache[path]) return
  const load = (): ((...args: unknown[]) => unknown) => {
    if (require.cache[path] === placeholder) delete require.cache[path]
    return require(path)
  }
  const placeholder = new Module(path)
  placeholder.loaded = true
  placeholder.exports = new Proxy(() => {}, {
    get: (_, property) => Reflect.get(load(), property),
    apply: (_, self, args) => Reflect.apply(load(), self, args),
  })
  require.cache[path] = placeholder
}
