import { createWriteStream } from 'node:fs'
import { mkdir, readdir, rename, rm, stat, utimes } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { dirname, join, resolve, sep } from 'node:path'
import { pipeline } from 'node:stream/promises'

/** Sites that nothing has asked for in this time, and that no route has, are removed; so are incomplete ones, which may take long to arrive. */
const unused_ms = 600_000
const incomplete_ms = 86_400_000
const partial = '.partial'

/** The files of static sites that the platform has sent. A site is complete as soon as it has its name. */
export interface ReceivedSites {
  directoryOf(site: string): string
  /** `HEAD` asks whether a site is complete, `PUT` stores a file, and `POST` completes the site. False: it is no request for a site. */
  serve(incoming: IncomingMessage, outgoing: ServerResponse): boolean
  removeUnused(used: ReadonlySet<string>): Promise<void>
}

export function createReceivedSites(directory: string): ReceivedSites {
  const directoryOf = (site: string): string => join(directory, site)

  const storeFile = async (site: string, file: string, incoming: IncomingMessage): Promise<number> => {
    const root = directoryOf(`${site}${partial}`)
    const path = resolve(root, file)
    if (!path.startsWith(root + sep)) return 400
    await mkdir(dirname(path), { recursive: true })
    await pipeline(incoming, createWriteStream(path, { mode: 0o644 }))
    return 204
  }
  const complete = async (site: string): Promise<number> => {
    await mkdir(directoryOf(`${site}${partial}`), { recursive: true })
    await rm(directoryOf(site), { recursive: true, force: true })
    await rename(directoryOf(`${site}${partial}`), directoryOf(site))
    return touch(site)
  }
  /** A route will follow. */
  const touch = (site: string): Promise<number> =>
    utimes(directoryOf(site), new Date(), new Date()).then(
      () => 204,
      () => 404,
    )
  const respond = async (incoming: IncomingMessage): Promise<number> => {
    const [, site = '', path] = sitePattern.exec(incoming.url ?? '') ?? []
    if (incoming.method === 'PUT' && path !== undefined) return storeFile(site, decodeURIComponent(path), incoming)
    if (path !== undefined) return 405
    if (incoming.method === 'POST') return complete(site)
    if (incoming.method !== 'HEAD') return 405
    return touch(site)
  }

  return {
    directoryOf,
    serve(incoming, outgoing) {
      if (!sitePattern.test(incoming.url ?? '')) return false
      void respond(incoming)
        .catch(() => 507)
        .then((status) => {
          incoming.resume()
          outgoing.writeHead(status).end()
        })
      return true
    },
    async removeUnused(used) {
      for (const name of await readdir(directory).catch(() => []))
        if (!used.has(name)) {
          const path = join(directory, name)
          const found = await stat(path).catch(() => undefined)
          const limit_ms = name.endsWith(partial) ? incomplete_ms : unused_ms
          if (found && Date.now() - found.mtimeMs > limit_ms) await rm(path, { recursive: true, force: true }).catch(() => {})
        }
    },
  }
}

const sitePattern = /^\/sites\/([0-9a-f]{32})(?:\/(.+))?$/
