import { test } from 'vitest'
import { isFullTier } from './tier.ts'

/** A long test in a file of both tiers that runs in the full tier only. */
export const fullTest = (name: string, run: () => Promise<void>, timeout_ms?: number): void => {
  if (isFullTier) test(name, run, timeout_ms)
}
