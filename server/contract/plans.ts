import type { PlanName } from './instance.ts'

export interface Plan {
  /** null: unlimited. */
  projects: number | null
  /** Of each replica. */
  memory_mb: number
  /** Of each service. */
  max_replicas: number
  always_warm: boolean
  concurrent_builds: number
  /** Databases and custom domains require a card. */
  requires_payment_method: boolean
}

/** The limits of each plan. */
export const plans: Record<PlanName, Plan> = {
  starter: { projects: 3, memory_mb: 256, max_replicas: 2, always_warm: false, concurrent_builds: 1, requires_payment_method: true },
  basic: { projects: 10, memory_mb: 512, max_replicas: 5, always_warm: true, concurrent_builds: 2, requires_payment_method: false },
  pro: { projects: 50, memory_mb: 1024, max_replicas: 10, always_warm: true, concurrent_builds: 4, requires_payment_method: false },
  enterprise: { projects: null, memory_mb: 1024, max_replicas: 20, always_warm: true, concurrent_builds: 8, requires_payment_method: false },
}
