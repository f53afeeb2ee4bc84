import type Docker from 'dockerode'
import { isOfficialImage } from '../../lib/image-name.ts'
import { BuildFailure } from '../runtime.ts'
import type { RegistryAccess } from '../registries.ts'
import type { DockerEngine } from './engine.ts'
import { findImageId, isOpenTo } from './images.ts'

/**
 * The images that a Dockerfile may use: its bases, and those that steps copy or mount from. Lines are read with and without continuations, because
 * a Dockerfile chooses its escape character. Names of stages are among them.
 */
export function listNamedImages(text: string): string[] {
  const joined = text.replace(/[\\`][ \t]*\r?\n/g, ' ')
  const names = [text, joined].flatMap((one) => [
    ...one.matchAll(/^\s*FROM\s+(?:--\S+\s+)*([^\s#]+)/gim),
    ...one.matchAll(/\bfrom=["']?([^\s,"']+)/gi),
  ])
  return [...new Set(names.map(([, name = '']) => name))].filter((name) => name !== 'scratch' && !/^\d+$/.test(name))
}

/**
 * For a project that does not belong to the user of this machine: each image that exists here must be one that the project may
 * pull. Returns whether the builder must query the registries itself, because a name contains variables.
 */
export async function requireOpenImages(
  engine: DockerEngine,
  docker: Docker,
  { access, text, may_pull }: { access: RegistryAccess; text: string; may_pull: boolean },
): Promise<boolean> {
  if (access.uses_docker_login) return false
  let needsPull = false
  for (const name of listNamedImages(text)) {
    if (name.includes('$')) {
      if (!may_pull)
        throw new BuildFailure(
          'build_failed',
          `The Dockerfile uses the image ${name}, whose name has a variable.`,
          'Write the name of the image itself.',
        )
      needsPull = true
    } else if (!isOfficialImage(name) && (await findImageId(docker, name).catch(() => undefined)) !== undefined) {
      if (await isOpenTo(engine, docker, access, name)) continue
      throw new BuildFailure(
        'build_failed',
        `The registry of the base image ${name} refused this project, or could not be reached.`,
        'Check the name, and add credentials for its registry in the project’s settings.',
      )
    }
  }
  return needsPull
}
