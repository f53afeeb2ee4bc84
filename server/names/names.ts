import type { Check } from '../contract/instance.ts'
import type { HostsFileStatus, HttpsStatus } from '../contract/network.ts'

/** HTTPS on local names, and what this machine makes of the names themselves. */
export interface Names {
  https(): Promise<HttpsStatus>
  /** Puts the authority into every trust store that lets us; resolves with a sentence for each. */
  trust(): Promise<string[]>
  /** Takes it out of all of them and destroys its key; the next handshake makes another. */
  remove(): Promise<string[]>
  hostsFile(): Promise<HostsFileStatus>
  /** The setting `hosts_file` has changed: what it says is done when this resolves. */
  followSetting(): Promise<void>
  /** What the doctor says of names and certificates. */
  checks(): Promise<Check[]>
}
