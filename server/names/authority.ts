import { createSecureContext, type SecureContext } from 'node:tls'
import { type Clock, isoTime } from '../lib/clock.ts'
import { type CertificateFacts, leafLife_ms, makeAuthority, makeLeaf, readCertificate } from './certificate.ts'

/** Where the authority is kept; its key lies there sealed. */
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

export interface Authority extends CertificateFacts {
  id: string
  certificate: string
  created_at: string
}

/** The certificate authority of an instance, made when it is first needed, and the certificates that it signs. */
export interface AuthorityDesk {
  /** undefined: none was needed yet. */
  current(): Promise<Authority | undefined>
  ensure(): Promise<Authority>
  /** What a handshake for a name or an address shows. However many ask for it at once, it is made once. */
  identityFor(host: string): Promise<Identity>
  /** Destroys the key, and forgets what it has signed. */
  remove(): Promise<void>
}

interface Identity {
  certificate: string
  key: string
  context: SecureContext
}

const keptIdentities = 1000

export function createAuthorityDesk(options: { store: AuthorityStore; clock: Clock; machine: string }): AuthorityDesk {
  const { store, clock } = options
  let known: Promise<AuthorityRecord | undefined> | undefined
  /** By host, the one used last at the end. */
  const identities = new Map<string, { identity: Identity; until: number }>()

  const read = (): Promise<AuthorityRecord | undefined> => known ?? keep(store.read())

  /** What failed is tried anew by the next that asks. */
  const keep = (coming: Promise<AuthorityRecord | undefined>): Promise<AuthorityRecord | undefined> => {
    known = coming
    coming.catch(() => known === coming && (known = undefined))
    return coming
  }

  const ensure = async (): Promise<AuthorityRecord> => {
    const reading = read()
    const record = await reading
    // It has ten years; one that is near its end is followed by another, which has to be trusted anew.
    if (record && readCertificate(record.certificate).expires_at - leafLife_ms > clock.now()) return record
    // Of many at once the first makes it.
    if (known === reading) void keep(make())
    return ensure()
  }

  const make = async (): Promise<AuthorityRecord> => {
    const now = clock.now()
    const made = makeAuthority({ machine: options.machine, now })
    const id = readCertificate(made.certificate).fingerprint_sha256.replaceAll(':', '').toLowerCase()
    const record = { id, ...made, created_at: isoTime(now) }
    await store.write(record)
    identities.clear()
    return record
  }

  return {
    current: async () => publicPart(await read()),
    ensure: async () => publicPart(await ensure()),
    async identityFor(host) {
      const record = await ensure()
      const now = clock.now()
      const kept = identities.get(host)
      identities.delete(host)
      if (kept && kept.until > now) {
        identities.set(host, kept)
        return kept.identity
      }
      // From here on nothing waits: of many at once the first makes it.
      const { certificate, key } = makeLeaf(record, { host, now })
      const chain = certificate + record.certificate
      const identity = { certificate: chain, key, context: createSecureContext({ cert: chain, key, minVersion: 'TLSv1.2' }) }
      identities.set(host, { identity, until: now + leafLife_ms / 2 })
      const oldest = identities.size > keptIdentities ? identities.keys().next().value : undefined
      if (oldest !== undefined) identities.delete(oldest)
      return identity
    },
    async remove() {
      await store.remove()
      known = undefined
      identities.clear()
    },
  }
}

function publicPart(record: AuthorityRecord): Authority
function publicPart(record: AuthorityRecord | undefined): Authority | undefined
function publicPart(record: AuthorityRecord | undefined): Authority | undefined {
  if (!record) return undefined
  const { id, certificate, created_at } = record
  return { id, certificate, created_at, ...readCertificate(certificate) }
}
