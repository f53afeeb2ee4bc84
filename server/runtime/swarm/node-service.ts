import { createHash } from 'node:crypto'
import type Docker from 'dockerode'
import { systemClock } from '../../lib/clock.ts'
import type { CertificateWithKey } from '../../tls/certificate.ts'
import type { DockerEngine } from '../docker/engine.ts'
import { ensureBaseImage } from '../docker/images.ts'
import { fingerprintOf, type ClusterIdentity } from './cluster-identity.ts'
import type { SharedImages } from './shared-images.ts'

/** Certificates of programs on nodes are valid for 60 days. */
const renewal_ms = 30 * 86_400_000

/** A program of Homeport that the swarm runs on other nodes, in the base image of Node. */
export interface NodeProgram {
  /** Also the value of the label `homeport.role`. */
  role: 'agent' | 'edge'
  /** Of the service. */
  name: string
  /** A change restarts it, as does a renewal of its certificate. */
  version: string
  /** Asked before a restart. */
  claimRestart?: () => boolean
  createCertificate(identity: ClusterIdentity, now: number): CertificateWithKey
  /** The text of its secret, which is at `/run/secrets/{role}`. */
  createSecret(certificate: CertificateWithKey, identity: ClusterIdentity): string
  createSpec(): Promise<NodeProgramSpec>
}

interface NodeProgramSpec {
  container: Docker.ContainerSpec
  resources: Docker.ResourceRequirements
  /** Ids of networks, or names of those of the engine. */
  networks: string[]
  constraint: string
  /** On all nodes that the constraint allows; otherwise on one. */
  is_global: boolean
  ports: number[]
  /** An update starts the new task before it ends the old one. */
  is_started_first?: boolean
}

interface NodeProgramDeps {
  images: Pick<SharedImages, 'share'>
  readIdentity: () => Promise<ClusterIdentity>
}

/** Starts a program as a service, or renews it. Returns what it did; null: nothing was to be done. */
export async function applyNodeService(
  engine: DockerEngine,
  { images, readIdentity }: NodeProgramDeps,
  program: NodeProgram,
): Promise<'created' | 'updated' | null> {
  const { docker } = await engine.connection()
  const { clock = systemClock } = engine.options
  const { role, name } = program
  const identity = await readIdentity()
  const found = await findService(docker, name)
  const base = await ensureBaseImage(engine, '24', () => {}, {
    registries: { logins: [], uses_docker_login: true },
    signal: new AbortController().signal,
  })
  const { Id } = await docker.getImage(base).inspect()
  const config = createHash('sha256')
    .update([program.version, Id, fingerprintOf(identity.authority.certificate)].join('\n'))
    .digest('hex')
  const own = found?.Spec?.Labels ?? {}
  if (own['homeport.config'] === config && Number(own['homeport.renewal']) > clock.now()) return null
  if (found && program.claimRestart?.() === false) return null
  const { image, authconfig } = await images.share({
    artifact: { kind: 'image', image: base, id: Id, port: null, bytes: 0 },
    signal: new AbortController().signal,
  })
  await removeOldSecrets(engine, docker, program)
  const now = clock.now()
  const data = program.createSecret(program.createCertificate(identity, now), identity)
  const secretName = `${name}-${createHash('sha256').update(data).digest('hex').slice(0, 12)}`
  const { id: SecretID } = (await docker.createSecret({
    Name: secretName,
    Labels: engine.createLabels(role),
    Data: Buffer.from(data).toString('base64'),
  })) as { id: string }
  const { container, resources, networks, constraint, is_global, ports, is_started_first = false } = await program.createSpec()
  const spec: Docker.ServiceSpec = {
    Name: name,
    Labels: { ...engine.createLabels(role), 'homeport.config': config, 'homeport.renewal': String(now + renewal_ms) },
    TaskTemplate: {
      ContainerSpec: {
        Image: image,
        Labels: engine.createLabels(role),
        User: '0:0',
        ReadOnly: true,
        Init: true,
        CapabilityDrop: ['ALL'],
        Privileges: { NoNewPrivileges: true } as Docker.Privileges,
        Secrets: [{ SecretID, SecretName: secretName, File: { Name: role, UID: '0', GID: '0', Mode: 0o400 } }],
        ...container,
      },
      Resources: resources,
      RestartPolicy: { Condition: 'any', Delay: 5e8 },
      Placement: { Constraints: [constraint] },
      Networks: networks.map((Target) => ({ Target })),
      LogDriver: { Name: 'json-file', Options: { 'max-size': '1m', 'max-file': '1' } },
    },
    UpdateConfig: { Parallelism: 1, Order: is_started_first ? 'start-first' : 'stop-first' },
    Mode: is_global ? { Global: {} } : { Replicated: { Replicas: 1 } },
    EndpointSpec: { Mode: 'dnsrr', Ports: ports.map((TargetPort) => ({ Protocol: 'tcp', TargetPort, PublishMode: 'host' })) },
  }
  if (found) await docker.getService(found.ID).update({ ...spec, authconfig, version: found.Version?.Index })
  else if (authconfig) await docker.createService(authconfig, spec)
  else await docker.createService(spec)
  return found ? 'updated' : 'created'
}

async function findService(docker: Docker, name: string): Promise<Docker.Service | undefined> {
  // The filter also finds names that begin so.
  const services = await docker.listServices({ filters: JSON.stringify({ name: [name] }) })
  return services.find(({ Spec }) => Spec?.Name === name)
}

/** All but the newest, which the task may still have. */
async function removeOldSecrets(engine: DockerEngine, docker: Docker, { role, name }: NodeProgram): Promise<void> {
  const secrets = await docker.listSecrets({ filters: JSON.stringify(engine.createOwnFilters({ 'homeport.role': role })) })
  const own = secrets.filter(({ Spec }) => Spec?.Name?.startsWith(`${name}-`))
  for (const { ID } of own.toSorted((a, b) => ((a.CreatedAt ?? '') < (b.CreatedAt ?? '') ? -1 : 1)).slice(0, -1))
    await docker
      .getSecret(ID)
      .remove()
      .catch(() => {})
}
