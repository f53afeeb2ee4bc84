import { createSecureContext, type SecureContext } from 'node:tls'
import { type Clock, isoTime } from '../lib/clock.ts'
import { type CertificateInfo, leafLifetime_ms, createAuthorityCertificate, createLeafCertificate, readCertificate } from './certificate.ts'

/** Stores the certificate authority, with its key encrypted. */
export interface AuthorityStore {
  read(): Promise<AuthorityRecord | undefined>
  write(record: AuthorityRecord): Promise<void>
  remove(): Promise<void>
}

interface AuthorityRecord {
  id: string
  certificate: string
  key: string
  created_at: string
}

export interface CertificateAuthorityInfo extends CertificateInfo {
  id: string
  certificate: string
  created_at: string
}

/** The certificate authority of an instance, created on first use, and the certificates that it signs. */
export interface CertificateAuthority {
  /** undefined if it was not needed yet. */
  current(): Promise<CertificateAuthorityInfo | undefined>
  ensure(): Promise<CertificateAuthorityInfo>
  /** The TLS identity of a host name or address. Concurrent calls create it once. */
  identityFor(host: string): Promise<TlsIdentity>
  /** Destroys the key and forgets the signed certificates. */
  remove(): Promise<void>
}

interface TlsIdentity {
  certificate: string
  key: string
  context: SecureContext
}

const maxIdentities = 1000

export const replacementTime = ({ expires_at }: Pick<CertificateInfo, 'expires_at'>): number => expires_at - leafLifetime_ms

export function createCertificateAuthority(options: { store: AuthorityStore; clock: Clock; machine: string }): CertificateAuthority {
  const { store, clock } = options
  let loaded: Promise<AuthorityRecord | undefined> | undefined
  /** By host, the most recently used last. */
  const identities = new Map<string, { identity: TlsIdentity; until: number }>()

  const read = (): Promise<AuthorityRecord | undefined> => loaded ?? remember(store.read())

  /** A failed read is retried by the next caller. */
  const remember = (loading: Promise<AuthorityRecord | undefined>): Promise<AuthorityRecord | undefined> => {
    loaded = loading
    loading.catch(() => loaded === loading && (loaded = undefined))
    return loading
  }

  const ensure = async (): Promise<AuthorityRecord> => {
    const reading = read()
    const record = await reading
    // The authority is valid for ten years. Before it expires, it is replaced by a new one, which must be trusted again.
    if (record && replacementTime(readCertificate(record.certificate)) > clock.now()) return record
    // Of several concurrent callers, the first creates it.
    if (loaded === reading) void remember(issueAuthority())
    return ensure()
  }

  const issueAuthority = async (): Promise<AuthorityRecord> => {
    const now = clock.now()
    const issued = createAuthorityCertificate({ machine: options.machine, now })
    const id = readCertificate(issued.certificate).fingerprint_sha256.replaceAll(':', '').toLowerCase()
    const record = { id, ...issued, created_at: isoTime(now) }
    await store.write(record)
    identities.clear()
    return record
  }

  return {
    current: async () => withoutKey(await read()),
    ensure: async () => withoutKey(await ensure()),
    async identityFor(host) {
      const record = await ensure()
      const now = clock.now()
      const cached = identities.get(host)
      identities.delete(host)
      if (cached && cached.until > now) {
        identities.set(host, cached)
        return cached.identity
      }
      // Synchronous from here on, so that concurrent callers create the certificate once.
      const { certificate, key } = createLeafCertificate(record, { host, now })
      const chain = certificate + record.certificate
      const identity = { certificate: chain, key, context: createSecureContext({ cert: chain, key, minVersion: 'TLSv1.2' }) }
      identities.set(host, { identity, until: now + leafLifetime_ms / 2 })
      const oldest = identities.size > maxIdentities ? identities.keys().next().value : undefined
      if (oldest !== undefined) identities.delete(oldest)
      return identity
    },
    async remove() {
      await store.remove()
      loaded = undefined
      identities.clear()
    },
  }
}

function withoutKey(record: AuthorityRecord): CertificateAuthorityInfo
function withoutKey(record: AuthorityRecord | undefined): CertificateAuthorityInfo | undefined
function withoutKey(record: AuthorityRecord | undefined): CertificateAuthorityInfo | undefined {
  if (!record) return undefined
  const { id, certificate, created_at } = record
  return { id, certificate, created_at, ...readCertificate(certificate) }
}
