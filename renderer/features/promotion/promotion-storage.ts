import type { PromotionReportLine } from '../../../server/client/promotion/report.ts'
import type { PromotionProgress, PromotionRequest, PromotionStepName } from '../../../server/client/promotion/request.ts'
import { promotionsStorageKey } from '../../stores/promotions.ts'
import { readPreference, writePreference } from '../../stores/ui.ts'

/** The state that another page needs to resume or undo a promotion. It contains no variable values and no sources. */
export interface StoredPromotion {
  key: string
  from: { id: string; slug: string }
  to: { id: string; slug: string }
  request: Omit<PromotionRequest, 'from' | 'to' | 'variables'> & { variables: string[] }
  done: Omit<PromotionProgress, 'archive'>
  steps_done: PromotionStepName[]
  is_given_up: boolean
  /** Missing in the data of an earlier version of the dashboard. */
  not_copied?: PromotionReportLine[]
}

export const readStoredPromotions = (): StoredPromotion[] => parseStoredPromotions(readPreference(promotionsStorageKey) ?? '[]')

export function parseStoredPromotions(text: string): StoredPromotion[] {
  try {
    const stored: unknown = JSON.parse(text)
    if (!Array.isArray(stored)) return []
    return (stored as EarlierPromotion[])
      .map(upgradePromotion)
      .filter((one) => typeof one.key === 'string' && one.request && one.done && one.steps_done)
  } catch {
    return []
  }
}

/** Earlier versions of the dashboard stored the request as `wish`, and lines of the report with other outcomes. */
type EarlierPromotion = StoredPromotion & { wish?: StoredPromotion['request']; not_carried?: EarlierLine[] }
type EarlierLine = Omit<PromotionReportLine, 'outcome'> & { outcome: PromotionReportLine['outcome'] | 'carried' | 'not_carried' }

const upgradeLine = ({ outcome, ...line }: EarlierLine): PromotionReportLine => ({
  ...line,
  outcome: outcome === 'carried' ? 'copied' : outcome === 'not_carried' ? 'not_copied' : outcome,
})

const upgradePromotion = ({ wish, not_carried, ...stored }: EarlierPromotion): StoredPromotion => ({
  ...stored,
  ...(wish && { request: wish }),
  ...(not_carried && { not_copied: not_carried.map(upgradeLine) }),
  ...(stored.done?.report && { done: { ...stored.done, report: stored.done.report.map(upgradeLine) } }),
})

export function storePromotion(promotion: StoredPromotion): void {
  writeStoredPromotions([...readStoredPromotions().filter(({ key }) => key !== promotion.key), promotion])
}

export function removeStoredPromotion(key: string): void {
  writeStoredPromotions(readStoredPromotions().filter((one) => one.key !== key))
}

function writeStoredPromotions(all: StoredPromotion[]): void {
  writePreference(promotionsStorageKey, JSON.stringify(all))
}

/**
 * Locks a promotion for this page, until the returned function is called or the page is closed. `ifAvailable`: returns undefined if another page
 * holds the lock; otherwise it waits. Over plain HTTP there are no locks, and pages are not coordinated.
 */
export function acquirePromotionLock(key: string, { ifAvailable }: { ifAvailable: boolean }): Promise<(() => void) | undefined> {
  const locks: LockManager | undefined = navigator.locks
  if (!locks) return Promise.resolve(() => {})
  return new Promise((resolve) => {
    void locks.request(`homeport promotion ${key}`, { ifAvailable }, (lock) => {
      if (!lock) return resolve(undefined)
      return new Promise<void>((release) => resolve(() => release()))
    })
  })
}
