import { dirname } from 'node:path'
import type { SandboxFolders } from './sandbox.ts'

/** Folders of users, other volumes and temporary files of other programs. */
const personalFolders = ['/Users', '/Volumes', '/private/var/folders', '/private/tmp', '/private/var/root']

/**
 * A profile for macOS sandbox-exec; the last matching rule decides. The profile has not been tested on a Mac: the check at startup detects a Mac
 * that rejects it, and the doctor reports it.
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
    // Programs read the metadata of every folder on the path to their own.
    ...(ancestors.length > 0 ? [`(allow file-read-metadata ${ancestors.map((path) => `(literal ${quote(path)})`).join(' ')})`] : []),
    ...(visible.length > 0 ? [`(allow file-read* ${subpaths(visible)})`] : []),
    `(allow file-write* ${subpaths(folders.write)} (subpath "/dev"))`,
    // The keychain is reached through a service, not a file. Processes outside of the sandbox are hidden.
    '(deny mach-lookup (global-name "com.apple.SecurityServer") (global-name "com.apple.securityd.xpc"))',
    '(deny process-info* (target others))',
    '(deny signal (target others))',
    '(allow signal (target same-sandbox))',
  ].join('\n')
}

/** A string literal of the profile language, a Scheme dialect. */
const quote = (path: string): string => `"${path.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`

function listAncestors(path: string): string[] {
  const parent = dirname(path)
  return parent === path ? [path] : [parent, ...listAncestors(parent)]
}
