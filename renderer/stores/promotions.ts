import { create } from 'zustand'
import type { ApiError } from '../../server/client/api-error.ts'
import type { PromotionReportLine } from '../../server/client/promotion/report.ts'
import type { PromotionStepName } from '../../server/client/promotion/request.ts'
import type { Transfer } from '../api/use-upload.ts'
import { askBeforeUnload } from '../lib/ask-before-unload.ts'

export interface PromotionStep {
  name: PromotionStepName
  state: 'waiting' | 'running' | 'done' | 'failed'
  /** A short description of the progress or result. */
  note: string
}

/** A promotion between two instances. */
export interface Promotion {
  key: string
  /** Ids and names of the instances, and the projects. */
  from: { id: string; name: string; slug: string }
  to: { id: string; name: string; slug: string }
  /** `cut`: the page was closed while the promotion ran, or (`is_given_up`) while it was being undone. */
  state: 'running' | 'failed' | 'undoing' | 'done' | 'cut'
  is_given_up: boolean
  steps: PromotionStep[]
  transfer: Transfer | null
  problem: ApiError | null
  /** The report: what was copied, and what was not, with the reason. */
  report: PromotionReportLine[]
  /** Path of the target's deployment. */
  deployment_id: string | null
  /** While running: cancels and undoes the changes at the target. Afterwards: undoes them. */
  cancel(): void
  retry(): void
}

interface PromotionStore {
  /** Promotions continue while the user visits other pages and instances. */
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

askBeforeUnload(() => usePromotions.getState().promotions.some(({ state }) => state === 'running' || state === 'undoing'))

/** Storage key prefix of unfinished promotions. */
export const promotionsStorageKey = 'homeport.promotions'

/** At most one promotion per project at a time. */
export const promotionKey = (instanceId: string, slug: string) => `${instanceId} ${slug}`
