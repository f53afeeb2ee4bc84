import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createProgramRunner } from '../../server/tls/run-program.ts'
import { createTrustStoreManager } from '../../server/tls/trust-store-manager.ts'
import { findTrustStores } from '../../server/tls/trust-stores.ts'
import { requires } from '../support/requirements.ts'
import { createTestAuthority } from '../support/tls.ts'

/** Fakes of each system's programs, as real executables that record their calls. */
let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'homeport-trust-'))
  mkdirSync(join(folder, 'bin'))
  mkdirSync(join(folder, 'home'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** `answers`: shell code that decides the result by `$*`. */
function stub(name: string, answers = 'exit 0'): void {
  const path = join(folder, 'bin', name)
  writeFileSync(
    path,
    `#!/bin/sh\nprintf '%s' "${name}" >> "${folder}/calls"\nfor word in "$@"; do printf '|%s' "$word" >> "${folder}/calls"; done\nprintf '\\n' >> "${folder}/calls"\n${answers}\n`,
  )
  chmodSync(path, 0o755)
}

const calls = (): string[] => {
  const path = join(folder, 'calls')
  if (!existsSync(path)) return []
  const lines = readFileSync(path, 'utf8').trim().split('\n')
  rmSync(path)
  return lines
}

function openTrustStores(platform: NodeJS.Platform, path = `${join(folder, 'bin')}:/usr/bin:/bin`) {
  const authority = createTestAuthority()
  const home = join(folder, 'home')
  const run = createProgramRunner({ PATH: path, HOME: home })
  const file = join(folder, 'authority.crt')
  return {
    authority,
    home,
    file,
    ...createTrustStoreManager({
      certificateAuthority: authority,
      platform,
      file,
      stores: () => findTrustStores({ platform, home, root: join(folder, 'system'), run }),
    }),
  }
}

describe('macOS', () => {
  test('the login keychain: checked, changed, and cleaned of this authority only', async () => {
    stub(
      'security',
      `case "$1" in verify-cert) test -e "${folder}/trusted";; add-trusted-cert) touch "${folder}/trusted";; *) rm "${folder}/trusted";; esac`,
    )
    const trust = openTrustStores('darwin')
    expect(await trust.listStatuses()).toEqual([{ store: 'macOS login keychain', status: 'not_trusted', command: null }])
    expect(calls()).toEqual([])

    const { fingerprint_sha1 } = await trust.authority.ensure()
    const chain = join(trust.home, 'Library/Keychains/login.keychain-db')
    expect(await trust.listStatuses()).toMatchObject([
      { status: 'not_trusted', command: `security add-trusted-cert -r trustRoot -p ssl -k ${chain} ${trust.file}` },
    ])
    expect((await trust.add())[0]).toBe('macOS login keychain: now trusted.')
    expect((await trust.listStatuses())[0]).toEqual({ store: 'macOS login keychain', status: 'trusted', command: null })
    expect(await trust.remove()).toEqual(['macOS login keychain: removed.', 'The authority’s key was destroyed. It can no longer sign certificates.'])
    const look = `security|verify-cert|-c|${trust.file}|-l|-L|-p|ssl|-q`
    expect(calls()).toEqual([
      look,
      look,
      `security|add-trusted-cert|-r|trustRoot|-p|ssl|-k|${chain}|${trust.file}`,
      look,
      look,
      `security|delete-certificate|-Z|${fingerprint_sha1}|-t|${chain}`,
    ])
    expect(existsSync(trust.file)).toBe(false)
  })

  test('a user who declines the dialog has changed nothing', async () => {
    stub(
      'security',
      'case "$1" in verify-cert) exit 1;; esac; echo "SecTrustSettingsSetTrustSettings: The authorization was canceled by the user." >&2; exit 1',
    )
    const trust = openTrustStores('darwin')
    expect((await trust.add())[0]).toMatch(/^macOS login keychain: not changed\. .*canceled by the user\. Run: security add-trusted-cert/)
    expect(await trust.listStatuses()).toMatchObject([{ status: 'not_trusted' }])
  })
})

test('Windows: the store of the user, by fingerprint', async () => {
  stub('certutil', 'case "$2" in -store) exit 1;; esac')
  const trust = openTrustStores('win32')
  const { fingerprint_sha1 } = await trust.authority.ensure()
  expect((await trust.add())[0]).toBe('Windows user store: now trusted.')
  expect(calls()).toEqual([`certutil|-user|-store|Root|${fingerprint_sha1}`, `certutil|-user|-addstore|Root|${trust.file}`])
  stub('certutil')
  expect((await trust.remove())[0]).toBe('Windows user store: removed.')
  expect(calls().at(-1)).toBe(`certutil|-user|-delstore|Root|${fingerprint_sha1}`)
})

describe('Linux, the system', () => {
  const flavours = [
    ['usr/local/share/ca-certificates', 'update-ca-certificates', ''],
    ['etc/pki/ca-trust/source/anchors', 'update-ca-trust', '|extract'],
    ['etc/ca-certificates/trust-source/anchors', 'trust', '|extract-compat'],
  ] as const
  test.each(flavours)('%s', async (flavour, program, more) => {
    stub(program)
    stub('certutil', 'exit 1')
    const anchors = join(folder, 'system', flavour)
    mkdirSync(anchors, { recursive: true })
    writeFileSync(join(anchors, 'somebody-elses.crt'), 'theirs')
    const trust = openTrustStores('linux')
    const { certificate } = await trust.authority.ensure()
    expect((await trust.add()).at(-2)).toBe('system: now trusted.')
    const ours = readdirSync(anchors).find((name) => name.startsWith('homeport-')) ?? ''
    expect(readFileSync(join(anchors, ours), 'utf8')).toBe(certificate)
    expect(calls().filter((line) => !line.startsWith('certutil'))).toEqual([`${program}${more}`])
    expect((await trust.listStatuses()).at(-1)).toEqual({ store: 'system', status: 'trusted', command: null })
    expect(await trust.remove()).toContain('system: removed.')
    expect(readdirSync(anchors)).toEqual(['somebody-elses.crt'])
  })

  test('a refused change is undone, and the command is shown', async () => {
    stub('update-ca-certificates', 'echo "only root may" >&2; exit 1')
    const anchors = join(folder, 'system', flavours[0][0])
    mkdirSync(anchors, { recursive: true })
    const trust = openTrustStores('linux')
    expect((await trust.add()).join('\n')).toMatch(
      /system: not changed\. only root may Run: sudo cp \S+authority\.crt \S+homeport-\w{16}\.crt && sudo update-ca-certificates/,
    )
    expect(readdirSync(anchors)).toEqual([])
  })
})

describe('Linux, browsers', () => {
  test('without certutil no success is claimed, and the package is named', async () => {
    const trust = openTrustStores('linux', join(folder, 'bin'))
    await trust.authority.ensure()
    expect(await trust.listStatuses()).toEqual([{ store: 'Chromium', status: 'unavailable', command: 'sudo apt-get install libnss3-tools' }])
    expect((await trust.add())[0]).toBe('Chromium: not available. Run: sudo apt-get install libnss3-tools')
  })

  test.skipIf(!requires('nss').ok)('real databases of Chromium and of every Firefox profile; another instance’s authority stays', async () => {
    const trust = openTrustStores('linux')
    const run = createProgramRunner({ PATH: process.env.PATH, HOME: trust.home })
    for (const profile of ['abc.default', 'def.work space']) {
      const database = join(trust.home, '.mozilla/firefox', profile)
      mkdirSync(database, { recursive: true })
      expect((await run('certutil', ['-N', '-d', `sql:${database}`, '--empty-password'])).code).toBe(0)
    }
    const other = createTrustStoreManager({
      certificateAuthority: createTestAuthority('another'),
      platform: 'linux',
      file: join(folder, 'other.crt'),
      stores: () => findTrustStores({ platform: 'linux', home: trust.home, root: join(folder, 'system'), run }),
    })
    await other.add()
    expect(await trust.listStatuses()).toMatchObject(Array.from({ length: 3 }, () => ({ status: 'not_trusted' })))
    expect((await trust.add()).slice(0, 3)).toEqual([
      'Chromium: now trusted.',
      'Firefox (abc.default): now trusted.',
      'Firefox (def.work space): now trusted.',
    ])
    expect((await trust.listStatuses()).map((one) => one.status)).toEqual(['trusted', 'trusted', 'trusted'])
    expect((await trust.add())[0]).toBe('Chromium: already trusted.')
    const listed = await run('certutil', ['-L', '-d', `sql:${join(trust.home, '.pki/nssdb')}`])
    expect(listed.out.match(/Homeport [0-9a-f]{16}\s+C,,/g)?.length).toBe(2)
    await trust.remove()
    expect((await other.listStatuses()).map((one) => one.status)).toEqual(['trusted', 'trusted', 'trusted'])
    expect((await run('certutil', ['-L', '-d', `sql:${join(trust.home, '.pki/nssdb')}`])).out.match(/Homeport/g)?.length).toBe(1)
  })
})

test('programs get only the environment variables that they need', async () => {
  writeFileSync(join(folder, 'bin', 'tell'), '#!/bin/sh\nenv\n', { mode: 0o755 })
  const run = createProgramRunner({ PATH: `${join(folder, 'bin')}:/usr/bin:/bin`, HOME: folder, HOMEPORT_TOKEN: 'svc_secret', STRIPE: 'sk_live' })
  const { out } = await run('tell', [])
  expect(out).toContain(`HOME=${folder}`)
  expect(out).not.toMatch(/secret|sk_live/)
  expect(await run('there-is-no-such-program', [])).toMatchObject({ code: -1 })
})
