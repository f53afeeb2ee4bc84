import { X509Certificate } from 'node:crypto'
import { hostname } from 'node:os'
import type { Clock } from '../../lib/clock.ts'
import { newSecret } from '../../lib/token.ts'
import type { SecretText } from '../runtime-options.ts'
import { type CertificateWithKey, createAuthorityCertificate, createLeafCertificate } from '../../tls/certificate.ts'

/** The secrets of the programs that Homeport runs for a cluster. The authority vouches for them alone, and for no site. */
export interface ClusterIdentity {
  authority: CertificateWithKey
  registry_password: string
}

/** Reads the identity, or creates it. Calls within one process share a creation. */
export function createIdentityReader(secrets: SecretText | undefined, clock: Clock): () => Promise<ClusterIdentity> {
  let loading: Promise<ClusterIdentity> | undefined

  const load = async (): Promise<ClusterIdentity> => {
    if (!secrets) throw new Error('There is no place for the secrets of the cluster.')
    const stored = await secrets.read()
    if (stored !== undefined) return JSON.parse(stored) as ClusterIdentity
    const authority = createAuthorityCertificate({ machine: `cluster of ${hostname()}`, now: clock.now() })
    const identity = { authority, registry_password: newSecret() }
    await secrets.write(JSON.stringify(identity))
    return identity
  }
  return () =>
    (loading ??= load().catch((error: unknown) => {
      loading = undefined
      throw error
    }))
}

/** Valid as long as the authority, because Docker restarts the registry also when Homeport is away. */
export function createRegistryCertificate({ authority }: ClusterIdentity, host: string, now: number): CertificateWithKey {
  const lifetime_ms = Date.parse(new X509Certificate(authority.certificate).validTo) - now
  const { certificate, key } = createLeafCertificate(authority, { host, now, lifetime_ms })
  return { certificate: certificate + authority.certificate, key }
}

/** The name of every agent in its certificate. */
export const agentName = 'homeport-agent'

/** For the agents of all nodes. It is none of a client, so that no agent can command another. */
export const createAgentCertificate = ({ authority }: ClusterIdentity, now: number): CertificateWithKey =>
  createLeafCertificate(authority, { host: agentName, now })

/** The name of the edge of every node in its certificate, which is none of a client either. */
export const edgeName = 'homeport-edge'

/** For the edge of one node. */
export const createEdgeCertificate = ({ authority }: ClusterIdentity, now: number): CertificateWithKey =>
  createLeafCertificate(authority, { host: edgeName, now })

/** What agents and edges accept commands from. */
export const createClientCertificate = ({ authority }: ClusterIdentity, now: number): CertificateWithKey =>
  createLeafCertificate(authority, { host: 'homeport', now, usage: 'client' })

export const fingerprintOf = (certificate: string): string => new X509Certificate(certificate).fingerprint256.replaceAll(':', '').toLowerCase()
