import { create } from 'zustand'
import type { ApiProblem } from '../lib/api-problem.ts'
import type { Transfer } from '../api/use-upload.ts'

export type PromotionStepName = 'source' | 'project' | 'variables' | 'upload' | 'deploy'

export interface PromotionStep {
  name: PromotionStepName
  state: 'waiting' | 'running' | 'done' | 'failed'
  /** What was done, or is being done, in a few words. */
  note: string
}

/** What is on its way from one instance to another. */
export interface Promotion {
  key: string
  /** Ids and names of the instances, and the projects there. */
  from: { id: string; name: string; slug: string }
  to: { id: string; name: string; slug: string }
  /** `cut`: the page was closed while it ran, or (`is_given_up`) while it was taken back. */
  state: 'running' | 'failed' | 'undoing' | 'done' | 'cut'
  is_given_up: boolean
  steps: PromotionStep[]
  transfer: Transfer | null
  problem: ApiProblem | null
  /** Where it is being built. */
  deployment_id: string | null
  /** While it runs: ends it, and takes back what it has done there. Afterwards: takes that back. */
  cancel(): void
  retry(): void
}

interface PromotionStore {
  /** They go on while somebody looks at other pages, and at other instances. */
  promotions: Promotion[]
  put(promotion: Promotion): void
  remove(key: string): void
}

export const usePromotions = create<PromotionStore>((set) => ({
  promotions: [],
  put: (promotion) =>
    set(({ promotions }) => ({
      promotions: promotions.some(({ key }) => key === promotion.key)
        ? promotions.map((one) => (one.key === promotion.key ? promotion : one))
        : [...promotions, promotion],
    })),
  remove: (key) => set(({ promotions }) => ({ promotions: promotions.filter((one) => one.key !== key) })),
}))

/** Where this browser keeps what is on its way. */
export const promotionsStorageKey = 'homeport.promotions'

/** One at a time from a project. */
export const promotionKey = (instanceId: string, slug: string) => `${instanceId} ${slug}`
