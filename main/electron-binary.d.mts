/** Electron's binary in a folder of its package; undefined where it is not, or not wholly. */
export function electronBinary(folder: string, env?: NodeJS.ProcessEnv): string | undefined
