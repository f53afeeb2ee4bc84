import { cpus, freemem, totalmem } from 'node:os'
import { countProjectsByStatus } from '../store/projects.ts'
import type { OperationHandlers } from './context.ts'
import type { FeatureDeps } from './deps.ts'

export function createInstanceUsageHandlers({ store }: FeatureDeps): Pick<OperationHandlers, 'getInstanceUsage'> {
  const readCpu = createCpuMeter()
  return {
    async getInstanceUsage() {
      const rows = await store.db.read((tx) => countProjectsByStatus(tx))
      const count = (...statuses: string[]) => rows.filter(({ status }) => statuses.includes(status)).reduce((sum, row) => sum + row.count, 0)
      const asleep = rows.filter(({ status, is_cold }) => status === 'live' && is_cold === 1).reduce((sum, row) => sum + row.count, 0)
      return {
        cpu: readCpu(),
        memory: { used_bytes: totalmem() - freemem(), total_bytes: totalmem() },
        apps: { live: count('live') - asleep, asleep, failed: count('failed', 'crashed'), total: rows.reduce((sum, row) => sum + row.count, 0) },
      }
    },
  }
}

/** The load of all cores between two readings; of the first reading, since the machine started. */
function createCpuMeter(): () => { percent: number; cores: number } {
  let before = { busy: 0, all: 0 }
  return () => {
    const cores = cpus()
    const now = { busy: 0, all: 0 }
    for (const { times } of cores) {
      const all = times.user + times.nice + times.sys + times.idle + times.irq
      now.all += all
      now.busy += all - times.idle
    }
    const all = now.all - before.all
    const percent = all > 0 ? ((now.busy - before.busy) / all) * 100 : 0
    before = now
    return { percent: Math.round(Math.min(100, Math.max(0, percent)) * 10) / 10, cores: cores.length }
  }
}
