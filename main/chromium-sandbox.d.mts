/** What the decisions read of the system. */
export interface SandboxSystem {
  platform: NodeJS.Platform
  uid: number | undefined
  /** The text of a file; empty where there is none. */
  read(path: string): string
  stat(path: string): { uid: number; mode: number } | undefined
}

/** The commands that make Chromium's sandbox work for an Electron binary; undefined where it works already. */
export function sandboxFix(binary: string, system?: SandboxSystem): string | undefined

/** How a start goes about the sandbox: flags and arguments for Electron, or the reason why it must not be started. */
export function chooseSandbox(
  start: { args: readonly string[]; binary: string | undefined; choice_file: string },
  system?: SandboxSystem,
): { flags: string[]; args: string[]; reason?: string }

/** What the doctor says of a window without the sandbox. */
export function sandboxNote(binary: string, system?: SandboxSystem): { message: string; mend: string }
