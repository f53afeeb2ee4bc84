/** What became of a connection, in a sentence that says what to do. */
export function explainConnectionError(error: unknown, host: string): string {
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
  const known = messagesByCode[code]
  if (known) return `${host} ${known}`
  if (code.startsWith('ERR_SSL') || code === 'EPROTO')
    return `${host} does not speak HTTPS as it should at this port. Check the port, or whether the address begins with http://.`
  if (code.startsWith('HPE_') || code === 'ERR_HTTP_CONTENT_LENGTH_MISMATCH')
    return `${host} did not answer with HTTP in order, so it is no Homeport. Check the address and the port.`
  return `${host} does not answer${code === '' ? '' : ` (${code})`}. Check the address, and whether the instance is running.`
}

const untrustedCertificate =
  'has a certificate that this machine does not trust. Give it one of a public authority; or have this system trust its own authority, or name that in NODE_EXTRA_CA_CERTS, and start Homeport again.'

const messagesByCode: Record<string, string> = {
  ENOTFOUND: 'is a name that leads nowhere. Check the address.',
  EAI_AGAIN: 'could not be looked up: the name server does not answer. Check the network of this machine.',
  ECONNREFUSED: 'refuses the connection: nothing listens there. Check the port, and whether the instance is running.',
  ECONNRESET: 'cut the connection off. Check the address and the port.',
  EPIPE: 'cut the connection off. Try again.',
  ETIMEDOUT: 'did not answer in time. Check the address, and whether a firewall is between.',
  EHOSTUNREACH: 'cannot be reached from this machine. Check the network.',
  ENETUNREACH: 'cannot be reached from this machine. Check the network.',
  HPE_HEADER_OVERFLOW: 'answers with headers of more than 16 kB, so it is no Homeport. Check the address.',
  CERT_HAS_EXPIRED: 'has a certificate that has run out. It has to be renewed there.',
  CERT_NOT_YET_VALID: 'has a certificate that is not valid yet. Check the clock of this machine.',
  ERR_TLS_CERT_ALTNAME_INVALID: 'shows a certificate for another name. Use the name that the certificate is for.',
  DEPTH_ZERO_SELF_SIGNED_CERT: untrustedCertificate,
  SELF_SIGNED_CERT_IN_CHAIN: untrustedCertificate,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrustedCertificate,
  UNABLE_TO_GET_ISSUER_CERT: untrustedCertificate,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrustedCertificate,
}
