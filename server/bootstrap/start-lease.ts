import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile, rename, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { Problem } from '../contract/errors.ts'
import { createLease, type Lease, type LeaseMemory, type LeaseRecord } from '../maintenance/standby/lease.ts'
import type { DockerEngine } from '../runtime/docker/engine.ts'
import { BuildFailure } from '../runtime/runtime.ts'
import { createSwarmRecord } from '../runtime/swarm/swarm-lease.ts'
import type { PlatformContext } from './context.ts'

const fileName = 'lease.json'

interface LeaseFile {
  /** Of this data folder: the name of its machine, a dot and eight hexadecimal digits. It is not in the database, which a standby copies. */
  holder: string
  had_standby: boolean
}

/** What a data folder remembers about its lease. */
export async function openLeaseMemory(data_dir: string): Promise<LeaseMemory & { holder: string }> {
  const path = join(data_dir, fileName)
  const write = async (content: LeaseFile): Promise<LeaseFile> => {
    await writeFile(`${path}.new`, JSON.stringify(content), { mode: 0o600, flush: true })
    await rename(`${path}.new`, path)
    return content
  }
  const text = await readFile(path, 'utf8').catch(() => undefined)
  const { holder, had_standby } =
    text === undefined
      ? await write({ holder: `${hostname()}.${randomBytes(4).toString('hex')}`, had_standby: false })
      : (JSON.parse(text) as LeaseFile)
  return { holder, had_standby, remember: async (hasStandby) => void (await write({ holder, had_standby: hasStandby })) }
}

/** Whether a data folder has led a swarm, or followed one that does. */
export const hasLeaseMemory = (data_dir: string): boolean => existsSync(join(data_dir, fileName))

/** The record of who leads a swarm. */
export const createLeaseStore = (docker: DockerEngine) => createSwarmRecord<LeaseRecord>(docker)

/** Leads the swarm with this instance, or throws if another does. */
export async function startLease({ data_dir, clock, log, onClose }: PlatformContext, docker: DockerEngine): Promise<Lease> {
  const { holder, ...memory } = await openLeaseMemory(data_dir)
  const lease = createLease({ store: createLeaseStore(docker), holder, name: hostname(), clock, log, memory })
  await lease.start()
  onClose(() => lease.close())
  return lease
}

/** For what would change the instance by its API. */
export function assertWritable(lease: Lease | undefined): void {
  if (lease && !lease.isHeld())
    throw new Problem(
      'runtime_unavailable',
      'This instance does not lead the cluster at the moment, so nothing can be changed here. Apps are not affected. homeport doctor shows which managers of the cluster answer.',
      { retry_after_s: 5 },
    )
}

export const withoutCluster = 'This instance was started without a cluster.'

/** For what would change the swarm. Without a lease this instance started as one of no cluster, so that another may lead this one. */
export function assertLeading(lease: Lease | undefined): void {
  if (!lease) throw new BuildFailure('runtime_unavailable', withoutCluster, 'Restart it with --runtime swarm (homeport help cluster).')
  if (!lease.isHeld())
    throw new BuildFailure(
      'runtime_unavailable',
      'This instance does not lead the cluster at the moment: its managers do not agree, or a standby has taken over.',
      'homeport doctor shows which managers answer.',
    )
}
