import Module, { createRequire } from 'node:module'
import type Docker from 'dockerode'

/**
 * Loads dockerode without modules that are needed only for builds with BuildKit (gRPC) or for an engine at ssh://. These modules are two thirds of
 * the package and include 16 MB of encryption code; the first call that needs them loads them.
 */
export async function loadDockerode(): Promise<typeof Docker> {
  const library = createRequire(createRequire(import.meta.url).resolve('dockerode'))
  const connection = createRequire(library.resolve('docker-modem'))
  loadLazily(library, '@grpc/grpc-js')
  loadLazily(library, '@grpc/proto-loader')
  loadLazily(connection, './ssh')
  return (await import('dockerode')).default
}

/** Replaces a CommonJS module with an object that loads the module at its first use. */
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
