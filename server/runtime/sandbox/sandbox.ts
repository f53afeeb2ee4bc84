import type { DoctorCheck } from '../../contract/instance.ts'

export interface SandboxCommand {
  file: string
  args: string[]
  cwd: string
}

/** Folders and files of this machine that a command may use besides the programs of the system. */
export interface SandboxFolders {
  read: string[]
  write: string[]
}

export interface ConfinedCommand {
  file: string
  args: string[]
  /** It writes JSON with `child-pid` to its file descriptor 3: the process that leads the group of the command. */
  reports_pid: boolean
}

/** Runs commands of projects so that they see programs of the system and their own folders, and nothing else of this machine's files. */
export interface Sandbox {
  /** Such as `bubblewrap 0.8.0`. */
  name: string
  confine(command: SandboxCommand, folders: SandboxFolders): ConfinedCommand
}

export interface SandboxProvider {
  /** Looked for once: a running platform stays with what it found. */
  find(): Promise<Sandbox | null>
  /** For the doctor: what confines builds and apps, or what they can read because nothing does. */
  check(): Promise<DoctorCheck>
}

/** What is hidden also where a folder around it is shown. */
export interface HiddenPath {
  path: string
  is_folder: boolean
}
