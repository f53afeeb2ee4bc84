import type { PlatformHost } from '../../server/platform.ts'

/** No second set of replicas fits. */
export const host: PlatformHost = { available_memory_mb: () => 100 }
