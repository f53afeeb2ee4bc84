import { createHash } from 'node:crypto'
import type Docker from 'dockerode'
import { type Engine, statusOf } from '../runtime/docker-engine.ts'
import { DatabaseUnavailable } from './database.ts'
import { accessRules, serverOptions } from './provision.ts'

export interface Making {
  engine: Engine
  docker: Docker
  /** Told what takes long, for people. */
  say(message: string): void
  /** Ends the wait for an image. */
  signal: AbortSignal
}

/** The official image; 15 as in the embedded server, so that a dump moves between the two. */
const image = 'postgres:15-bookworm'
export const programs = '/usr/lib/postgresql/15/bin'
const volumeTarget = '/var/lib/postgresql/data'
export const port = 5432
const memory_bytes = 1024 ** 3
const maxProcesses = 512
/**
 * The whole of what runs in the container, as the user postgres. The folder of the data gets its name only when it is complete.
 * The superuser comes in by the socket alone, as the system's own user: it has no password that anybody could read.
 */
const program = `set -e
data=${volumeTarget}/cluster
if [ ! -e "$data" ]; then
  rm -rf "$data.new"
  ${programs}/initdb --pgdata="$data.new" --username=postgres --auth=reject --encoding=UTF8 --locale=C.UTF-8 >/dev/null
  mv "$data.new" "$data"
fi
cat >"$data/pg_hba.conf" <<'END'
${accessRules('local all postgres peer')}END
exec ${programs}/postgres -D "$data" -k /tmp -c listen_addresses='*' ${Object.entries(serverOptions)
  .map(([key, value]) => `-c ${key}=${value}`)
  .join(' ')}
`

/** Of what a container was made; one of an earlier version of Homeport is made anew over its volume. */
export const form = createHash('sha256').update(`${image}\n${program}\n1`).digest('hex').slice(0, 16)

export async function makeContainer(making: Making, hostPort: number): Promise<void> {
  const { engine, docker } = making
  const name = engine.name('databases')
  await fetchImage(making)
  await docker.createVolume({ Name: name, Labels: engine.labels('database') })
  await docker.createContainer({
    Image: image,
    name,
    User: 'postgres',
    Entrypoint: ['/bin/sh', '-c', program],
    Cmd: [],
    Env: ['LANG=C.UTF-8'],
    Labels: engine.labels('database', { 'homeport.form': form }),
    ExposedPorts: { [`${port}/tcp`]: {} },
    // Fast shutdown: sessions end, nothing is lost.
    StopSignal: 'SIGINT',
    Healthcheck: { Test: ['CMD', `${programs}/pg_isready`, '-q', '-h', '/tmp'], Interval: 30e9, Timeout: 5e9, Retries: 3, StartPeriod: 60e9 },
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
      NetworkMode: await engine.network(),
      PortBindings: { [`${port}/tcp`]: [{ HostIp: '127.0.0.1', HostPort: String(hostPort) }] },
      Mounts: [{ Type: 'volume', Source: name, Target: volumeTarget }],
      LogConfig: { Type: 'json-file', Config: { 'max-size': '10m', 'max-file': '2' } },
    },
  })
}

async function fetchImage({ engine, docker, say, signal }: Making): Promise<void> {
  const isThere = await docker
    .getImage(image)
    .inspect()
    .then(
      () => true,
      (error: unknown) => (statusOf(error) === 404 ? false : Promise.reject(error)),
    )
  if (isThere) return
  say(`The image ${image} is being fetched.`)
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
          say(`The image ${image} is being fetched: ${Math.round((100 * sum('current')) / sum('total'))} %.`)
        },
      )
    })
  } catch (error) {
    throw new DatabaseUnavailable(`The image ${image} could not be fetched.`, 'Check that the Docker registry can be reached, then try again.', error)
  }
}
