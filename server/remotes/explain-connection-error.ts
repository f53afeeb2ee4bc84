/** Explains why a connection failed, in a sentence that says what to do. */
export function explainConnectionError(error: unknown, host: string): string {
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
  const known = messagesByCode[code]
  if (known) return `${host} ${known}`
  if (code.startsWith('ERR_SSL') || code === 'EPROTO')
    return `${host} did not answer with valid HTTPS on this port. Check the port, or whether the address should start with http://.`
  if (code.startsWith('HPE_') || code === 'ERR_HTTP_CONTENT_LENGTH_MISMATCH')
    return `${host} did not answer with valid HTTP, so it is not a Homeport instance. Check the address and the port.`
  return `${host} did not respond${code === '' ? '' : ` (${code})`}. Check the address and whether the instance is running.`
}

const untrustedCertificate =
  'has a certificate that this machine does not trust. Use a certificate from a public authority, or trust its authority on this system or in NODE_EXTRA_CA_CERTS and restart Homeport.'

const messagesByCode: Record<string, string> = {
  ENOTFOUND: 'could not be found. Check the address.',
  EAI_AGAIN: 'could not be resolved because the name server did not respond. Check this machine’s network connection.',
  ECONNREFUSED: 'refused the connection: nothing is listening on this port. Check the port and whether the instance is running.',
  ECONNRESET: 'closed the connection. Check the address and the port.',
  EPIPE: 'closed the connection. Try again.',
  ETIMEDOUT: 'did not respond in time. Check the address and any firewall in between.',
  EHOSTUNREACH: 'is not reachable from this machine. Check the network.',
  ENETUNREACH: 'is not reachable from this machine. Check the network.',
  HPE_HEADER_OVERFLOW: 'answered with more than 16 kB of headers, so it is not a Homeport instance. Check the address.',
  CERT_HAS_EXPIRED: 'has an expired certificate. Renew it on that machine.',
  CERT_NOT_YET_VALID: 'has a certificate that is not valid yet. Check this machine’s clock.',
  ERR_TLS_CERT_ALTNAME_INVALID: 'has a certificate for another name. Use the name in the certificate.',
  DEPTH_ZERO_SELF_SIGNED_CERT: untrustedCertificate,
  SELF_SIGNED_CERT_IN_CHAIN: untrustedCertificate,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrustedCertificate,
  UNABLE_TO_GET_ISSUER_CERT: untrustedCertificate,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrustedCertificate,
}
