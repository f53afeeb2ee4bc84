/** What the decision reads of the system. */
export interface SandboxSystem {
  platform: NodeJS.Platform
  /** The text of a file; empty where there is none. */
  read(path: string): string
  stat(path: string): { uid: number; mode: number } | undefined
}

/** The commands that make Chromium's sandbox work for an Electron binary; undefined where it works already. */
export function sandboxFix(binary: string, system?: SandboxSystem): string | undefined
