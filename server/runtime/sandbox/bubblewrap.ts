import { isWithin } from '../files.ts'
import type { SandboxCommand, SandboxFolders, HiddenPath } from './sandbox.ts'

/** System programs and the files they read. The command sees no other part of the file system. */
const systemPaths =
  '/usr /bin /sbin /lib /lib32 /lib64 /libx32 /etc /opt /nix /gnu /run/current-system /var/lib/ca-certificates /var/cache/fontconfig'.split(' ')

/** Kernel files that root can write without a capability; hidden because the sandbox user is root outside when the platform runs as root. */
const kernelPaths = ['sys', 'sysrq-trigger', 'irq', 'bus', 'fs', 'acpi', 'scsi'].map((name) => `/proc/${name}`)

const tmpfs_bytes = 256 * 1024 ** 2

/** Arguments for bwrap: `command` in its own namespaces (files, processes, shared memory) and in the network of this machine. */
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
  // A folder is mounted before its subfolders; of two mounts with the same path, the later one wins.
  mounts.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
  return [
    // A process inside leads the group of the command, so that signals do not end bwrap, which reports the exit code.
    ...'--new-session --unshare-pid --unshare-ipc --cap-drop ALL --info-fd 3'.split(' '),
    // Programs that would change owners as root see an ordinary user.
    ...(isRoot ? '--unshare-user --uid 65534 --gid 65534'.split(' ') : []),
    ...mounts.flatMap(([, ...args]) => args),
    ...'--remount-ro / --chdir'.split(' '),
    command.cwd,
    '--',
    command.file,
    ...command.args,
  ]
}
