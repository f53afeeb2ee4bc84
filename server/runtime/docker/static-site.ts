import { createWriteStream } from 'node:fs'
import { mkdir, rm, symlink } from 'node:fs/promises'
import { dirname, join, posix } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type Docker from 'dockerode'
import { extract } from 'tar-stream'
import type { StepLog } from '../../contract/build-log.ts'
import type { StaticPlan } from '../../contract/build-plan.ts'
import { isOutsideLink } from './build-context.ts'
import type { DockerEngine } from './engine.ts'
import { getStatusCode } from './errors.ts'
import { appRoot } from './build-runner.ts'
import { resolveInside, getBundleName } from '../files.ts'
import type { Artifact, BuildRequest } from '../runtime.ts'
import { checkStaticSite, createMissingOutputFailure } from '../static-output.ts'

/** Copies the output of a static build out of its container, for the edge to serve. */
export async function extractStaticSite(
  engine: DockerEngine,
  container: Docker.Container,
  request: BuildRequest,
  plan: StaticPlan,
  log: StepLog,
): Promise<Artifact> {
  const bundleFolder = join(engine.options.data_dir, 'bundles', getBundleName(request))
  const directory = join(bundleFolder, 'site')
  await rm(bundleFolder, { recursive: true, force: true })
  await mkdir(directory, { recursive: true, mode: 0o700 })
  try {
    const path = posix.join(appRoot, posix.normalize(plan.output_directory))
    const archive = await container.getArchive({ path: `${path}/.` }).catch(async (error: unknown) => {
      if (getStatusCode(error) === 404 || getStatusCode(error) === 400)
        throw await createMissingOutputFailure(plan, (path) => existsInContainer(container, path))
      throw error
    })
    const bytes = await unpackArchive(archive, directory, request.signal)
    await checkStaticSite(directory, plan, (line) => log.note(line))
    return { kind: 'static', directory, spa_fallback: plan.spa_fallback, bytes }
  } catch (error) {
    await rm(bundleFolder, { recursive: true, force: true })
    request.signal.throwIfAborted()
    throw error
  }
}

/** Whether a file or folder exists in the source folder of a container. */
export const existsInContainer = (container: Docker.Container, path: string): Promise<boolean> =>
  container.infoArchive({ path: posix.join(appRoot, posix.normalize(path)) }).then(
    () => true,
    (error: unknown) => (getStatusCode(error) === 404 || getStatusCode(error) === 400 ? false : Promise.reject(error)),
  )

/** Unpacks files, folders and links that stay inside; other entries are skipped. Limits use the actual number of bytes. */
async function unpackArchive(archive: NodeJS.ReadableStream, directory: string, signal: AbortSignal): Promise<number> {
  const tar = extract()
  const links: { path: string; target: string }[] = []
  let bytes = 0
  const writing = pipeline(archive, tar, { signal })
  const reading = (async () => {
    for await (const entry of tar) {
      const path = posix.normalize(entry.header.name).replace(/\/+$/, '')
      const isInside = path !== '.' && path !== '..' && !path.startsWith('../') && !path.startsWith('/')
      const target = isInside ? resolveInside(directory, path) : directory
      if (isInside && entry.header.type === 'directory') {
        await mkdir(target, { recursive: true })
      } else if (isInside && entry.header.type === 'file') {
        await mkdir(dirname(target), { recursive: true })
        await pipeline(entry, createWriteStream(target, { mode: 0o644, flags: 'wx' }))
        bytes += entry.header.size ?? 0
        continue
      } else if (isInside && entry.header.type === 'symlink' && !isOutsideLink(path, entry.header.linkname ?? '/')) {
        links.push({ path: target, target: entry.header.linkname })
      }
      entry.resume()
    }
  })()
  await Promise.all([writing, reading])
  // Last, so that no file is written through a symlink.
  for (const link of links) await symlink(link.target, link.path).catch(() => {})
  return bytes
}
