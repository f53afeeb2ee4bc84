import { test } from 'vitest'
import { isFullTier } from './tier.ts'

/** A long test in a file of both tiers that runs in the full tier only. */
export const fullTest = (name: string, run: () => Promise<void>, timeout_ms?: number): void => {
  if (isFullTier) test(name, run, timeout_ms)
}

/** Declares a test of what the runtimes have in common, in a suite that runs per runtime: on Docker it runs in the full tier only. */
export const commonTest = (runtime: 'process' | 'docker') => (runtime === 'docker' ? fullTest : test)

/** Declares a long test of a suite that runs on several paths of the edge: in the default tier only on the one that most requests take. */
export const longEdgeTest = (isUsual: boolean) => (isUsual ? test : fullTest)
