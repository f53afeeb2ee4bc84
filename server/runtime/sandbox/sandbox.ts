import type { DoctorCheck } from '../../contract/instance.ts'

export interface SandboxCommand {
  file: string
  args: string[]
  cwd: string
}

/** Folders and files that a command may use in addition to system programs. */
export interface SandboxFolders {
  read: string[]
  write: string[]
}

export interface ConfinedCommand {
  file: string
  args: string[]
  /** The sandbox writes JSON with `child-pid`, the leader of the command's group, to its file descriptor 3. */
  reports_pid: boolean
}

/** Runs commands of projects so that they only see system programs and their own folders. */
export interface Sandbox {
  /** For example `bubblewrap 0.8.0`. */
  name: string
  confine(command: SandboxCommand, folders: SandboxFolders): ConfinedCommand
}

export interface SandboxProvider {
  /** Searched once; a running platform keeps the result. */
  find(): Promise<Sandbox | null>
  /** For the doctor: how builds and apps are isolated, or what they can read without isolation. */
  check(): Promise<DoctorCheck>
}

/** A path that is hidden even inside a visible folder. */
export interface HiddenPath {
  path: string
  is_folder: boolean
}
