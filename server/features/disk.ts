import type { Handlers } from '../contract/index.ts'
import type { Context } from './context.ts'
import type { FeatureDeps } from './deps.ts'

export function createDiskHandlers(deps: FeatureDeps): Pick<Handlers<Context>, 'getDisk' | 'cleanDisk'> {
  return {
    getDisk: async () => deps.disk.use(),
    cleanDisk: async (_context, { body }) => deps.disk.clean(body.kinds),
  }
}
