import type { OperationHandlers } from './context.ts'
import type { FeatureDeps } from './deps.ts'

type HttpsHandlers = Pick<OperationHandlers, 'getHttps' | 'getPublicNames' | 'trustAuthority' | 'removeAuthority' | 'getHostsFile'>

export function createHttpsHandlers({ localHttps, publicNames }: FeatureDeps): HttpsHandlers {
  return {
    async getHttps() {
      return { https: await localHttps.getHttpsStatus() }
    },
    async getPublicNames() {
      return { public_names: publicNames.status() }
    },
    async trustAuthority() {
      const messages = await localHttps.trustAuthority()
      return { https: await localHttps.getHttpsStatus(), messages }
    },
    async removeAuthority() {
      const messages = await localHttps.removeAuthority()
      return { https: await localHttps.getHttpsStatus(), messages }
    },
    async getHostsFile() {
      return { hosts_file: await localHttps.getHostsFileStatus() }
    },
  }
}
