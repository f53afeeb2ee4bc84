import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { readdir, realpath, stat } from 'node:fs/promises'
import { type Agent, request, type RequestOptions } from 'node:https'
import { join, relative, sep } from 'node:path'
import type { Readable } from 'node:stream'
import { sitePath } from './protocol.ts'

/** The name of the files of a deployment on other nodes. They never change. */
export const nameSite = (route: { deployment_id: string | null; directory: string }): string =>
  createHash('sha256').update(`${route.deployment_id}\n${route.directory}`).digest('hex').slice(0, 32)

/** Sends the files of a static site to a node, unless it has them. `node`: its address, with the signal that ends the upload. */
export async function uploadSite(agent: Agent, node: RequestOptions, site: string, directory: string): Promise<void> {
  const send = (method: string, path: string, body?: Readable): Promise<number> =>
    new Promise((resolve, reject) => {
      const outgoing = request({ ...node, agent, method, path }, (incoming) => {
        incoming.resume()
        resolve(incoming.statusCode ?? 0)
      })
      outgoing.on('error', reject)
      if (!body) return void outgoing.end()
      body.on('error', (error) => outgoing.destroy(error))
      body.pipe(outgoing)
    })
  const expectStored = async (sent: Promise<number>): Promise<void> => {
    const status = await sent
    if (status !== 204) throw new Error(`The node answered ${status} to a file of a static site.`)
  }

  if ((await send('HEAD', sitePath(site))) === 204) return
  const root = await realpath(directory)
  for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    if (entry.isDirectory() || !(await isInside(root, path))) continue
    await expectStored(send('PUT', sitePath(site, relative(root, path).replaceAll(sep, '/')), createReadStream(path)))
  }
  await expectStored(send('POST', sitePath(site)))
}

/** Whether it is a file, or a link to a file that does not leave the site. */
async function isInside(root: string, path: string): Promise<boolean> {
  const [found, target] = await Promise.all([stat(path).catch(() => undefined), realpath(path).catch(() => '')])
  return found?.isFile() === true && target.startsWith(root + sep)
}
