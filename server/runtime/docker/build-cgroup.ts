import type { BuildRequest } from '../runtime.ts'
import { removeContainer, type DockerEngine } from './engine.ts'
import { ensureBaseImage } from './images.ts'

/** A control group with the limits of a build. */
export interface BuildCgroup {
  /** Relative to the root of the engine's control groups. */
  path: string
  close(): Promise<void>
}

const maxProcesses = 512

/**
 * Starts a container that only holds a control group with limits, in which BuildKit runs the steps of one build: limits of a group apply to
 * the groups below it. The engine creates it, so no rights on its machine are needed.
 */
export async function openBuildCgroup(engine: DockerEngine, request: BuildRequest, note: (line: string) => void): Promise<BuildCgroup> {
  const { docker, limitCpus, cgroupDriver } = await engine.connection()
  const bytes = request.memory_mb * 1024 * 1024
  const container = await docker.createContainer({
    Image: await ensureBaseImage(engine, 'auto', note, request),
    name: engine.createName('build', request.deployment_id, 'limits', Math.random().toString(36).slice(2, 8)),
    User: '65534:65534',
    Cmd: ['sleep', 'infinity'],
    Entrypoint: [],
    WorkingDir: '/',
    Labels: engine.createLabels('build', { project_id: request.project_id, deployment_id: request.deployment_id }),
    HostConfig: {
      // A parent of our own, because the engine does not say which one it uses by default.
      CgroupParent: cgroupDriver === 'systemd' ? 'homeport.slice' : '/homeport',
      Memory: bytes,
      MemorySwap: bytes,
      NanoCpus: Math.round(limitCpus(request.cpus) * 1e9),
      PidsLimit: maxProcesses,
      CapDrop: ['ALL'],
      SecurityOpt: ['no-new-privileges'],
      Init: true,
      ReadonlyRootfs: true,
      NetworkMode: 'none',
      LogConfig: { Type: 'none', Config: {} },
    },
  })
  try {
    await container.start()
  } catch (error) {
    await removeContainer(container).catch(() => {})
    throw error
  }
  return {
    path: cgroupDriver === 'systemd' ? `/homeport.slice/docker-${container.id}.scope` : `/homeport/${container.id}`,
    close: () => removeContainer(container),
  }
}
