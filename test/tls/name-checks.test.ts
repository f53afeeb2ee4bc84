import { describe, expect, test } from 'vitest'
import { checkNames, type NameCheckFacts } from '../../server/tls/name-checks.ts'
import { createTestClock } from '../support/test-clock.ts'

const facts: NameCheckFacts = {
  https: { edge_https_url: 'https://127.0.0.1:4643', authority: null, trust: [] },
  https_fell_back: false,
  hosts_file: { path: '/etc/hosts', in_sync: false, writable: false, block: '', command: 'sudo npx homeport hosts --write --data /data' },
  is_hosts_file_enabled: false,
  names: ['shop.localhost', 'www.example.com'],
  own_addresses: ['192.168.1.5'],
  platform: 'darwin',
}
const authority = { subject: 'Homeport', fingerprint_sha256: 'AA', created_at: '', expires_at: '' }
const clock = createTestClock({ frozen_at: '2026-01-31T12:00:00Z' })
const find = async (change: Partial<NameCheckFacts>, known: Record<string, string[]>) => {
  const resolve = async (name: string) => {
    const found = known[name]
    if (!found) throw new Error('ENOTFOUND')
    return found
  }
  const checks = await checkNames({ ...facts, ...change }, resolve, clock)
  return Object.fromEntries(checks.map(({ name, ...check }) => [name, check]))
}

describe('the doctor’s name checks', () => {
  test('everything is fine', async () => {
    const checks = await find({}, { 'shop.localhost': ['127.0.0.1', '::1'], 'www.example.com': ['192.168.1.5'] })
    expect(Object.values(checks).map((check) => check.status)).toEqual(['ok', 'ok', 'ok', 'ok'])
    expect(checks['name shop.localhost']?.message).toBe('Resolves to this machine (127.0.0.1, ::1).')
  })

  test('a local name that macOS does not resolve: which programs still open it, and the fix', async () => {
    const check = (await find({}, {}))['name shop.localhost']
    expect(check).toMatchObject({ status: 'warning', hint: 'Add the names to the hosts file: sudo npx homeport hosts --write --data /data' })
    expect(check?.message).toContain('Safari and other macOS programs do not')
    const linux = (await find({ platform: 'linux' }, {}))['name shop.localhost']
    expect(linux?.hint).toMatch(/^Install libnss-myhostname, or add/)
    const own = (await find({ hosts_file: { ...facts.hosts_file, writable: true, command: null } }, {}))['name shop.localhost']
    expect(own?.hint).toBe('Add the names to the hosts file: npx homeport settings set hosts_file true')
  })

  test('a name that resolves elsewhere is reported with its address', async () => {
    const check = (await find({}, { 'www.example.com': ['93.184.216.34'] }))['name www.example.com']
    expect(check).toMatchObject({ status: 'warning', message: 'Resolves to 93.184.216.34, which is not this machine.' })
  })

  test('an unresponsive resolver does not delay the checks for long', async () => {
    const checks = checkNames(facts, () => new Promise(() => {}), clock)
    await clock.advance(3_000)
    expect((await checks)[0]).toMatchObject({ status: 'warning' })
  })

  test('without projects an unused name is tried', async () => {
    expect(Object.keys(await find({ names: [] }, {}))).toContain('name homeport-doctor.localhost')
  })

  test('the hosts file is reported when it is enabled', async () => {
    expect(await find({ is_hosts_file_enabled: true }, {})).toMatchObject({ 'hosts file': { status: 'warning', hint: facts.hosts_file.command } })
    expect(await find({ is_hosts_file_enabled: true, hosts_file: { ...facts.hosts_file, in_sync: true } }, {})).toMatchObject({
      'hosts file': { status: 'ok' },
    })
  })

  test('HTTPS: its port, and which programs trust it', async () => {
    expect(await find({ https: { ...facts.https, edge_https_url: null } }, {})).toMatchObject({ 'port https': { status: 'failed' } })
    expect(await find({ https_fell_back: true }, {})).toMatchObject({ 'port https': { status: 'warning' } })
    const trust = [
      { store: 'Chromium', status: 'trusted' as const, command: null },
      { store: 'system', status: 'not_trusted' as const, command: 'sudo cp' },
      { store: 'Firefox', status: 'unavailable' as const, command: 'sudo apt-get install libnss3-tools' },
    ]
    expect(await find({ https: { ...facts.https, authority, trust } }, {})).toMatchObject({
      'certificates Chromium': { status: 'ok' },
      'certificates system': { status: 'warning', hint: 'npx homeport trust (or: sudo cp)' },
      'certificates Firefox': { status: 'warning', hint: 'sudo apt-get install libnss3-tools' },
    })
  })
})
