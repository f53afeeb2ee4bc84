import { connect } from 'node:net'
import type Docker from 'dockerode'
import { getRegistryHost } from '../../lib/image-name.ts'
import type { DockerEngine } from '../docker/engine.ts'
import { createPullOptions } from '../docker/registry-access.ts'
import { BuildFailure } from '../runtime.ts'

/** The registry from which all nodes pull. */
export interface ClusterRegistry {
  /** For messages. */
  host: string
  /** The beginning of the names of images in it. */
  getPrefix(): Promise<string>
  /** What nodes sign in with. */
  getLogin(): Promise<Docker.AuthConfig | undefined>
  /** Throws `BuildFailure` within 4 s if it does not answer. */
  check(): Promise<void>
}

const connectTimeout_ms = 3_000

const missing = (): BuildFailure =>
  new BuildFailure(
    'start_failed',
    'The nodes of the swarm cannot get the image, because no registry is named.',
    'Set HOMEPORT_REGISTRY to a registry that all nodes reach, then restart Homeport (homeport help cluster).',
  )

/** The registry that the operator names, with the credentials of `docker login`. */
export function createClusterRegistry(engine: DockerEngine, prefix: string | undefined): ClusterRegistry {
  if (prefix === undefined) {
    const fail = () => Promise.reject(missing())
    return { host: '', getPrefix: fail, getLogin: fail, check: fail }
  }
  const host = getRegistryHost(`${prefix}/image`)
  return {
    host,
    getPrefix: async () => prefix,
    async getLogin() {
      const { options } = await createPullOptions(engine, { logins: [], uses_docker_login: true }, `${prefix}/image`)
      return options.authconfig
    },
    async check() {
      const [name = '', port = '443'] = host.split(/:(?=\d+$)/)
      if (await canConnect(name.replace(/^\[|\]$/g, ''), Number(port))) return
      throw new BuildFailure(
        'start_failed',
        `The registry of the swarm, ${host}, does not answer, so the nodes cannot get the image.`,
        'Start the registry, then deploy again. Running apps are not affected.',
      )
    },
  }
}

export const canConnect = (host: string, port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host, port, timeout: connectTimeout_ms })
    const settle = (isOpen: boolean) => {
      socket.destroy()
      resolve(isOpen)
    }
    socket
      .once('connect', () => settle(true))
      .once('timeout', () => settle(false))
      .once('error', () => settle(false))
  })
