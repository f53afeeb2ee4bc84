/** Electron's binary in a folder of its package; undefined where it is not, or not wholly. */
export function electronBinary(folder: string, env?: NodeJS.ProcessEnv): string | undefined

/** The binary, fetched where it is not here wholly; or the reason why there can be no window. */
export function findElectron(options: {
  /** Electron's package. */
  folder: string
  /** The Node that runs its script. */
  node: string
  say(sentence: string): void
  env?: NodeJS.ProcessEnv
  platform?: NodeJS.Platform
}): Promise<{ binary: string } | { reason: string; binary?: undefined }>
