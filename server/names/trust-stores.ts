import { constants } from 'node:fs'
import { access, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Authority } from './authority.ts'
import { readCertificate } from './certificate.ts'
import { quoted } from './hosts-file.ts'
import type { Run } from './run.ts'

/** An authority and the file that its certificate lies in; public, both. */
export interface Trustee {
  authority: Authority
  file: string
}

/** One place where this machine keeps the authorities that it believes. */
export interface TrustStore {
  name: string
  look(trustee: Trustee): Promise<'trusted' | 'not_trusted' | 'unavailable'>
  /** Resolves with what went wrong, if anything did. */
  add(trustee: Trustee): Promise<string | undefined>
  /** Takes out this authority and no other. */
  remove(trustee: Trustee): Promise<string | undefined>
  /** What a person may run in our place. */
  byHand(trustee: Trustee): { add: string; remove: string }
}

export interface Surroundings {
  platform: NodeJS.Platform
  home: string
  /** Where the system's own folders begin: `/`, but for tests. */
  root: string
  run: Run
}

/** The stores of this machine that browsers and programs look into. */
export async function findTrustStores(place: Surroundings): Promise<TrustStore[]> {
  if (place.platform === 'darwin') return [keychain(place)]
  if (place.platform === 'win32') return [windows(place)]
  return [...(await nssStores(place)), ...(await systemStores(place))]
}

const ended = (ran: { code: number; said: string }): string | undefined => (ran.code === 0 ? undefined : ran.said || 'It failed without a word.')

/** Chrome, Safari, and Firefox too, which reads the keychain by itself. The person is asked by the system. */
function keychain({ home, run }: Surroundings): TrustStore {
  const chain = join(home, 'Library', 'Keychains', 'login.keychain-db')
  const addArgs = (file: string) => ['add-trusted-cert', '-r', 'trustRoot', '-p', 'ssl', '-k', chain, file]
  // `-t` takes out the trust with it; by its digest it is ours alone.
  const removeArgs = (trustee: Trustee) => ['delete-certificate', '-Z', trustee.authority.fingerprint_sha1, '-t', chain]
  return {
    name: 'macOS login keychain',
    async look({ file }) {
      const { code } = await run('security', ['verify-cert', '-c', file, '-l', '-L', '-p', 'ssl', '-q'])
      return code === -1 ? 'unavailable' : code === 0 ? 'trusted' : 'not_trusted'
    },
    add: async ({ file }) => ended(await run('security', addArgs(file))),
    remove: async (trustee) => ended(await run('security', removeArgs(trustee))),
    byHand: (trustee) => ({ add: shellLine('security', addArgs(trustee.file)), remove: shellLine('security', removeArgs(trustee)) }),
  }
}

/** Edge, Chrome, and Firefox too. Windows asks the person. */
function windows({ run }: Surroundings): TrustStore {
  const addArgs = (file: string) => ['-user', '-addstore', 'Root', file]
  const ofOurs = (verb: string, { authority }: Trustee) => ['-user', verb, 'Root', authority.fingerprint_sha1]
  return {
    name: 'Windows user store',
    async look(trustee) {
      const { code } = await run('certutil', ofOurs('-store', trustee))
      return code === -1 ? 'unavailable' : code === 0 ? 'trusted' : 'not_trusted'
    },
    add: async ({ file }) => ended(await run('certutil', addArgs(file))),
    remove: async (trustee) => ended(await run('certutil', ofOurs('-delstore', trustee))),
    byHand: (trustee) => ({ add: shellLine('certutil', addArgs(trustee.file)), remove: shellLine('certutil', ofOurs('-delstore', trustee)) }),
  }
}

/** Chromium and Firefox on Linux have databases of their own, which `certutil` of NSS writes. */
async function nssStores(place: Surroundings): Promise<TrustStore[]> {
  const { home } = place
  const found: TrustStore[] = []
  // The newer place counts for Chromium as long as the older one is not there: it must not come to be by us.
  const [older, newer] = [join(home, '.pki', 'nssdb'), join(home, '.local', 'share', 'pki', 'nssdb')]
  const shared = !(await exists(older)) && (await exists(join(newer, 'cert9.db'))) ? newer : older
  found.push(nss(place, 'Chromium', shared))
  const snap = join(home, 'snap', 'chromium', 'current', '.pki', 'nssdb')
  if (await exists(join(snap, 'cert9.db'))) found.push(nss(place, 'Chromium (snap)', snap))
  const firefoxes: [string, string][] = [
    ['Firefox', join(home, '.mozilla', 'firefox')],
    ['Firefox', join(home, '.config', 'mozilla', 'firefox')],
    ['Firefox (snap)', join(home, 'snap', 'firefox', 'common', '.mozilla', 'firefox')],
    ['Firefox (flatpak)', join(home, '.var', 'app', 'org.mozilla.firefox', '.mozilla', 'firefox')],
  ]
  for (const [name, folder] of firefoxes) {
    for (const profile of await readdir(folder).catch(() => [])) {
      const database = join(folder, profile)
      if (await exists(join(database, 'cert9.db'))) found.push(nss(place, `${name} (${profile})`, database))
    }
  }
  return found
}

function nss({ run }: Surroundings, name: string, folder: string): TrustStore {
  const database = ['-d', `sql:${folder}`]
  // The digest in its name keeps the authorities of two instances apart.
  const nickname = ({ authority }: Trustee): string => `Homeport ${authority.id.slice(0, 16)}`
  const addArgs = (trustee: Trustee) => ['-A', ...database, '-t', 'C,,', '-n', nickname(trustee), '-i', trustee.file]
  const removeArgs = (trustee: Trustee) => ['-D', ...database, '-n', nickname(trustee)]
  return {
    name,
    async look(trustee) {
      const { code, out } = await run('certutil', ['-L', ...database, '-n', nickname(trustee), '-a'])
      if (code === -1) return 'unavailable'
      return code === 0 && isOurs(out, trustee) ? 'trusted' : 'not_trusted'
    },
    async add(trustee) {
      if (!(await exists(join(folder, 'cert9.db')))) {
        await mkdir(folder, { recursive: true, mode: 0o700 })
        const made = ended(await run('certutil', ['-N', ...database, '--empty-password']))
        if (made !== undefined) return made
      }
      return ended(await run('certutil', addArgs(trustee)))
    },
    remove: async (trustee) => ended(await run('certutil', removeArgs(trustee))),
    byHand: (trustee) => ({ add: shellLine('certutil', addArgs(trustee)), remove: shellLine('certutil', removeArgs(trustee)) }),
  }
}

/** What a distribution does to have curl, git and the like trust an authority. */
const flavours = [
  { folder: 'usr/local/share/ca-certificates', update: ['update-ca-certificates'] },
  { folder: 'etc/pki/ca-trust/source/anchors', update: ['update-ca-trust', 'extract'] },
  { folder: 'etc/ca-certificates/trust-source/anchors', update: ['trust', 'extract-compat'] },
  { folder: 'etc/pki/trust/anchors', update: ['update-ca-certificates'] },
] as const

async function systemStores({ root, run }: Surroundings): Promise<TrustStore[]> {
  for (const { folder, update } of flavours) {
    const anchors = join(root, folder)
    if (await exists(anchors)) return [system(anchors, update, run)]
  }
  return []
}

function system(folder: string, update: readonly [string, ...string[]], run: Run): TrustStore {
  const place = ({ authority }: Trustee): string => join(folder, `homeport-${authority.id.slice(0, 16)}.crt`)
  const [program, ...args] = update
  const denied = 'Only an administrator may change it.'
  return {
    name: 'system',
    look: async (trustee) => (isOurs(await readFile(place(trustee), 'utf8').catch(() => ''), trustee) ? 'trusted' : 'not_trusted'),
    async add(trustee) {
      if (!(await isFolderOurs(folder))) return denied
      await writeFile(place(trustee), trustee.authority.certificate, { mode: 0o644 })
      const failed = ended(await run(program, args))
      if (failed !== undefined) await rm(place(trustee), { force: true })
      return failed
    },
    async remove(trustee) {
      if (!(await isFolderOurs(folder))) return denied
      await rm(place(trustee), { force: true })
      return ended(await run(program, args))
    },
    byHand: (trustee) => ({
      add: `sudo cp ${quoted(trustee.file)} ${quoted(place(trustee))} && sudo ${update.join(' ')}`,
      remove: `sudo rm ${quoted(place(trustee))} && sudo ${update.join(' ')}`,
    }),
  }
}

function isOurs(pem: string, { authority }: Trustee): boolean {
  const found = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/.exec(pem)?.[0]
  return found !== undefined && readCertificate(found).fingerprint_sha256 === authority.fingerprint_sha256
}

const shellLine = (program: string, args: readonly string[]): string => [program, ...args].map(quoted).join(' ')
const isFolderOurs = (folder: string): Promise<boolean> => access(folder, constants.W_OK).then(() => true, nothing)
const exists = (path: string): Promise<boolean> => access(path).then(() => true, nothing)
const nothing = (): false => false
