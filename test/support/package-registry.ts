import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createTarGz } from './archives.ts'

/** An npm registry on loopback. `downloads` are the names of the downloaded packages, in order. */
export async function startPackageRegistry(packages: Record<string, { version: string; files: Record<string, string> }>) {
  const downloads: string[] = []
  const server = createServer((request, response) => {
    const [name = '', file] = decodeURIComponent(request.url ?? '')
      .slice(1)
      .split('/-/')
    const found = packages[name]
    if (!found) return response.writeHead(404).end('{"error":"not found"}')
    const manifest = { name, version: found.version }
    const files = { 'package.json': JSON.stringify(manifest), ...found.files }
    const archive = createTarGz(Object.entries(files).map(([path, data]) => ({ name: `package/${path}`, data })))
    if (file !== undefined) {
      downloads.push(name)
      return response.end(archive)
    }
    const dist = { tarball: `${url}/${name}/-/archive.tgz`, integrity: `sha512-${createHash('sha512').update(archive).digest('base64')}` }
    response.end(JSON.stringify({ name, 'dist-tags': { latest: found.version }, versions: { [found.version]: { ...manifest, dist } } }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    downloads,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
