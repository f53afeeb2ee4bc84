import { keptPromotions } from '../../stores/promotions.ts'
import { recall, remember } from '../../stores/ui.ts'
import type { PromotionStepName } from '../../stores/promotions.ts'
import type { Done, Wish } from './steps.ts'

/** Of what is on its way, all that another page needs to go on or to take it back. No value of a variable, and no source, is in it. */
export interface Kept {
  key: string
  from: { id: string; slug: string }
  to: { id: string; slug: string }
  wish: Omit<Wish, 'from' | 'to' | 'variables'> & { variables: string[] }
  done: Omit<Done, 'archive'>
  steps_done: PromotionStepName[]
  is_given_up: boolean
}

export function keptNow(): Kept[] {
  try {
    const found: unknown = JSON.parse(recall(keptPromotions) ?? '[]')
    return Array.isArray(found) ? (found as Kept[]).filter((one) => typeof one?.key === 'string' && one.wish && one.done && one.steps_done) : []
  } catch {
    return []
  }
}

export function keep(kept: Kept): void {
  write([...keptNow().filter(({ key }) => key !== kept.key), kept])
}

export function forget(key: string): void {
  write(keptNow().filter((one) => one.key !== key))
}

function write(all: Kept[]): void {
  remember(keptPromotions, JSON.stringify(all))
}

/**
 * Holds it for this page, until the function that comes is called or the page is closed. `ifFree`: undefined when another page has it;
 * otherwise it waits for that. Over plain HTTP from elsewhere there are no locks, and each page is on its own.
 */
export function hold(key: string, { ifFree }: { ifFree: boolean }): Promise<(() => void) | undefined> {
  const locks: LockManager | undefined = navigator.locks
  if (!locks) return Promise.resolve(() => {})
  return new Promise((resolve) => {
    void locks.request(`homeport promotion ${key}`, { ifAvailable: ifFree }, (lock) => {
      if (!lock) return resolve(undefined)
      return new Promise<void>((release) => resolve(() => release()))
    })
  })
}
