import { createSecureContext, getCACertificates, rootCertificates, type SecureContext } from 'node:tls'

let context: SecureContext | undefined

/**
 * Whom an HTTPS connection to another instance is believed: the public authorities, those of NODE_EXTRA_CA_CERTS, and those that this
 * system trusts, as its browsers do. Made once, at the first such connection.
 */
export const getTrustedContext = (): SecureContext =>
  (context ??= createSecureContext({ ca: [...new Set([...readCertificates('default'), ...readCertificates('system')])] }))

function readCertificates(kind: 'default' | 'system'): readonly string[] {
  try {
    return getCACertificates(kind)
  } catch {
    // A Node inside a desktop shell may know no store of the system.
    return kind === 'default' ? rootCertificates : []
  }
}
