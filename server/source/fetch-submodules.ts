import { readdir, realpath, rm } from 'node:fs/promises'
import { dirname, join, posix, sep } from 'node:path'
import { parseRepositoryAddress, requirePublicAddress, type RepositoryAddress } from './repository-address.ts'
import { checkOutCommit, connectRepository, requireSuccess, type GitRepositoryConnection, type GitConnectOptions } from './git-repository.ts'
import { fetchLfsFiles } from './git-lfs.ts'
import { removeEscapingLinks } from './links.ts'
import { SourceError, type GitCredentials } from './source.ts'

interface SubmoduleOptions {
  /** The repository of the project. Its host, credentials and network access define the access of its submodules. */
  main: GitRepositoryConnection
  credentials: GitCredentials
  allow_local: boolean
  /** The resolved path of the folder with the whole source. */
  root: string
}

const maxSubmodules = 100
const maxDepth = 5

/**
 * Fetches the submodules of a working tree, recursively. `git submodule` is not used, because it follows all settings in .gitmodules: this function
 * reads only the address from that file, and the path and commit from the index. A submodule that cannot be fetched stays empty, with a warning.
 */
export async function fetchSubmodules(
  submoduleOptions: SubmoduleOptions,
  parent: GitRepositoryConnection,
  listing: string,
  options: GitConnectOptions,
  depth = 0,
  budget = { left: maxSubmodules },
): Promise<void> {
  const note = (line: string) => options.log.note(line)
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
      if (url === undefined) throw new SourceError('It has no address in .gitmodules.', 'Add its address to .gitmodules.')
      if (depth >= maxDepth || budget.left-- <= 0)
        throw new SourceError('The repository has too many submodules.', 'Add the files that the app needs to the repository itself.')
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
      note(`Warning: the submodule ${label} was not fetched, so its folder is empty. ${error.message} ${error.hint}`)
    }
  }
}

/** Addresses by path. .gitmodules is read from the commit, so links and included files have no effect. */
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
 * A submodule may use the access of the main repository on the same host. Any other host must be public and is contacted without the keys of this
 * machine. Folders of this machine are never read.
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
  if (address.scheme === 'file') throw new SourceError('Its address is a folder on this machine.', 'Use an https:// address in .gitmodules.')
  // An ssh address on the main repository's host is fetched over the main repository's http address, because ssh needs a key.
  if (address.scheme === 'ssh' && main.address.scheme.startsWith('http') && address.host === main.address.host) {
    const path = new URL(address.url).pathname
    address = parseRepositoryAddress(new URL(path, main.address.url).href)
  }
  return allow_local && isSameHost(address, main.address) ? address : requirePublicAddress(address, signal)
}

const isSameHost = (one: RepositoryAddress, other: RepositoryAddress): boolean =>
  one.scheme === other.scheme && one.host === other.host && one.port === other.port

/** Checks the folder that git created for a submodule. On a case-insensitive file system, a link in its path could point outside of the source. */
async function requireEmptyFolder(root: string, folder: string): Promise<void> {
  const real = await realpath(folder).catch(() => null)
  const isPlain =
    real !== null && real.startsWith(root + sep) && real === join(await realpath(dirname(folder)), folder.slice(dirname(folder).length + 1))
  if (!isPlain || (await readdir(folder)).length > 0)
    throw new SourceError('Its folder is not an empty folder inside the repository.', 'Check its path in .gitmodules.')
}
