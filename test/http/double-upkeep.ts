/** Handlers of disk and backups, for the double: they answer in the contract's shapes. */
import type { Handlers } from '../../server/contract/index.ts'
import type { Context } from '../../server/features/context.ts'

type UpkeepHandlers = Pick<Handlers<Context>, 'getDisk' | 'cleanDisk'>

export function createUpkeepHandlers(): UpkeepHandlers {
  return {
    getDisk: async () => ({ kinds: [], total_bytes: 0, data_dir: '/data', free_bytes: 0 }),
    cleanDisk: async () => ({ freed: [], freed_bytes: 0 }),
  }
}
