import { readdir, realpath, rm } from 'node:fs/promises'
import { dirname, join, posix, sep } from 'node:path'
import { parseRepositoryAddress, requirePublicAddress, type RepositoryAddress } from './repository-address.ts'
import {
  checkOutCommit,
  connectRepository,
  requireSuccess,
  type GitRepositoryConnection,
  type GitConnectOptions,
  type GitCredentials,
} from './git-repository.ts'
import { fetchLfsFiles } from './git-lfs.ts'
import { removeEscapingLinks } from './links.ts'
import { SourceError } from './source.ts'

interface SubmoduleOptions {
  /** The repository of the project: its host, its credentials and what it may reach are the measure for all that it contains. */
  main: GitRepositoryConnection
  credentials: GitCredentials
  allow_local: boolean
  /** The real folder that holds everything. */
  root: string
}

const maxSubmodules = 100
const maxDepth = 5

/**
 * Fetches the submodules of a working tree, and theirs. `git submodule` is not used, because it does what .gitmodules says: here only
 * the address is taken from it, and the place and the commit from the index. One that cannot be fetched stays empty, with a warning.
 */
export async function fetchSubmodules(
  submoduleOptions: SubmoduleOptions,
  parent: GitRepositoryConnection,
  listing: string,
  options: GitConnectOptions,
  depth = 0,
  budget = { left: maxSubmodules },
): Promise<void> {
  const note = (line: string) => options.log.note('clone', line)
  const gitlinks = listing.split('\0').flatMap((entry) => {
    const [, sha = '', path = ''] = /^160000 ([0-9a-f]{40,64}) 0\t(.+)$/s.exec(entry) ?? []
    return path === '' ? [] : [{ sha, path }]
  })
  if (gitlinks.length === 0) return
  const addresses = await readSubmoduleUrls(parent)
  for (const { sha, path } of gitlinks) {
    const folder = join(parent.folder, path)
    const label = posix.join(parent.folder.slice(submoduleOptions.root.length + 1).replaceAll(sep, '/'), path)
    const url = addresses.get(path)
    try {
      if (url === undefined) throw new SourceError('.gitmodules does not name its address.', 'Add it to .gitmodules.')
      if (depth >= maxDepth || budget.left-- <= 0) throw new SourceError('There are too many submodules.', 'Include what the app needs.')
      const address = await resolveSubmoduleAddress(submoduleOptions, parent, url, options.signal)
      await requireEmptyFolder(submoduleOptions.root, folder)
      note(`Fetching the submodule ${label} from ${submoduleOptions.main.mask(address.url)}, commit ${sha.slice(0, 12)}.`)
      const credentials = isSameHost(address, submoduleOptions.main.address) ? submoduleOptions.credentials : null
      const child = connectRepository(address, { branch: null, folder, credentials }, options)
      await checkOutCommit(child, sha)
      const nestedListing = (await requireSuccess(await child.git(['ls-files', '-s', '-z']))).stdout
      await removeEscapingLinks(submoduleOptions.root, folder, nestedListing, note)
      await fetchLfsFiles(child, note)
      await fetchSubmodules(submoduleOptions, child, nestedListing, options, depth + 1, budget)
      await rm(join(folder, '.git'), { recursive: true, force: true })
    } catch (error) {
      options.signal.throwIfAborted()
      if (!(error instanceof SourceError)) throw error
      for (const name of await readdir(folder).catch((): string[] => [])) await rm(join(folder, name), { recursive: true, force: true })
      note(`Warning: the submodule ${label} is not fetched, its folder stays empty. ${error.message} ${error.hint}`)
    }
  }
}

/** Addresses by path. The file is read out of the commit: no link and no included file has a say. */
async function readSubmoduleUrls({ git }: GitRepositoryConnection): Promise<Map<string, string>> {
  const { stdout } = await git(['config', '--blob', 'HEAD:.gitmodules', '--no-includes', '--null', '--list'])
  const modules = new Map<string, { path?: string; url?: string }>()
  for (const entry of stdout.split('\0')) {
    const [, name = '', key, value = ''] = /^submodule\.(.+)\.(path|url)\n(.*)$/s.exec(entry) ?? []
    if (key === 'path' || key === 'url') modules.set(name, { ...modules.get(name), [key]: value })
  }
  return new Map([...modules.values()].flatMap(({ path, url }) => (path === undefined || url === undefined ? [] : [[path, url] as const])))
}

/**
 * What the main repository may reach on its own host, a submodule may as well; any other host must be a public one, reached without
 * the keys of this machine. Folders of this machine are never read, whoever asks.
 */
async function resolveSubmoduleAddress(
  { main, allow_local }: SubmoduleOptions,
  parent: GitRepositoryConnection,
  url: string,
  signal: AbortSignal,
): Promise<RepositoryAddress> {
  const isRelative = /^\.\.?\//.test(url)
  const scp = /^(?:([\w.-]+)@)?([\w.-]+):(?!\/)(.+)$/.exec(url)
  const absolute = isRelative
    ? new URL(url, `${parent.address.url.replace(/\/$/, '')}/`).href
    : scp
      ? `ssh://${scp[1] ?? 'git'}@${scp[2]}/${scp[3]}`
      : url
  let address = parseRepositoryAddress(absolute)
  if (address.scheme === 'file') throw new SourceError('Its address is a folder of this machine.', 'Give an https:// address in .gitmodules.')
  // By ssh only for those who have keys: the same host hands it out by the way of the main repository.
  if (address.scheme === 'ssh' && main.address.scheme.startsWith('http') && address.host === main.address.host) {
    const path = new URL(address.url).pathname
    address = parseRepositoryAddress(new URL(path, main.address.url).href)
  }
  return allow_local && isSameHost(address, main.address) ? address : requirePublicAddress(address, signal)
}

const isSameHost = (one: RepositoryAddress, other: RepositoryAddress): boolean =>
  one.scheme === other.scheme && one.host === other.host && one.port === other.port

/** The folder that git made for a submodule; a link on the way to it, on a file system that folds case, would lead elsewhere. */
async function requireEmptyFolder(root: string, folder: string): Promise<void> {
  const real = await realpath(folder).catch(() => null)
  const isPlain =
    real !== null && real.startsWith(root + sep) && real === join(await realpath(dirname(folder)), folder.slice(dirname(folder).length + 1))
  if (!isPlain || (await readdir(folder)).length > 0) throw new SourceError('Its folder is not an empty one of the repository.', 'Check its path.')
}
