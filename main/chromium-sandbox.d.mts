/** The system properties that the decisions depend on. */
export interface SandboxSystem {
  platform: NodeJS.Platform
  uid: number | undefined
  /** The text of a file; empty if it does not exist. */
  read(path: string): string
  stat(path: string): { uid: number; mode: number } | undefined
}

/** The commands that enable Chromium's sandbox for an Electron binary; undefined if it already works. */
export function sandboxFix(binary: string, system?: SandboxSystem): string | undefined

/** The sandbox flags and arguments for Electron, or the reason why it must not be started. */
export function chooseSandbox(
  start: { args: readonly string[]; binary: string | undefined; choice_file: string },
  system?: SandboxSystem,
): { flags: string[]; args: string[]; reason?: string }

/** The doctor's note about a window without the sandbox. */
export function sandboxNote(binary: string, system?: SandboxSystem): { message: string; hint: string }
