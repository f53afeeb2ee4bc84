import type { DoctorCheck } from '../contract/instance.ts'
import type { HostsFileStatus, HttpsStatus } from '../contract/network.ts'

/** HTTPS on local names, and how this machine resolves these names. */
export interface LocalHttps {
  getHttpsStatus(): Promise<HttpsStatus>
  /** Adds the authority to every writable trust store. Resolves with a message for each. */
  trustAuthority(): Promise<string[]>
  /** Removes the authority from all stores and destroys its key. The next handshake creates a new authority. */
  removeAuthority(): Promise<string[]>
  getHostsFileStatus(): Promise<HostsFileStatus>
  /** Applies the setting `hosts_file` and resolves when this is done. */
  applyHostsFileSetting(): Promise<void>
  /** The doctor's checks of names and certificates. */
  runChecks(): Promise<DoctorCheck[]>
}
