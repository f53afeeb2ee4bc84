import { constants } from 'node:fs'
import { access, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { CertificateAuthorityInfo } from './certificate-authority.ts'
import { readCertificate } from './certificate.ts'
import { quoteShellWord } from './hosts-file-sync.ts'
import type { RunProgram } from './run-program.ts'

/** An authority and the file with its certificate; both are public. */
export interface AuthorityFile {
  authority: CertificateAuthorityInfo
  file: string
}

/** A trust store of this machine. */
export interface TrustStore {
  name: string
  readStatus(authorityFile: AuthorityFile): Promise<'trusted' | 'not_trusted' | 'unavailable'>
  /** Resolves with the error, if any. */
  add(authorityFile: AuthorityFile): Promise<string | undefined>
  /** Removes this authority and no other. */
  remove(authorityFile: AuthorityFile): Promise<string | undefined>
  /** Commands that a user can run instead. */
  manualCommands(authorityFile: AuthorityFile): { add: string; remove: string }
}

export interface TrustStoreEnvironment {
  platform: NodeJS.Platform
  home: string
  /** The root of the system's folders: `/` except in tests. */
  root: string
  run: RunProgram
}

/** The trust stores that browsers and programs on this machine use. */
export async function findTrustStores(environment: TrustStoreEnvironment): Promise<TrustStore[]> {
  if (environment.platform === 'darwin') return [createKeychainStore(environment)]
  if (environment.platform === 'win32') return [createWindowsStore(environment)]
  return [...(await findNssStores(environment)), ...(await findSystemStores(environment))]
}

const failureOf = (result: { code: number; message: string }): string | undefined =>
  result.code === 0 ? undefined : result.message || 'It failed without an error message.'

/** Used by Chrome, Safari and Firefox. The system asks the user for confirmation. */
function createKeychainStore({ home, run }: TrustStoreEnvironment): TrustStore {
  const chain = join(home, 'Library', 'Keychains', 'login.keychain-db')
  const addArgs = (file: string) => ['add-trusted-cert', '-r', 'trustRoot', '-p', 'ssl', '-k', chain, file]
  // `-t` removes the trust settings too. The digest identifies this authority.
  const removeArgs = (authorityFile: AuthorityFile) => ['delete-certificate', '-Z', authorityFile.authority.fingerprint_sha1, '-t', chain]
  return {
    name: 'macOS login keychain',
    async readStatus({ file }) {
      const { code } = await run('security', ['verify-cert', '-c', file, '-l', '-L', '-p', 'ssl', '-q'])
      return code === -1 ? 'unavailable' : code === 0 ? 'trusted' : 'not_trusted'
    },
    add: async ({ file }) => failureOf(await run('security', addArgs(file))),
    remove: async (authorityFile) => failureOf(await run('security', removeArgs(authorityFile))),
    manualCommands: (authorityFile) => ({
      add: formatShellCommand('security', addArgs(authorityFile.file)),
      remove: formatShellCommand('security', removeArgs(authorityFile)),
    }),
  }
}

/** Used by Edge, Chrome and Firefox. Windows asks the user for confirmation. */
function createWindowsStore({ run }: TrustStoreEnvironment): TrustStore {
  const addArgs = (file: string) => ['-user', '-addstore', 'Root', file]
  const certutilArgs = (verb: string, { authority }: AuthorityFile) => ['-user', verb, 'Root', authority.fingerprint_sha1]
  return {
    name: 'Windows user store',
    async readStatus(authorityFile) {
      const { code } = await run('certutil', certutilArgs('-store', authorityFile))
      return code === -1 ? 'unavailable' : code === 0 ? 'trusted' : 'not_trusted'
    },
    add: async ({ file }) => failureOf(await run('certutil', addArgs(file))),
    remove: async (authorityFile) => failureOf(await run('certutil', certutilArgs('-delstore', authorityFile))),
    manualCommands: (authorityFile) => ({
      add: formatShellCommand('certutil', addArgs(authorityFile.file)),
      remove: formatShellCommand('certutil', certutilArgs('-delstore', authorityFile)),
    }),
  }
}

/** Chromium and Firefox on Linux have their own databases, which the `certutil` of NSS writes. */
async function findNssStores(environment: TrustStoreEnvironment): Promise<TrustStore[]> {
  const { home } = environment
  const stores: TrustStore[] = []
  // Chromium uses the newer folder only if the older one does not exist, so Homeport must not create the older one in that case.
  const [older, newer] = [join(home, '.pki', 'nssdb'), join(home, '.local', 'share', 'pki', 'nssdb')]
  const shared = !(await exists(older)) && (await exists(join(newer, 'cert9.db'))) ? newer : older
  stores.push(createNssStore(environment, 'Chromium', shared))
  const snap = join(home, 'snap', 'chromium', 'current', '.pki', 'nssdb')
  if (await exists(join(snap, 'cert9.db'))) stores.push(createNssStore(environment, 'Chromium (snap)', snap))
  const firefoxes: [string, string][] = [
    ['Firefox', join(home, '.mozilla', 'firefox')],
    ['Firefox', join(home, '.config', 'mozilla', 'firefox')],
    ['Firefox (snap)', join(home, 'snap', 'firefox', 'common', '.mozilla', 'firefox')],
    ['Firefox (flatpak)', join(home, '.var', 'app', 'org.mozilla.firefox', '.mozilla', 'firefox')],
  ]
  for (const [name, folder] of firefoxes) {
    for (const profile of await readdir(folder).catch(() => [])) {
      const database = join(folder, profile)
      if (await exists(join(database, 'cert9.db'))) stores.push(createNssStore(environment, `${name} (${profile})`, database))
    }
  }
  return stores
}

function createNssStore({ run }: TrustStoreEnvironment, name: string, folder: string): TrustStore {
  const database = ['-d', `sql:${folder}`]
  // The digest in the nickname separates the authorities of several instances.
  const nickname = ({ authority }: AuthorityFile): string => `Homeport ${authority.id.slice(0, 16)}`
  const addArgs = (authorityFile: AuthorityFile) => ['-A', ...database, '-t', 'C,,', '-n', nickname(authorityFile), '-i', authorityFile.file]
  const removeArgs = (authorityFile: AuthorityFile) => ['-D', ...database, '-n', nickname(authorityFile)]
  return {
    name,
    async readStatus(authorityFile) {
      const { code, out } = await run('certutil', ['-L', ...database, '-n', nickname(authorityFile), '-a'])
      if (code === -1) return 'unavailable'
      return code === 0 && matchesAuthority(out, authorityFile) ? 'trusted' : 'not_trusted'
    },
    async add(authorityFile) {
      if (!(await exists(join(folder, 'cert9.db')))) {
        await mkdir(folder, { recursive: true, mode: 0o700 })
        const failure = failureOf(await run('certutil', ['-N', ...database, '--empty-password']))
        if (failure !== undefined) return failure
      }
      return failureOf(await run('certutil', addArgs(authorityFile)))
    },
    remove: async (authorityFile) => failureOf(await run('certutil', removeArgs(authorityFile))),
    manualCommands: (authorityFile) => ({
      add: formatShellCommand('certutil', addArgs(authorityFile)),
      remove: formatShellCommand('certutil', removeArgs(authorityFile)),
    }),
  }
}

/** How each distribution lets curl, git and other programs trust an authority. */
const caAnchorFolders = [
  { folder: 'usr/local/share/ca-certificates', update: ['update-ca-certificates'] },
  { folder: 'etc/pki/ca-trust/source/anchors', update: ['update-ca-trust', 'extract'] },
  { folder: 'etc/ca-certificates/trust-source/anchors', update: ['trust', 'extract-compat'] },
  { folder: 'etc/pki/trust/anchors', update: ['update-ca-certificates'] },
] as const

async function findSystemStores({ root, run }: TrustStoreEnvironment): Promise<TrustStore[]> {
  for (const { folder, update } of caAnchorFolders) {
    const anchors = join(root, folder)
    if (await exists(anchors)) return [createSystemStore(anchors, update, run)]
  }
  return []
}

function createSystemStore(folder: string, update: readonly [string, ...string[]], run: RunProgram): TrustStore {
  const certificatePath = ({ authority }: AuthorityFile): string => join(folder, `homeport-${authority.id.slice(0, 16)}.crt`)
  const [program, ...args] = update
  const denied = 'Only an administrator can change it.'
  return {
    name: 'system',
    readStatus: async (authorityFile) =>
      matchesAuthority(await readFile(certificatePath(authorityFile), 'utf8').catch(() => ''), authorityFile) ? 'trusted' : 'not_trusted',
    async add(authorityFile) {
      if (!(await isFolderWritable(folder))) return denied
      await writeFile(certificatePath(authorityFile), authorityFile.authority.certificate, { mode: 0o644 })
      const failed = failureOf(await run(program, args))
      if (failed !== undefined) await rm(certificatePath(authorityFile), { force: true })
      return failed
    },
    async remove(authorityFile) {
      if (!(await isFolderWritable(folder))) return denied
      await rm(certificatePath(authorityFile), { force: true })
      return failureOf(await run(program, args))
    },
    manualCommands: (authorityFile) => ({
      add: `sudo cp ${quoteShellWord(authorityFile.file)} ${quoteShellWord(certificatePath(authorityFile))} && sudo ${update.join(' ')}`,
      remove: `sudo rm ${quoteShellWord(certificatePath(authorityFile))} && sudo ${update.join(' ')}`,
    }),
  }
}

function matchesAuthority(pem: string, { authority }: AuthorityFile): boolean {
  const found = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/.exec(pem)?.[0]
  return found !== undefined && readCertificate(found).fingerprint_sha256 === authority.fingerprint_sha256
}

const formatShellCommand = (program: string, args: readonly string[]): string => [program, ...args].map(quoteShellWord).join(' ')
const isFolderWritable = (folder: string): Promise<boolean> => access(folder, constants.W_OK).then(() => true, returnFalse)
const exists = (path: string): Promise<boolean> => access(path).then(() => true, returnFalse)
const returnFalse = (): false => false
