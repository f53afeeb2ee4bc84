import { isWithin } from '../files.ts'
import type { SandboxCommand, SandboxFolders, HiddenPath } from './sandbox.ts'

/** Programs of the system and what they read. Everything else of the file system does not exist for the command. */
const systemPaths =
  '/usr /bin /sbin /lib /lib32 /lib64 /libx32 /etc /opt /nix /gnu /run/current-system /var/lib/ca-certificates /var/cache/fontconfig'.split(' ')

/** Of the kernel's own files, those that root may write without a capability: the user of the sandbox is root outside of it, where we are. */
const kernelPaths = ['sys', 'sysrq-trigger', 'irq', 'bus', 'fs', 'acpi', 'scsi'].map((name) => `/proc/${name}`)

const tmpfs_bytes = 256 * 1024 ** 2

/** For bwrap: `command` in namespaces of its own (files, processes, shared memory) but in the network of this machine. */
export function createBubblewrapArguments(command: SandboxCommand, folders: SandboxFolders, hidden: HiddenPath[], isRoot: boolean): string[] {
  const mounts: [path: string, ...args: string[]][] = [
    ...systemPaths.map((path) => [path, '--ro-bind-try', path, path] as [string, ...string[]]),
    ['/proc', '--proc', '/proc'],
    ...kernelPaths.map((path) => [path, '--ro-bind-try', path, path] as [string, ...string[]]),
    ['/dev', '--dev', '/dev'],
    ['/tmp', '--size', String(tmpfs_bytes), '--tmpfs', '/tmp'],
  ]
  const visible = systemPaths.concat(folders.read)
  for (const { path, is_folder } of hidden) {
    if (!visible.some((folder) => isWithin(path, folder))) continue
    mounts.push(is_folder ? [path, '--tmpfs', path] : [path, '--ro-bind', '/dev/null', path])
  }
  for (const path of folders.read) mounts.push([path, '--ro-bind-try', path, path])
  for (const path of folders.write) mounts.push([path, '--bind', path, path])
  // A folder comes before what is mounted in it; of two for the same path the later one wins.
  mounts.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
  return [
    // The group of the command is led by a process within, so that signals spare bwrap itself, which reports the exit code.
    ...'--new-session --unshare-pid --unshare-ipc --cap-drop ALL --info-fd 3'.split(' '),
    // Looks like an ordinary user to programs that would change owners as root.
    ...(isRoot ? '--unshare-user --uid 65534 --gid 65534'.split(' ') : []),
    ...mounts.flatMap(([, ...args]) => args),
    ...'--remount-ro / --chdir'.split(' '),
    command.cwd,
    '--',
    command.file,
    ...command.args,
  ]
}
