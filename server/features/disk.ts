import type { OperationHandlers } from './context.ts'
import type { FeatureDeps } from './deps.ts'

export function createDiskHandlers(deps: FeatureDeps): Pick<OperationHandlers, 'getDisk' | 'cleanDisk'> {
  return {
    getDisk: async () => deps.disk.measure(),
    cleanDisk: async (_context, { body }) => deps.disk.clean(body.kinds),
  }
}
