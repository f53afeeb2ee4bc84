import type { HostsFileStatus, HttpsStatus } from '../contract/network.ts'

/** Whether a certificate store of this machine takes our authority, and what a person runs when we may not change it. */
export type TrustState = HttpsStatus['trust'][number]

/** HTTPS on local names, and what this machine makes of the names themselves. */
export interface Names {
  https(): Promise<HttpsStatus>
  /** Puts the authority into every trust store that lets us; resolves with a sentence for each. */
  trust(): Promise<string[]>
  /** Takes it out of all of them and destroys its key; the next handshake makes another. */
  remove(): Promise<string[]>
  hostsFile(): Promise<HostsFileStatus>
}
