import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, randomBytes, sign, X509Certificate, type KeyObject } from 'node:crypto'
import { isIP } from 'node:net'
import * as der from './der.ts'

export interface CertificateWithKey {
  /** PEM. */
  certificate: string
  key: string
}

const day_ms = 24 * 3600_000
/** Clocks of other devices may be slow. */
const clockSkew_ms = 3600_000
const authorityLifetime_ms = 3653 * day_ms
/** Apple devices accept at most 825 days, and browsers will accept less and less. Certificates are created again at every start anyway. */
export const leafLifetime_ms = 60 * day_ms

const ecdsaWithSha256 = der.sequence(der.objectIdentifier('1.2.840.10045.4.3.2'))

/** Creates a certificate authority on P-256 that may sign for hosts but not for other authorities. */
export function createAuthorityCertificate(options: { machine: string; now: number }): CertificateWithKey {
  const { key, spki } = generateKey()
  // Characters that certificate names escape are removed, because the name is read back from its printed form.
  const machine = options.machine.replace(/[^A-Za-z0-9._ -]/g, '').slice(0, 36)
  const name = encodeName(`Homeport local authority (${machine})`)
  const keyId = toKeyIdentifier(spki)
  const certificate = signCertificate(key, {
    issuer: name,
    subject: name,
    spki,
    from: options.now - clockSkew_ms,
    to: options.now + authorityLifetime_ms,
    extensions: [
      // pathlen 0: a host's certificate cannot sign others.
      encodeExtension('2.5.29.19', true, der.sequence(der.boolean(true), der.integer(0))),
      // keyCertSign and cRLSign
      encodeExtension('2.5.29.15', true, der.bitString(Uint8Array.of(0x06), 1)),
      encodeExtension('2.5.29.14', false, der.octetString(keyId)),
    ],
  })
  return { certificate, key: toPem(key) }
}

const usages = { server: '1.3.6.1.5.5.7.3.1', client: '1.3.6.1.5.5.7.3.2' } as const

/**
 * Creates the certificate of one host, by name or address. It is valid for 60 days, unless `lifetime_ms` says otherwise, and for a server, unless `usage`
 * does.
 */
export function createLeafCertificate(
  authority: CertificateWithKey,
  options: { host: string; now: number; lifetime_ms?: number; usage?: keyof typeof usages },
): CertificateWithKey {
  const parent = new X509Certificate(authority.certificate)
  const parentKey = createPublicKey(authority.certificate).export({ type: 'spki', format: 'der' })
  const { key, spki } = generateKey()
  const certificate = signCertificate(createPrivateKey(authority.key), {
    issuer: encodeName(readCommonName(parent)),
    // A common name has at most 64 characters; the alternative name is the one that counts.
    subject: encodeName(options.host.length <= 64 ? options.host : 'Homeport'),
    spki,
    from: Math.max(options.now - clockSkew_ms, Date.parse(parent.validFrom)),
    to: Math.min(options.now + (options.lifetime_ms ?? leafLifetime_ms), Date.parse(parent.validTo)),
    extensions: [
      encodeExtension('2.5.29.19', true, der.sequence()),
      // digitalSignature
      encodeExtension('2.5.29.15', true, der.bitString(Uint8Array.of(0x80), 7)),
      encodeExtension('2.5.29.37', false, der.sequence(der.objectIdentifier(usages[options.usage ?? 'server']))),
      encodeExtension('2.5.29.17', false, der.sequence(encodeAlternativeName(options.host))),
      encodeExtension('2.5.29.14', false, der.octetString(toKeyIdentifier(spki))),
      encodeExtension('2.5.29.35', false, der.sequence(der.implicit(0, toKeyIdentifier(parentKey)))),
    ],
  })
  return { certificate, key: toPem(key) }
}

/** Creates the request for a certificate (PKCS #10, RFC 2986) that another authority signs, in DER, and its key. */
export function createSigningRequest(names: readonly string[]): { request: Buffer; key: string } {
  const { key, spki } = generateKey()
  const extensions = der.sequence(encodeExtension('2.5.29.17', false, der.sequence(...names.map(encodeAlternativeName))))
  const extensionRequest = der.sequence(der.objectIdentifier('1.2.840.113549.1.9.14'), der.set(extensions))
  const body = der.sequence(der.integer(0), der.sequence(), spki, der.explicit(0, extensionRequest))
  return { request: der.sequence(body, ecdsaWithSha256, der.bitString(sign('sha256', body, key))), key: toPem(key) }
}

export interface CertificateInfo {
  subject: string
  /** Upper-case hex with colons, as other programs print it. */
  fingerprint_sha256: string
  /** Upper-case hex, as `security` and `certutil` require it. */
  fingerprint_sha1: string
  expires_at: number
}

export function readCertificate(pem: string): CertificateInfo {
  const certificate = new X509Certificate(pem)
  return {
    subject: readCommonName(certificate),
    fingerprint_sha256: certificate.fingerprint256,
    fingerprint_sha1: certificate.fingerprint.replaceAll(':', ''),
    expires_at: Date.parse(certificate.validTo),
  }
}

interface CertificateContent {
  issuer: Uint8Array
  subject: Uint8Array
  spki: Uint8Array
  from: number
  to: number
  extensions: Uint8Array[]
}

function signCertificate(key: KeyObject, content: CertificateContent): string {
  const body = der.sequence(
    der.explicit(0, der.integer(2)), // version 3
    // 127 random bits, never zero.
    der.integer(Buffer.concat([Uint8Array.of(0x40 | (randomBytes(1).readUInt8() & 0x3f)), randomBytes(15)])),
    ecdsaWithSha256,
    content.issuer,
    der.sequence(der.time(content.from), der.time(content.to)),
    content.subject,
    content.spki,
    der.explicit(3, der.sequence(...content.extensions)),
  )
  const whole = der.sequence(body, ecdsaWithSha256, der.bitString(sign('sha256', body, key)))
  const lines = whole.toString('base64').match(/.{1,64}/g) ?? []
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`
}

function generateKey(): { key: KeyObject; spki: Buffer } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return { key: privateKey, spki: publicKey.export({ type: 'spki', format: 'der' }) }
}

const toPem = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }).toString()
/** Identifies a key within a chain; neither secret nor a proof. */
const toKeyIdentifier = (spki: Uint8Array): Buffer => createHash('sha256').update(spki).digest().subarray(0, 20)

const encodeName = (commonName: string): Buffer =>
  der.sequence(
    der.set(der.sequence(der.objectIdentifier('2.5.4.10'), der.utf8String('Homeport'))),
    der.set(der.sequence(der.objectIdentifier('2.5.4.3'), der.utf8String(commonName))),
  )
const readCommonName = (certificate: X509Certificate): string => /^CN=(.*)$/m.exec(certificate.subject)?.[1] ?? ''

const encodeExtension = (id: string, critical: boolean, value: Uint8Array): Buffer =>
  critical
    ? der.sequence(der.objectIdentifier(id), der.boolean(true), der.octetString(value))
    : der.sequence(der.objectIdentifier(id), der.octetString(value))

function encodeAlternativeName(host: string): Buffer {
  return isIP(host) === 0 ? der.implicit(2, Buffer.from(host, 'latin1')) : der.implicit(7, encodeAddress(host))
}

function encodeAddress(address: string): Buffer {
  if (isIP(address) === 4) return Buffer.from(address.split('.').map(Number))
  // `new URL` normalizes an IPv6 address, including an embedded IPv4 address, which becomes two groups.
  const [head = '', tail = ''] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::')
  const groups = (part: string) => (part === '' ? [] : part.split(':'))
  const middle = Array.from({ length: 8 - groups(head).length - groups(tail).length }, () => '0')
  const bytes = Buffer.alloc(16)
  for (const [i, group] of [...groups(head), ...middle, ...groups(tail)].entries()) bytes.writeUInt16BE(Number.parseInt(group, 16), i * 2)
  return bytes
}
