import type { Handlers } from '../contract/index.ts'
import type { OperationContext } from './context.ts'
import type { FeatureDeps } from './deps.ts'

type HttpsHandlers = Pick<Handlers<OperationContext>, 'getHttps' | 'trustAuthority' | 'removeAuthority' | 'getHostsFile'>

export function createHttpsHandlers({ localHttps: names }: FeatureDeps): HttpsHandlers {
  return {
    async getHttps() {
      return { https: await names.getHttpsStatus() }
    },
    async trustAuthority() {
      const messages = await names.trustAuthority()
      return { https: await names.getHttpsStatus(), messages }
    },
    async removeAuthority() {
      const messages = await names.removeAuthority()
      return { https: await names.getHttpsStatus(), messages }
    },
    async getHostsFile() {
      return { hosts_file: await names.getHostsFileStatus() }
    },
  }
}
