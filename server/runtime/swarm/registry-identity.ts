import { X509Certificate } from 'node:crypto'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import type { Clock } from '../../lib/clock.ts'
import { newSecret } from '../../lib/token.ts'
import { type CertificateWithKey, createAuthorityCertificate, createLeafCertificate } from '../../tls/certificate.ts'

/** The secrets of the registry that Homeport manages. The authority signs nothing else, so that it vouches for no site. */
export interface RegistryIdentity {
  authority: CertificateWithKey
  password: string
}

/** Reads `registry/identity.json` of the data folder, or creates it. Calls within one process share a creation. */
export function createRegistryIdentity(dataDir: string, clock: Clock): () => Promise<RegistryIdentity> {
  const folder = join(dataDir, 'registry')
  const file = join(folder, 'identity.json')
  let loading: Promise<RegistryIdentity> | undefined

  const load = async (): Promise<RegistryIdentity> => {
    try {
      return JSON.parse(await readFile(file, 'utf8')) as RegistryIdentity
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error
    }
    const authority = createAuthorityCertificate({ machine: `registry of ${hostname()}`, now: clock.now() })
    const identity = { authority, password: newSecret() }
    await mkdir(folder, { recursive: true, mode: 0o700 })
    await writeFile(`${file}.part`, JSON.stringify(identity), { mode: 0o600, flush: true })
    await rename(`${file}.part`, file)
    return identity
  }
  return () =>
    (loading ??= load().catch((error: unknown) => {
      loading = undefined
      throw error
    }))
}

/** Valid as long as the authority, because nothing but the nodes of one cluster trusts it. */
export function createServerCertificate({ authority }: RegistryIdentity, host: string, now: number): CertificateWithKey {
  const lifetime_ms = Date.parse(new X509Certificate(authority.certificate).validTo) - now
  const { certificate, key } = createLeafCertificate(authority, { host, now, lifetime_ms })
  return { certificate: certificate + authority.certificate, key }
}

export const fingerprintOf = (certificate: string): string => new X509Certificate(certificate).fingerprint256.replaceAll(':', '').toLowerCase()
