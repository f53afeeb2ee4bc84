import type { Handlers } from '../contract/index.ts'
import type { OperationContext } from './context.ts'
import type { FeatureDeps } from './deps.ts'

export function createDiskHandlers(deps: FeatureDeps): Pick<Handlers<OperationContext>, 'getDisk' | 'cleanDisk'> {
  return {
    getDisk: async () => deps.disk.measure(),
    cleanDisk: async (_context, { body }) => deps.disk.clean(body.kinds),
  }
}
