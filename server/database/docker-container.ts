import { createHash } from 'node:crypto'
import type Docker from 'dockerode'
import type { DockerEngine } from '../runtime/docker/engine.ts'
import { getStatusCode } from '../runtime/docker/errors.ts'
import { DatabaseUnavailableError } from './database-server.ts'
import { formatAccessRules, serverSettings } from './provision.ts'

export interface ContainerOptions {
  engine: DockerEngine
  docker: Docker
  /** Called with a message about a long operation. */
  onProgress(message: string): void
  /** Aborts waiting for an image. */
  signal: AbortSignal
}

/** The official image, version 15 as in the embedded server, so that dumps work on both. */
const image = 'postgres:15-bookworm'
export const binFolder = '/usr/lib/postgresql/15/bin'
const volumeTarget = '/var/lib/postgresql/data'
export const postgresPort = 5432
const memory_bytes = 1024 ** 3
const maxProcesses = 512
/**
 * The script that runs in the container, as the user postgres. The data folder gets its final name only when it is complete. The superuser can
 * connect only through the socket, as the system's own user, and has no password.
 */
const entrypointScript = `set -e
data=${volumeTarget}/cluster
if [ ! -e "$data" ]; then
  rm -rf "$data.new"
  ${binFolder}/initdb --pgdata="$data.new" --username=postgres --auth=reject --encoding=UTF8 --locale=C.UTF-8 >/dev/null
  mv "$data.new" "$data"
fi
cat >"$data/pg_hba.conf" <<'END'
${formatAccessRules('local all postgres peer')}END
exec ${binFolder}/postgres -D "$data" -k /tmp -c listen_addresses='*' ${Object.entries(serverSettings)
  .map(([key, value]) => `-c ${key}=${value}`)
  .join(' ')}
`

/** The configuration of a container; a container of an earlier version of Homeport is recreated with its volume. */
export const containerDigest = createHash('sha256').update(`${image}\n${entrypointScript}\n1`).digest('hex').slice(0, 16)

export async function createDatabaseContainer(options: ContainerOptions, hostPort: number): Promise<void> {
  const { engine, docker } = options
  const name = engine.createName('databases')
  await pullImage(options)
  await docker.createVolume({ Name: name, Labels: engine.createLabels('database') })
  await docker.createContainer({
    Image: image,
    name,
    User: 'postgres',
    Entrypoint: ['/bin/sh', '-c', entrypointScript],
    Cmd: [],
    Env: ['LANG=C.UTF-8'],
    Labels: engine.createLabels('database', { 'homeport.form': containerDigest }),
    ExposedPorts: { [`${postgresPort}/tcp`]: {} },
    // Fast shutdown: sessions end without data loss.
    StopSignal: 'SIGINT',
    Healthcheck: { Test: ['CMD', `${binFolder}/pg_isready`, '-q', '-h', '/tmp'], Interval: 30e9, Timeout: 5e9, Retries: 3, StartPeriod: 60e9 },
    HostConfig: {
      Memory: memory_bytes,
      MemorySwap: memory_bytes,
      PidsLimit: maxProcesses,
      ShmSize: 256 * 2 ** 20,
      CapDrop: ['ALL'],
      SecurityOpt: ['no-new-privileges'],
      Privileged: false,
      ReadonlyRootfs: true,
      Tmpfs: { '/tmp': 'rw,nosuid,nodev,noexec,size=64m,mode=1777' },
      RestartPolicy: { Name: 'unless-stopped' },
      NetworkMode: await engine.ensureNetwork(),
      PortBindings: { [`${postgresPort}/tcp`]: [{ HostIp: '127.0.0.1', HostPort: String(hostPort) }] },
      Mounts: [{ Type: 'volume', Source: name, Target: volumeTarget }],
      LogConfig: { Type: 'json-file', Config: { 'max-size': '10m', 'max-file': '2' } },
    },
  })
}

async function pullImage({ engine, docker, onProgress, signal }: ContainerOptions): Promise<void> {
  const isPulled = await docker
    .getImage(image)
    .inspect()
    .then(
      () => true,
      (error: unknown) => (getStatusCode(error) === 404 ? false : Promise.reject(error)),
    )
  if (isPulled) return
  onProgress(`Pulling the image ${image}.`)
  engine.options.log.info('database_image_fetched', { image })
  try {
    const stream = await docker.pull(image, { abortSignal: signal })
    const layers = new Map<string, { current: number; total: number }>()
    await new Promise<void>((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true })
      docker.modem.followProgress(
        stream,
        (error) => (error ? reject(error) : resolve()),
        ({ id, status, progressDetail }: { id?: string; status?: string; progressDetail?: { current?: number; total?: number } }) => {
          if (!id || status !== 'Downloading' || !progressDetail?.total) return
          layers.set(id, { current: progressDetail.current ?? 0, total: progressDetail.total })
          const sum = (key: 'current' | 'total') => [...layers.values()].reduce((all, layer) => all + layer[key], 0)
          onProgress(`Pulling the image ${image}: ${Math.round((100 * sum('current')) / sum('total'))} %.`)
        },
      )
    })
  } catch (error) {
    throw new DatabaseUnavailableError(
      `The image ${image} could not be pulled.`,
      'Check that the Docker registry can be reached, then try again.',
      error,
    )
  }
}
