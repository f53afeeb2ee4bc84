import { addAbortSignal } from 'node:stream'
import type Docker from 'dockerode'
import { type DockerEngine, removeContainer } from './engine.ts'
import { getVolumeName } from './service-container.ts'
import { copyLabel, exportDockerVolume, findVolume, importDockerVolume, recreateVolume } from './volumes.ts'

/** Enough to keep owners, modes and special files. */
const copyCapabilities = ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID', 'MKNOD']
const copyMemory_bytes = 256 * 2 ** 20

/**
 * Replaces the files of a volume with a copy of another's. `cp` in a container shares blocks if Docker's file system can, and is faster than an
 * archive through the API. It uses the image of a container with the volume, because no image is pulled for this; if that image has no
 * such program, the copy is an archive.
 */
export async function copyDockerVolume(engine: DockerEngine, from: string, to: string, projectId: string, signal: AbortSignal): Promise<boolean> {
  const { docker } = await engine.connection()
  const source = getVolumeName(engine, from)
  if (!(await findVolume(docker, source))) return false
  for (const image of await listImagesOf(docker, source)) {
    await recreateVolume(engine, docker, to, projectId)
    if (await runCopy(engine, docker, { image, from: source, to }, signal)) return true
  }
  const archive = await exportDockerVolume(engine, from)
  if (!archive) return false
  await importDockerVolume(engine, to, projectId, addAbortSignal(signal, archive))
  return true
}

async function listImagesOf(docker: Docker, volume: string): Promise<string[]> {
  const containers = await docker.listContainers({ all: true, filters: JSON.stringify({ volume: [volume] }) })
  return [...new Set(containers.map(({ ImageID }) => ImageID))]
}

/** False if the image cannot do it; the volume may then contain a part of the files. */
async function runCopy(
  engine: DockerEngine,
  docker: Docker,
  { image: Image, from, to }: { image: string; from: string; to: string },
  signal: AbortSignal,
): Promise<boolean> {
  signal.throwIfAborted()
  const container = await docker.createContainer({
    Image,
    // The options are those of GNU and of BusyBox.
    Entrypoint: ['cp', '-a', '--reflink=auto', '/from/.', '/to/'],
    Cmd: [],
    User: '0:0',
    WorkingDir: '/',
    Labels: engine.createLabels('build', { [copyLabel]: to }),
    Healthcheck: { Test: ['NONE'] },
    HostConfig: {
      NetworkMode: 'none',
      ReadonlyRootfs: true,
      CapDrop: ['ALL'],
      CapAdd: copyCapabilities,
      SecurityOpt: ['no-new-privileges'],
      Memory: copyMemory_bytes,
      PidsLimit: 8,
      Mounts: [
        { Type: 'volume', Source: from, Target: '/from', ReadOnly: true },
        {
          Type: 'volume',
          Source: getVolumeName(engine, to),
          Target: '/to',
          VolumeOptions: { NoCopy: true, Labels: {}, DriverConfig: { Name: '', Options: {} } },
        },
      ],
    },
  })
  const stop = () => void removeContainer(container).catch(() => {})
  signal.addEventListener('abort', stop)
  try {
    await container.start()
    const { StatusCode } = (await container.wait()) as { StatusCode: number }
    return StatusCode === 0
  } catch {
    return false
  } finally {
    signal.removeEventListener('abort', stop)
    await removeContainer(container)
    signal.throwIfAborted()
  }
}
