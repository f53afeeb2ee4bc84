import type { DoctorCheck } from '../contract/instance.ts'
import type { HostsFileStatus, HttpsStatus } from '../contract/network.ts'

/** HTTPS on local names, and what this machine makes of the names themselves. */
export interface LocalHttps {
  getHttpsStatus(): Promise<HttpsStatus>
  /** Puts the authority into every trust store that lets us; resolves with a sentence for each. */
  trustAuthority(): Promise<string[]>
  /** Takes it out of all of them and destroys its key; the next handshake makes another. */
  removeAuthority(): Promise<string[]>
  getHostsFileStatus(): Promise<HostsFileStatus>
  /** The setting `hosts_file` has changed: what it says is done when this resolves. */
  applyHostsFileSetting(): Promise<void>
  /** What the doctor says of names and certificates. */
  runChecks(): Promise<DoctorCheck[]>
}
