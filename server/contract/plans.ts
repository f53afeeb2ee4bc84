import type { PlanName } from './instance.ts'

export interface Plan {
  /** null: no cap. */
  projects: number | null
  memory_mb: number
  always_warm: boolean
  concurrent_builds: number
  /** A database or a custom domain needs a card. */
  card_needed: boolean
}

/** What each plan allows. */
export const plans: Record<PlanName, Plan> = {
  starter: { projects: 3, memory_mb: 256, always_warm: false, concurrent_builds: 1, card_needed: true },
  basic: { projects: 10, memory_mb: 512, always_warm: true, concurrent_builds: 2, card_needed: false },
  pro: { projects: 50, memory_mb: 1024, always_warm: true, concurrent_builds: 4, card_needed: false },
  enterprise: { projects: null, memory_mb: 1024, always_warm: true, concurrent_builds: 8, card_needed: false },
}
