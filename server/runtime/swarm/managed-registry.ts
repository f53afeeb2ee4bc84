import { createHash } from 'node:crypto'
import { request } from 'node:https'
import { Readable } from 'node:stream'
import bcrypt from 'bcryptjs'
import type Docker from 'dockerode'
import { pack } from 'tar-stream'
import { sleep, systemClock } from '../../lib/clock.ts'
import { createConcurrencyLimit } from '../../lib/concurrency-limit.ts'
import { formatHost } from '../../lib/format-host.ts'
import { removeContainer, type DockerEngine } from '../docker/engine.ts'
import { getStatusCode } from '../docker/errors.ts'
import { execInContainer } from '../docker/exec.ts'
import { useReadyImage } from '../docker/images.ts'
import { BuildFailure } from '../runtime.ts'
import { checkAnswers, type ClusterRegistry } from './cluster-registry.ts'
import { requireManager, type SwarmConnection } from './cluster.ts'
import { createRegistryCertificate, fingerprintOf, type ClusterIdentity } from './cluster-identity.ts'

const image = 'registry:2'
const port = 5000
const user = 'homeport'
const folder = 'etc/homeport-registry'
const configFile = `/${folder}/config.yml`
/** If it does not answer by then, the check that follows says so. */
const startTimeout_ms = 10_000
const answerTimeout_ms = 10_000
const garbageCollection_ms = 10 * 60_000

/** In JSON, which is YAML. */
const config = JSON.stringify({
  version: 0.1,
  log: { level: 'warn', accesslog: { disabled: true } },
  storage: { filesystem: { rootdirectory: '/var/lib/registry' }, delete: { enabled: true } },
  http: { addr: `:${port}`, tls: { certificate: `/${folder}/tls.crt`, key: `/${folder}/tls.key`, minimumtls: 'tls1.2' } },
  auth: { htpasswd: { realm: 'homeport', path: `/${folder}/htpasswd` } },
})

/**
 * A registry that Homeport runs on its own node, at the node's private address, with TLS by an authority of its own and a password. Docker restarts it, so
 * that nodes can pull while Homeport is away.
 */
export function createManagedRegistry(engine: DockerEngine, readIdentity: () => Promise<ClusterIdentity>): ClusterRegistry {
  const { clock = systemClock, log } = engine.options
  const name = engine.createName('registry')
  const hint = `It starts with the next deployment; docker logs ${name} shows why it ended. Running apps are not affected.`
  /** Garbage collection would remove layers of an image that is being pushed. */
  const inTurn = createConcurrencyLimit(1)
  let starting: Promise<void> | undefined

  const hostOf = ({ swarm }: SwarmConnection): string => `${formatHost(swarm.node_address)}:${port}`
  const getHost = async () => hostOf(await requireManager(engine))

  const start = async (): Promise<void> => {
    const manager = await requireManager(engine)
    const { docker } = manager
    const identity = await readIdentity()
    const wanted = createHash('sha256')
      .update([image, config, hostOf(manager), fingerprintOf(identity.authority.certificate)].join('\n'))
      .digest('hex')
    const found = await inspect(docker.getContainer(name))
    if (found?.Config.Labels['homeport.config'] === wanted && found.State.Running) return
    await useReadyImage(
      engine,
      { image, registries: { logins: [], uses_docker_login: true }, refreshes: 'none', signal: new AbortController().signal },
      { line() {}, note() {} },
    )
    if (found) await removeContainer(docker.getContainer(name))
    await createContainer(manager, identity, wanted)
    log.info('cluster_registry_started', { host: hostOf(manager) })
  }
  const ensureStarted = () => (starting ??= start().finally(() => (starting = undefined)))
  const check = async () => checkAnswers(await getHost(), hint)

  const createContainer = async (manager: SwarmConnection, identity: ClusterIdentity, wanted: string): Promise<void> => {
    const { docker, swarm } = manager
    const { certificate, key } = createRegistryCertificate(identity, swarm.node_address, clock.now())
    const htpasswd = `${user}:${await bcrypt.hash(identity.registry_password, 10)}\n`
    await docker.createVolume({ Name: name, Labels: engine.createLabels('registry') })
    const container = await docker.createContainer({
      name,
      Image: image,
      Entrypoint: ['registry'],
      Cmd: ['serve', configFile],
      Labels: engine.createLabels('registry', { 'homeport.config': wanted }),
      ExposedPorts: { [`${port}/tcp`]: {} },
      HostConfig: {
        PortBindings: { [`${port}/tcp`]: [{ HostIp: swarm.node_address, HostPort: String(port) }] },
        Mounts: [{ Type: 'volume', Source: name, Target: '/var/lib/registry' }],
        RestartPolicy: { Name: 'unless-stopped' },
        CapDrop: ['ALL'],
        SecurityOpt: ['no-new-privileges'],
        LogConfig: { Type: 'json-file', Config: { 'max-size': '10m', 'max-file': '2' } },
      },
    })
    try {
      await putFiles(container, {
        [`${folder}/config.yml`]: config,
        [`${folder}/tls.crt`]: certificate,
        [`${folder}/tls.key`]: key,
        [`${folder}/htpasswd`]: htpasswd,
      })
      await trustAuthority(docker, hostOf(manager), identity.authority.certificate)
      await container.start()
      await waitUntilReady()
    } catch (error) {
      await removeContainer(container)
      if (!/port is already allocated|address already in use/i.test(String(error))) throw error
      throw new BuildFailure(
        'start_failed',
        `The registry of the swarm did not start, because another program uses its port, ${hostOf(manager)}.`,
        'Free the port, or name a registry of your own with HOMEPORT_REGISTRY (homeport help cluster).',
        error,
      )
    }
  }

  /** Docker reads the authorities of a registry from a folder of its machine, which only root can write. A container that never starts gets it there. */
  const trustAuthority = async (docker: Docker, host: string, certificate: string): Promise<void> => {
    // One that a crash has left has the same name.
    await removeContainer(docker.getContainer(`${name}-trust`))
    const container = await docker.createContainer({
      name: `${name}-trust`,
      Image: image,
      Labels: engine.createLabels('registry'),
      HostConfig: { NetworkMode: 'none', Binds: ['/etc/docker:/docker'] },
    })
    try {
      await putFiles(container, { [`docker/certs.d/${host}/ca.crt`]: certificate })
    } finally {
      await removeContainer(container)
    }
  }

  /** Sends a request with the password; resolves with the status. */
  const ask = async (method: string, path: string): Promise<number> => {
    const [host, identity] = await Promise.all([getHost(), readIdentity()])
    const { certificate: ca } = identity.authority
    return new Promise((resolve, reject) => {
      const sent = request(`https://${host}/v2/${path}`, { method, ca, auth: `${user}:${identity.registry_password}`, timeout: answerTimeout_ms })
      sent.once('response', (answer) => resolve(answer.resume().statusCode ?? 0))
      sent.once('timeout', () => sent.destroy(new Error('The registry did not answer.')))
      sent.once('error', reject)
      sent.end()
    })
  }

  const waitUntilReady = async (): Promise<void> => {
    const deadline = systemClock.monotonic() + startTimeout_ms
    while ((await ask('GET', '').catch(() => 0)) !== 200 && systemClock.monotonic() < deadline) await sleep(systemClock, 50)
  }

  const removeManifest = async (repository: string, digest: string): Promise<void> => {
    const status = await ask('DELETE', `${repository}/manifests/${digest}`)
    if (status !== 202 && status !== 404) throw new Error(`The registry answered ${status} to the removal of an image.`)
  }

  return {
    getHost,
    getPrefix: getHost,
    async getLogin() {
      const { registry_password } = await readIdentity()
      return { username: user, password: registry_password, serveraddress: await getHost() }
    },
    check,
    async start() {
      await ensureStarted()
      await check()
    },
    whilePushing: inTurn,
    async discard(names) {
      const manager = await requireManager(engine)
      const host = hostOf(manager)
      const own = names.filter((one) => one.startsWith(`${host}/`))
      const container = manager.docker.getContainer(name)
      if (own.length === 0 || !(await inspect(container))) return
      for (const one of own) {
        const [repository = '', digest = ''] = one.slice(host.length + 1).split('@')
        await removeManifest(repository, digest)
      }
      const { code, output } = await inTurn(new AbortController().signal, () =>
        execInContainer(container, ['registry', 'garbage-collect', configFile], garbageCollection_ms, systemClock),
      )
      if (code !== 0) log.warn('cluster_registry_not_collected', { code, output: output.slice(-500) })
    },
    async getReference() {
      await ensureStarted()
      return `${await getHost()}@sha256:${fingerprintOf((await readIdentity()).authority.certificate)}`
    },
  }
}

const inspect = (container: Docker.Container): Promise<Docker.ContainerInspectInfo | undefined> =>
  container.inspect().catch((error: unknown) => (getStatusCode(error) === 404 ? undefined : Promise.reject(error)))

/** Files that only root can read, by path. */
async function putFiles(container: Docker.Container, files: Record<string, string>): Promise<void> {
  const archive = pack()
  for (const [name, text] of Object.entries(files)) archive.entry({ name, mode: name.endsWith('ca.crt') ? 0o644 : 0o600 }, text)
  archive.finalize()
  await container.putArchive(Readable.from(archive, { objectMode: false }), { path: '/' })
}
