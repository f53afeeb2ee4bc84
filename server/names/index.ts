import type { Names } from './names.ts'

export type { Names } from './names.ts'

export function createNames(options: { httpsUrl(): string | null }): Names {
  return {
    https: async () => ({ edge_https_url: options.httpsUrl(), authority: null, trust: [] }),
    trust: async () => [],
    remove: async () => [],
    hostsFile: async () => ({ path: '', in_sync: true, writable: false, block: '', command: null }),
  }
}
