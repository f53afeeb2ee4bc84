import { createSecureContext, getCACertificates, rootCertificates, type SecureContext } from 'node:tls'

let context: SecureContext | undefined

/**
 * Whom an HTTPS connection to another instance is believed: the public authorities, those of NODE_EXTRA_CA_CERTS, and those that this
 * system trusts, as its browsers do. Made once, at the first such connection.
 */
export const trusted = (): SecureContext => (context ??= createSecureContext({ ca: [...new Set([...read('default'), ...read('system')])] }))

function read(kind: 'default' | 'system'): readonly string[] {
  try {
    return getCACertificates(kind)
  } catch {
    // A Node inside a desktop shell may know no store of the system.
    return kind === 'default' ? rootCertificates : []
  }
}
