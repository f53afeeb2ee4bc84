import { createSecureContext, getCACertificates, rootCertificates, type SecureContext } from 'node:tls'

let context: SecureContext | undefined

/**
 * The authorities trusted for HTTPS connections to other instances: the public ones, those of NODE_EXTRA_CA_CERTS, and those of the system, as in its
 * browsers. Created with the first such connection.
 */
export const getTrustedContext = (): SecureContext =>
  (context ??= createSecureContext({ ca: [...new Set([...readCertificates('default'), ...readCertificates('system')])] }))

function readCertificates(kind: 'default' | 'system'): readonly string[] {
  try {
    return getCACertificates(kind)
  } catch {
    // Node inside Electron may not have access to the system's store.
    return kind === 'default' ? rootCertificates : []
  }
}
