/** Electron's binary in the folder of its package; undefined if it is missing or incomplete. */
export function electronBinary(folder: string, env?: NodeJS.ProcessEnv): string | undefined

/** Electron's binary, downloaded if necessary, or the reason why there is no window. */
export function findElectron(options: {
  /** Electron's package. */
  folder: string
  /** The Node that runs Electron's install script. */
  node: string
  say(sentence: string): void
  env?: NodeJS.ProcessEnv
  platform?: NodeJS.Platform
}): Promise<{ binary: string } | { reason: string; binary?: undefined }>
