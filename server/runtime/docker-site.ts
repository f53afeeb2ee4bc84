import { createWriteStream } from 'node:fs'
import { mkdir, rm, symlink } from 'node:fs/promises'
import { dirname, join, posix } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type Docker from 'dockerode'
import { extract } from 'tar-stream'
import type { StaticPlan } from '../contract/build-plan.ts'
import { leaves } from './docker-context.ts'
import { statusOf, type Engine } from './docker-engine.ts'
import { appRoot } from './docker-steps.ts'
import { inside, pathPart } from './files.ts'
import type { Artifact, BuildRequest } from './runtime.ts'
import { checkSite, missingOutput } from './static-output.ts'

/** Takes the output of a static build out of its container, to be served by the edge. */
export async function extractSite(engine: Engine, container: Docker.Container, request: BuildRequest, plan: StaticPlan): Promise<Artifact> {
  const place = join(engine.options.data_dir, 'bundles', pathPart(request.deployment_id))
  const directory = join(place, 'site')
  await rm(place, { recursive: true, force: true })
  await mkdir(directory, { recursive: true, mode: 0o700 })
  try {
    const path = posix.join(appRoot, posix.normalize(plan.output_directory))
    const archive = await container.getArchive({ path: `${path}/.` }).catch(async (error: unknown) => {
      if (statusOf(error) === 404 || statusOf(error) === 400) throw await missingOutput(plan, (path) => isInContainer(container, path))
      throw error
    })
    const bytes = await unpack(archive, directory, request.signal)
    await checkSite(directory, plan, (line) => request.log.note('build', line))
    return { kind: 'static', directory, spa_fallback: plan.spa_fallback, bytes }
  } catch (error) {
    await rm(place, { recursive: true, force: true })
    request.signal.throwIfAborted()
    throw error
  }
}

/** Whether the source folder of a container has a file or folder. */
export const isInContainer = (container: Docker.Container, path: string): Promise<boolean> =>
  container.infoArchive({ path: posix.join(appRoot, posix.normalize(path)) }).then(
    () => true,
    (error: unknown) => (statusOf(error) === 404 || statusOf(error) === 400 ? false : Promise.reject(error)),
  )

/** Files, folders and links that stay inside; all else is passed over. Bytes are counted, not believed. */
async function unpack(archive: NodeJS.ReadableStream, directory: string, signal: AbortSignal): Promise<number> {
  const tar = extract()
  const links: { path: string; target: string }[] = []
  let bytes = 0
  const feeding = pipeline(archive, tar, { signal })
  const reading = (async () => {
    for await (const entry of tar) {
      const path = posix.normalize(entry.header.name).replace(/\/+$/, '')
      const wanted = path !== '.' && path !== '..' && !path.startsWith('../') && !path.startsWith('/')
      const full = wanted ? inside(directory, path) : directory
      if (wanted && entry.header.type === 'directory') {
        await mkdir(full, { recursive: true })
      } else if (wanted && entry.header.type === 'file') {
        await mkdir(dirname(full), { recursive: true })
        await pipeline(entry, createWriteStream(full, { mode: 0o644, flags: 'wx' }))
        bytes += entry.header.size ?? 0
        continue
      } else if (wanted && entry.header.type === 'symlink' && !leaves(path, entry.header.linkname ?? '/')) {
        links.push({ path: full, target: entry.header.linkname })
      }
      entry.resume()
    }
  })()
  await Promise.all([feeding, reading])
  // Last, so that no file is ever written through a link.
  for (const link of links) await symlink(link.target, link.path).catch(() => {})
  return bytes
}
