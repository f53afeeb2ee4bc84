import { createHash } from 'node:crypto'
import type Docker from 'dockerode'
import type { PostgresVersion } from '../contract/postgres-versions.ts'
import type { DockerEngine } from '../runtime/docker/engine.ts'
import { getStatusCode } from '../runtime/docker/errors.ts'
import { DatabaseUnavailableError } from './database-server.ts'
import { formatAccessRules, serverSettings } from './provision.ts'

export interface ContainerOptions {
  form: ContainerForm
  engine: DockerEngine
  docker: Docker
  /** Called with a message during a long operation. */
  onProgress(message: string): void
  /** Aborts waiting for an image. */
  signal: AbortSignal
}

/** The differences between the servers of two major versions. */
export interface ContainerForm {
  /** Of the container and its volume. */
  name: string
  /** The official image. */
  image: string
  bin_folder: string
  /** A folder that the user postgres owns in the image, so that a new volume is owned by it. */
  volume_target: string
  entrypoint_script: string
  /** Of the configuration; a container of an earlier version of Homeport is recreated with its volume. */
  digest: string
}

export const postgresPort = 5432
const memory_bytes = 1024 ** 3
const maxProcesses = 512
/**
 * The script that runs in the container, as the user postgres. The data folder gets its final name only when it is complete. The superuser can
 * connect only through the socket, as the system's own user, and has no password.
 */
const createEntrypointScript = (binFolder: string, volumeTarget: string) => `set -e
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

/** The names of version 15 date from before other versions existed. */
export function createContainerForm(engine: DockerEngine, version: PostgresVersion): ContainerForm {
  const image = `postgres:${version}-bookworm`
  const bin_folder = `/usr/lib/postgresql/${version}/bin`
  // Images from 18 on declare the folder above as their volume.
  const volume_target = version === 15 ? '/var/lib/postgresql/data' : '/var/lib/postgresql'
  const entrypoint_script = createEntrypointScript(bin_folder, volume_target)
  const digest = createHash('sha256').update(`${image}\n${entrypoint_script}\n1`).digest('hex').slice(0, 16)
  return { name: engine.createName(getServerName(version)), image, bin_folder, volume_target, entrypoint_script, digest }
}

export const getServerName = (version: PostgresVersion): string => (version === 15 ? 'databases' : `databases-${version}`)

export async function createDatabaseContainer(options: ContainerOptions, hostPort: number): Promise<void> {
  const { engine, docker, form } = options
  const { name } = form
  await pullImage(options)
  await docker.createVolume({ Name: name, Labels: engine.createLabels('database') })
  await docker.createContainer({
    Image: form.image,
    name,
    User: 'postgres',
    Entrypoint: ['/bin/sh', '-c', form.entrypoint_script],
    Cmd: [],
    Env: ['LANG=C.UTF-8'],
    Labels: engine.createLabels('database', { 'homeport.form': form.digest }),
    ExposedPorts: { [`${postgresPort}/tcp`]: {} },
    // Fast shutdown: sessions end without data loss.
    StopSignal: 'SIGINT',
    Healthcheck: { Test: ['CMD', `${form.bin_folder}/pg_isready`, '-q', '-h', '/tmp'], Interval: 30e9, Timeout: 5e9, Retries: 3, StartPeriod: 60e9 },
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
      Mounts: [{ Type: 'volume', Source: name, Target: form.volume_target }],
      LogConfig: { Type: 'json-file', Config: { 'max-size': '10m', 'max-file': '2' } },
    },
  })
}

async function pullImage({ engine, docker, form: { image }, onProgress, signal }: ContainerOptions): Promise<void> {
  const isPulled = await docker
    .getImage(image)
    .inspect()
    .then(
      () => true,
      (error: unknown) => (getStatusCode(error) === 404 ? false : Promise.reject(error)),
    )
  if (isPulled) return
  onProgress(`Pulling the image ${image}.`)
  engine.options.log.info('database_image_pulled', { image })
  try {
    const stream = await docker.pull(image, { abortSignal: signal, ...(await engine.getPullOptions(image)) })
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
