import { dirname } from 'node:path'
import type { SandboxFolders } from './sandbox.ts'

/** Where users, other volumes and temporary files of others are. */
const personalFolders = ['/Users', '/Volumes', '/private/var/folders', '/private/tmp', '/private/var/root']

/**
 * A profile for macOS's sandbox-exec; of its rules the last one that fits decides. It has not been run on a Mac by us: a Mac that does
 * not take it is told by the trial at the start, and the doctor says so.
 */
export function createSeatbeltProfile(folders: SandboxFolders, hidden: string[]): string {
  const subpaths = (paths: string[]) => paths.map((path) => `(subpath ${quote(path)})`).join(' ')
  const visible = [...folders.read, ...folders.write]
  const ancestors = [...new Set(visible.flatMap(listAncestors))].toSorted()
  return [
    '(version 1)',
    '(allow default)',
    '(deny file-write*)',
    `(deny file-read* ${subpaths([...personalFolders, ...hidden])})`,
    // Programs look at every folder on the way to their own.
    ...(ancestors.length > 0 ? [`(allow file-read-metadata ${ancestors.map((path) => `(literal ${quote(path)})`).join(' ')})`] : []),
    ...(visible.length > 0 ? [`(allow file-read* ${subpaths(visible)})`] : []),
    `(allow file-write* ${subpaths(folders.write)} (subpath "/dev"))`,
    // The keychain answers by a service, not by its file; and processes outside are not this one's business.
    '(deny mach-lookup (global-name "com.apple.SecurityServer") (global-name "com.apple.securityd.xpc"))',
    '(deny process-info* (target others))',
    '(deny signal (target others))',
    '(allow signal (target same-sandbox))',
  ].join('\n')
}

/** A string of the profile's language, which is a Scheme. */
const quote = (path: string): string => `"${path.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`

function listAncestors(path: string): string[] {
  const parent = dirname(path)
  return parent === path ? [path] : [parent, ...listAncestors(parent)]
}
