import { limits } from '../../server/contract/limits.ts'

/** A dropped or chosen source, checked before the upload. */
export type DroppedSource = { kind: 'archive'; file: File; type: ArchiveType } | { kind: 'folder'; path: string } | { kind: 'fault'; text: string }

export type ArchiveType = 'application/zip' | 'application/gzip'

/** For the file dialog. Operating systems know `.tar.gz` only by its last extension. */
export const acceptedFiles = '.zip,.gz,.tgz,application/zip,application/gzip'

const packHint = 'Pack the project as a .zip or .tar.gz.'

/** Recognizes an archive by its first bytes and size, or returns why it is rejected. */
export async function inspectFiles(files: readonly File[]): Promise<DroppedSource> {
  const [file] = files
  if (!file) return rejected('No file was dropped.')
  if (files.length > 1) return rejected(`You dropped ${files.length} files. Pack them into one .zip or .tar.gz first.`)
  const name = `“${file.name}”`
  if (file.size > limits.upload.packed_bytes)
    return rejected(`${name} is larger than ${limits.upload.packed_bytes / 2 ** 20} MiB. Leave out generated folders, such as node_modules.`)
  if (file.size === 0) return rejected(`${name} is empty.`)
  const head = await file
    .slice(0, 262)
    .arrayBuffer()
    .then(
      (buffer) => new Uint8Array(buffer),
      () => null,
    )
  if (!head) return rejected(`${name} cannot be read. If it is a folder, pack it as a .zip first.`)
  if (head[0] === 0x50 && head[1] === 0x4b) return { kind: 'archive', file, type: 'application/zip' }
  if (head[0] === 0x1f && head[1] === 0x8b) return { kind: 'archive', file, type: 'application/gzip' }
  if (String.fromCharCode(...head.slice(257)) === 'ustar') return rejected(`${name} is an uncompressed .tar. Compress it with gzip.`)
  return rejected(`${name} is neither a .zip nor a .tar.gz. ${packHint}`)
}

/** Reads a drop event. Only the desktop app knows the path of a dropped folder, and only the local instance can deploy it. */
export function inspectDrop({ items, files }: DataTransfer, getPathForFile: ((file: File) => string | null) | null): Promise<DroppedSource> {
  // Both are cleared after the event, so they are read synchronously.
  const all = [...files]
  const folder = [...items].map((item) => item.webkitGetAsEntry()).find((entry) => entry?.isDirectory)
  if (!folder) return inspectFiles(all)
  if (all.length > 1) return Promise.resolve(rejected('Drop one folder or one archive.'))
  const path = getPathForFile && all[0] ? getPathForFile(all[0]) : null
  if (path !== null) return Promise.resolve({ kind: 'folder', path })
  return Promise.resolve(
    rejected(
      getPathForFile
        ? `The path of “${folder.name}” is not available. Use the Choose button to select the folder.`
        : `“${folder.name}” is a folder, and browsers can upload only files. Pack it as a .zip first, or run \`npx homeport deploy\` in it.`,
    ),
  )
}

/** Derives a project name from an archive's file name: `my-app-main.tar.gz` becomes `my-app-main`. */
export function projectNameFromArchive(name: string): string {
  return name.replace(/\.(zip|tgz|tar\.gz|gz)$/i, '').trim()
}

function rejected(text: string): DroppedSource {
  return { kind: 'fault', text }
}
