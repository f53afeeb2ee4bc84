import { posix } from 'node:path'
import type Docker from 'dockerode'
import type { StepLog } from '../../contract/build-log.ts'
import type { DockerfilePlan } from '../../contract/build-plan.ts'
import { resolveInside } from '../files.ts'
import { BuildFailure, type BuildRequest } from '../runtime.ts'
import { packBuildContext } from './build-context.ts'
import { toReadable } from './engine.ts'

/** Adds files of the source to a built image in a separate build, because the first build's context did not contain them. */
export async function addFilesToImage(
  docker: Docker,
  name: string,
  { folder, signal }: BuildRequest,
  files: NonNullable<DockerfilePlan['added_files']>,
  labels: Record<string, string>,
  log: StepLog,
): Promise<void> {
  const copies = files.map(({ source, path }, index) => `COPY ${JSON.stringify([posix.join(String(index), posix.basename(source)), path])}`)
  const archive = packBuildContext({
    folder,
    prefix: '',
    only_files: [],
    accepts: () => true,
    extra_files: { Dockerfile: [`FROM ${name}`, ...copies, ''].join('\n') },
    added_files: files.map(({ source }, index) => ({ path: resolveInside(folder, source), folder: String(index) })),
    owner: 0,
    signal,
  })
  const response = toReadable(await docker.buildImage(archive, { t: name, labels, rm: true, forcerm: true, abortSignal: signal }))
  await new Promise<void>((resolve, reject) => {
    docker.modem.followProgress(response, (error) => {
      if (error)
        reject(new BuildFailure('build_failed', `Files of the source could not be added to the image: ${error.message}`, 'Deploy again.', error))
      else resolve()
    })
  })
  log.line('stdout', `Added ${files.map(({ path }) => path).join(', ')}`)
}
