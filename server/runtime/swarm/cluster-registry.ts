import type Docker from 'dockerode'
import { getRegistryHost } from '../../lib/image-name.ts'
import { tryPort } from '../../lib/try-port.ts'
import type { DockerEngine } from '../docker/engine.ts'
import { createPullOptions } from '../docker/registry-access.ts'
import { BuildFailure } from '../runtime.ts'

const connectTimeout_ms = 3_000

/** The registry from which all nodes pull. */
export interface ClusterRegistry {
  /** Host and port, for messages. */
  getHost(): Promise<string>
  /** The beginning of the names of images in it. */
  getPrefix(): Promise<string>
  /** What nodes sign in with. */
  getLogin(): Promise<Docker.AuthConfig | undefined>
  /** Throws `BuildFailure` within 4 s if it does not answer. */
  check(): Promise<void>
  /** Starts it if Homeport runs it, and checks it. */
  start(): Promise<void>
  /** Runs work that pushes an image. */
  whilePushing<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T>
  /** Removes images, as `repository@digest`, that no service uses. */
  discard(names: string[]): Promise<void>
  /** What a node needs to trust it, as `HOST@sha256:FINGERPRINT` of its authority; null for one that systems trust. Starts it. */
  getReference(): Promise<string | null>
}

/** The registry that the operator names, with the credentials of `docker login`. */
export function createExternalRegistry(engine: DockerEngine, prefix: string): ClusterRegistry {
  const host = getRegistryHost(`${prefix}/image`)
  const check = () => checkAnswers(host, 'Start the registry, then deploy again. Running apps are not affected.')
  return {
    getHost: async () => host,
    getPrefix: async () => prefix,
    async getLogin() {
      const { options } = await createPullOptions(engine, { logins: [], uses_docker_login: true }, `${prefix}/image`)
      return options.authconfig
    },
    check,
    start: check,
    whilePushing: (_signal, work) => work(),
    // Its retention is the operator's.
    discard: async () => {},
    getReference: async () => null,
  }
}

export async function checkAnswers(host: string, hint: string): Promise<void> {
  const [name = '', port = '443'] = host.split(/:(?=\d+$)/)
  if ((await tryPort(name.replace(/^\[|\]$/g, ''), Number(port), connectTimeout_ms)) === 'open') return
  throw new BuildFailure('start_failed', `The registry of the swarm, ${host}, does not answer, so the nodes cannot get the image.`, hint)
}
