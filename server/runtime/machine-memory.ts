import { platform } from 'node:os'

/**
 * The memory that is available on this machine, within the limit of the platform's own control group, in MB. Null on macOS, whose figure for free
 * memory leaves out most of what programs could get.
 */
export const readMachineMemory = (): number | null => (platform() === 'darwin' ? null : process.availableMemory() / 2 ** 20)
