import { execFile } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, describe, expect, test } from 'vitest'
import { createCertificateAuthority, type AuthorityStore } from '../../server/tls/certificate-authority.ts'
import { createAuthorityCertificate, createLeafCertificate, readCertificate } from '../../server/tls/certificate.ts'
import { createCertificateAuthorityStore } from '../../server/store/certificate-authority.ts'
import { openStore } from '../../server/store/store.ts'
import { createSealer } from '../../server/store/sealer.ts'
import { fullTest } from '../support/full-test.ts'
import { fixedClock } from '../support/test-clock.ts'

const run = promisify(execFile)
const folder = mkdtempSync(join(tmpdir(), 'homeport-names-'))
afterAll(() => rmSync(folder, { recursive: true }))

const day_ms = 24 * 3600_000
const now = Date.parse('2026-01-31T12:00:00.000Z')

describe('an authority', () => {
  const authority = createAuthorityCertificate({ machine: 'Anna’s "best" MacBook, Pro', now })
  const parsed = new X509Certificate(authority.certificate)

  test('names its instance, in ASCII', () => {
    expect(readCertificate(authority.certificate).subject).toBe('Homeport local authority (Annas best MacBook Pro)')
    expect(parsed.issuer).toBe(parsed.subject)
    expect(readCertificate(createAuthorityCertificate({ machine: 'x'.repeat(200), now }).certificate).subject.length).toBeLessThanOrEqual(64)
  })

  test('may sign for hosts, for ten years, and for no further authority', async () => {
    expect(parsed.ca).toBe(true)
    expect(Math.round((Date.parse(parsed.validTo) - now) / day_ms / 365.25)).toBe(10)
    const file = join(folder, 'ca.pem')
    writeFileSync(file, authority.certificate)
    const { stdout } = await run('openssl', ['x509', '-in', file, '-noout', '-text'])
    expect(stdout).toMatch(/X509v3 Basic Constraints: critical\s+CA:TRUE, pathlen:0/)
    expect(stdout).toMatch(/X509v3 Key Usage: critical\s+Certificate Sign, CRL Sign\n/)
    expect(stdout).toContain('NIST CURVE: P-256')
  })

  test.each([
    ['my-app.localhost', 'DNS:my-app.localhost'],
    [`${'a'.repeat(60)}.example.com`, `DNS:${'a'.repeat(60)}.example.com`],
    ['192.168.1.20', 'IP Address:192.168.1.20'],
    ['::1', 'IP Address:0:0:0:0:0:0:0:1'],
    ['fd00::12:0:0:3', 'IP Address:FD00:0:0:0:12:0:0:3'],
  ])('a certificate for %s is valid for exactly that, by the strictest interpretation', async (host, names) => {
    const leaf = new X509Certificate(createLeafCertificate(authority, { host, now: Date.now() }).certificate)
    expect(leaf.subjectAltName).toBe(names)
    expect(leaf.ca).toBe(false)
    expect(leaf.checkIssued(parsed)).toBe(true)
    expect(leaf.verify(parsed.publicKey)).toBe(true)
    expect(leaf.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1'])
    const [file, ca] = [join(folder, 'leaf.pem'), join(folder, 'ca.pem')]
    writeFileSync(file, leaf.toString())
    writeFileSync(ca, authority.certificate)
    expect((await run('openssl', ['verify', '-x509_strict', '-purpose', 'sslserver', '-CAfile', ca, file])).stdout).toContain(': OK')
  })

  test('a certificate is valid for 90 days at most, and not beyond its authority', () => {
    const fresh = new X509Certificate(createLeafCertificate(authority, { host: 'a.localhost', now }).certificate)
    expect((Date.parse(fresh.validTo) - Date.parse(fresh.validFrom)) / day_ms).toBeLessThan(90)
    const late = new X509Certificate(createLeafCertificate(authority, { host: 'a.localhost', now: now + 3650 * day_ms }).certificate)
    expect(late.validTo).toBe(parsed.validTo)
  })

  test('serial numbers are unique and positive', () => {
    const serials = Array.from(
      { length: 200 },
      () => new X509Certificate(createLeafCertificate(authority, { host: 'a.localhost', now }).certificate).serialNumber,
    )
    expect(new Set(serials).size).toBe(200)
    expect(serials.every((serial) => serial.length === 32 && serial.charAt(0) < '8')).toBe(true)
  })
})

describe('the certificate authority', () => {
  function createContext() {
    let kept: Awaited<ReturnType<AuthorityStore['read']>>
    const calls = { reads: 0, writes: 0 }
    const clock = { ...fixedClock(now), now: () => at.now }
    const at = { now, fails: false }
    const certificateAuthority = createCertificateAuthority({
      clock,
      machine: 'test',
      store: {
        async read() {
          calls.reads++
          return kept
        },
        async write(record) {
          calls.writes++
          if (at.fails) throw new Error('the disk is full')
          kept = record
        },
        async remove() {
          kept = undefined
        },
      },
    })
    return { certificateAuthority, calls, at }
  }

  test('a hundred concurrent handshakes create one authority and one certificate', async () => {
    const { certificateAuthority, calls } = createContext()
    const all = await Promise.all(Array.from({ length: 100 }, () => certificateAuthority.identityFor('a.localhost')))
    expect(new Set(all).size).toBe(1)
    expect(calls).toEqual({ reads: 1, writes: 1 })
    expect(await certificateAuthority.identityFor('b.localhost')).not.toBe(all[0])
  })

  test('nothing is created before it is needed', async () => {
    const { certificateAuthority, calls } = createContext()
    expect(await certificateAuthority.current()).toBeUndefined()
    expect(calls.writes).toBe(0)
  })

  test('a failure is not cached', async () => {
    const { certificateAuthority, at } = createContext()
    at.fails = true
    await expect(certificateAuthority.identityFor('a.localhost')).rejects.toThrow('disk is full')
    at.fails = false
    await certificateAuthority.identityFor('a.localhost')
  })

  test('a certificate is renewed long before it expires, and so is an authority', async () => {
    const { certificateAuthority, at } = createContext()
    const first = await certificateAuthority.identityFor('a.localhost')
    const authority = await certificateAuthority.ensure()
    at.now += 40 * day_ms
    expect(await certificateAuthority.identityFor('a.localhost')).not.toBe(first)
    expect((await certificateAuthority.ensure()).id).toBe(authority.id)
    at.now += 3600 * day_ms
    expect((await certificateAuthority.ensure()).id).not.toBe(authority.id)
  })

  fullTest('memory is bounded however many hostnames are requested', async () => {
    const { certificateAuthority } = createContext()
    const first = await certificateAuthority.identityFor('n-0.localhost')
    for (let i = 1; i <= 1000; i++) await certificateAuthority.identityFor(`n-${i}.localhost`)
    expect(await certificateAuthority.identityFor('n-1000.localhost')).toBe(await certificateAuthority.identityFor('n-1000.localhost'))
    expect(await certificateAuthority.identityFor('n-0.localhost')).not.toBe(first)
  })

  test('removing it removes every certificate it signed; the next one is different', async () => {
    const { certificateAuthority } = createContext()
    const before = { authority: await certificateAuthority.ensure(), identity: await certificateAuthority.identityFor('a.localhost') }
    await certificateAuthority.remove()
    expect(await certificateAuthority.current()).toBeUndefined()
    expect((await certificateAuthority.identityFor('a.localhost')).certificate).not.toBe(before.identity.certificate)
    expect((await certificateAuthority.ensure()).id).not.toBe(before.authority.id)
  })
})

test('its key is encrypted in the database, one authority at most', async () => {
  mkdirSync(join(folder, 'data'))
  const store = await openStore({ data_dir: join(folder, 'data'), after_crash: false })
  const key = Buffer.alloc(32, 7)
  const kept = createCertificateAuthorityStore(store.db, createSealer(key))
  expect(await kept.read()).toBeUndefined()
  for (const id of ['first', 'second'])
    await kept.write({ id, ...createAuthorityCertificate({ machine: id, now }), created_at: new Date(now).toISOString() })
  const record = await kept.read()
  expect(record).toMatchObject({ id: 'second', key: expect.stringContaining('BEGIN PRIVATE KEY') })
  const rows = store.db.readSync((tx) => tx.statement('SELECT * FROM authorities').all() as { sealed_key: Uint8Array; certificate: string }[])
  expect(rows.length).toBe(1)
  expect(Buffer.from(rows[0]?.sealed_key ?? []).toString('latin1')).not.toContain('PRIVATE KEY')
  // Another master key cannot decrypt it.
  await expect(createCertificateAuthorityStore(store.db, createSealer(Buffer.alloc(32, 8))).read()).rejects.toThrow('master key')
  await kept.remove()
  expect(await kept.read()).toBeUndefined()
  await store.close()
})
