import type { DoctorCheck } from '../contract/instance.ts'
import type { ReplicationSource } from '../maintenance/standby/replication-source.ts'
import type { Lease } from '../maintenance/standby/lease.ts'

const name = 'standby'

/** Whether this instance leads its cluster, and whether the standby that would take over is in step. None without a lease and a standby. */
export function checkStandbys(
  lease: Pick<Lease, 'isHeld' | 'standby'> | undefined,
  replication: Pick<ReplicationSource, 'listStandbys'>,
): DoctorCheck[] {
  if (lease && !lease.isHeld())
    return [
      {
        name,
        status: 'failed',
        message: 'This instance does not lead its cluster at the moment, so nothing can be changed. Apps are not affected.',
        hint: 'It leads again when most managers of the cluster answer. If a standby has taken over, use that one.',
      },
    ]
  const successor = lease?.standby() ?? null
  const standbys = replication.listStandbys()
  const names = standbys.map((one) => toMachineName(one.name)).join(', ')
  if (successor === null)
    return standbys.length === 0
      ? []
      : [{ name, status: 'ok', message: `These standbys copy this instance, and none of them takes over: ${names}.`, hint: null }]
  const next = standbys.find((one) => one.name === successor)
  if (next?.is_synced)
    return [{ name, status: 'ok', message: `${toMachineName(successor)} is in step, and takes over if this instance stops responding.`, hint: null }]
  return [
    {
      name,
      status: 'warning',
      message: `The standby ${toMachineName(successor)} ${next ? 'is not in step' : 'does not follow this instance'}, so it would not take over.`,
      hint: 'Start it again there: homeport standby --of URL. Its output says why it does not follow.',
    },
  ]
}

/** The id of a data folder begins with the name of its machine. */
export const toMachineName = (id: string): string => id.replace(/\.[0-9a-f]{8}$/, '')
