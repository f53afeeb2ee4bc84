import type { Handlers } from '../contract/index.ts'
import type { Context } from './context.ts'
import type { FeatureDeps } from './deps.ts'

type HttpsHandlers = Pick<Handlers<Context>, 'getHttps' | 'trustAuthority' | 'removeAuthority' | 'getHostsFile'>

export function createHttpsHandlers({ names }: FeatureDeps): HttpsHandlers {
  return {
    async getHttps() {
      return { https: await names.https() }
    },
    async trustAuthority() {
      const messages = await names.trust()
      return { https: await names.https(), messages }
    },
    async removeAuthority() {
      const messages = await names.remove()
      return { https: await names.https(), messages }
    },
    async getHostsFile() {
      return { hosts_file: await names.hostsFile() }
    },
  }
}
