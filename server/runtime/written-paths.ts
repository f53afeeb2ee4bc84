import { isDatabasePath } from '../contract/volume-paths.ts'

export interface VolumeMount {
  id: string
  path: string
  is_read_only: boolean
  /** `path` is a link to a file of the same name in the volume. */
  is_file?: boolean
}

export interface WrittenFiles {
  /** `path` is absolute, with /app for the app's folder. `bytes` is null when it was not measured. */
  files: { path: string; bytes: number | null; is_database: boolean }[]
  /** The folder of the app, which has files of the build. */
  app_folder: string
  /** The folders of these files that the build did not create. */
  new_folders: ReadonlySet<string>
  is_complete: boolean
  /** Folders that the image declares as volumes and that have files, without those where the replica has a volume. `bytes` is null for a large one. */
  image_volumes?: { path: string; files: number; bytes: number | null }[]
}

/** For an SQLite database: the file itself, and its additional files. */
export const databaseSuffixes = ['', '-wal', '-shm', '-journal'] as const

/** Folders of dependencies, caches, logs and temporary files, at any depth. */
const ignoredFolders = new Set('node_modules __pycache__ cache caches tmp temp log logs coverage venv site-packages lost+found'.split(' '))
/** Folders of the system, in a container. Images have apps in /usr/src. */
const systemFolders =
  '/bin /boot /dev /etc /homeport /lib /lib64 /proc /run /sbin /sys /usr/bin /usr/include /usr/lib /usr/local /usr/sbin /usr/share /var/run /var/spool /var/lib/apt /var/lib/dpkg /var/backups'.split(
    ' ',
  )
const ignoredFiles = /\.(?:log|pid|sock|socket|lock|tmp|swp|part|pyc|map)$|-(?:wal|shm|journal)$|\.log\.\d+$/i

/** Whether the files of a folder are never data. Hidden folders count, except `.data`. */
export const isIgnoredFolder = (name: string): boolean => ignoredFolders.has(name.toLowerCase()) || (name.startsWith('.') && name !== '.data')

/** Whether a file outside of volumes is inspected. A path with control characters cannot be a volume. */
export function isWrittenPath(path: string): boolean {
  if (/\p{Cc}/u.test(path) || systemFolders.some((folder) => path === folder || path.startsWith(`${folder}/`))) return false
  const segments = path.slice(1).split('/')
  const name = segments.pop() ?? ''
  return !segments.some(isIgnoredFolder) && !ignoredFiles.test(name) && !(name.startsWith('.') && !isDatabasePath(name))
}

/** Other files are not opened to check for a database. */
const plainFiles = /\.(?:png|jpe?g|gif|webp|avif|svg|ico|mp[34]|webm|ogg|wav|pdf|zip|gz|tgz|json|txt|md|csv|html?|css|[cm]?js|tsx?|xml|ya?ml)$/i
export const mayBeDatabase = (path: string): boolean => isDatabasePath(path) || !plainFiles.test(path)

const magic = Buffer.from('SQLite format 3\0', 'latin1')
export const isDatabaseHead = (head: Uint8Array): boolean => magic.equals(head.subarray(0, magic.length))
export const databaseHeadBytes = magic.length
