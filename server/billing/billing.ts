import type { BillingInterval } from '../contract/billing.ts'
import type { PlanName } from '../contract/instance.ts'
import type { Bus } from '../lib/bus.ts'
import { type Clock, isoTime } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import {
  type BillingColumns,
  endWarmth,
  findAccountByCustomer,
  forgetEmulatedCards,
  forgetEventsBefore,
  isEventKnown,
  noteEvent,
  updateBilling,
} from '../store/billing.ts'
import type { Db } from '../store/open.ts'
import { findAccount } from '../store/people.ts'
import type { AccountRow } from '../store/tables.ts'
import type { CustomerState, PaidPlan, Processor, Subscription } from './processor.ts'

/** What an account pays for. The processor keeps the books; the rows are a copy of its last word. */
export interface Billing {
  /** null: no payment processor is configured. */
  readonly processor: { publishable_key: string | null } | null
  createSetupIntent(who: { account_id: string; email: string }): Promise<{ client_secret: string; customer_id: string }>
  /** False: no card was saved yet. Throws `ProcessorFailed`, and then nothing was changed. */
  confirm(account_id: string, chosen: { plan: PaidPlan; interval: BillingInterval }): Promise<boolean>
  /** The subscription ends with the period that is paid; where there is none there is nothing to do. */
  cancel(account_id: string): Promise<void>
  /** Takes in an event of the processor. Throws `BadSignature`, `NoWebhookSecret`, and `ProcessorFailed` when it should be sent again. */
  takeEvent(sent: { body: Buffer; signature: string }): Promise<void>
  /** What time alone does: trials end, events that cannot come again are forgotten. */
  look(): Promise<void>
}

/** The processor sends an event again for three days; a captured one is too old after five minutes. */
const eventsKept_ms = 30 * 86_400_000

/** A subscription that can still be switched or ended; and of those, one that gives its plan. */
const isOpen = ({ status }: Subscription) => !['canceled', 'incomplete', 'incomplete_expired'].includes(status)
const gives = ({ status }: Subscription) => ['active', 'trialing', 'past_due'].includes(status)

/** It gives what is asked for, and goes on. */
const isWanted = (one: Subscription, { plan, interval }: NonNullable<Subscription['chosen']>) =>
  gives(one) && one.cancel_at === null && one.chosen?.plan === plan && one.chosen.interval === interval

export async function createBilling(deps: { db: Db; processor: Processor | null; clock: Clock; bus: Bus; log: Log }): Promise<Billing> {
  const { db, processor, clock, bus, log } = deps
  const now = () => isoTime(clock.now())
  const turns = new Map<string, Promise<unknown>>()

  /** One at a time per account: of two looks at the processor the later one is written last. */
  function inTurn<T>(key: string, work: () => Promise<T>): Promise<T> {
    const turn = (turns.get(key) ?? Promise.resolve()).then(work, work)
    const settled: Promise<void> = turn
      .then(
        () => {},
        () => {},
      )
      .then(() => {
        if (turns.get(key) === settled) turns.delete(key)
      })
    turns.set(key, settled)
    return turn
  }

  /** `setup-intent` and the rest are asked for only where there is a processor. */
  const using = (): Processor => {
    if (!processor) throw new Error('there is no payment processor')
    return processor
  }

  const accountOf = async (id: string): Promise<AccountRow> => {
    const account = await db.read((tx) => findAccount(tx, id))
    if (!account) throw new Error('the account is gone')
    return account
  }

  /** Writes what the processor says into the account; `event` in the same transaction. */
  async function settle(account: AccountRow, state: CustomerState | undefined, event?: string): Promise<void> {
    const changed = await db.write((tx) => {
      if (event !== undefined && !noteEvent(tx, event, now())) return undefined
      const fresh = findAccount(tx, account.id)
      if (!fresh || !state) return []
      const change = columnsOf(fresh, state)
      updateBilling(tx, fresh.id, change)
      if (change.plan !== undefined && change.plan !== fresh.plan)
        log.info('plan_changed', { account: fresh.id, from: fresh.plan, to: change.plan, by: event ?? null })
      return endWarmth(tx, now())
    })
    if (!changed) return
    bus.emit(`account:${account.id}`)
    for (const id of changed) bus.emit(`project:${id}`)
  }

  if (processor) await db.write(forgetEmulatedCards)

  return {
    processor,

    createSetupIntent: ({ account_id, email }) =>
      inTurn(account_id, async () => {
        let { customer_id } = await accountOf(account_id)
        if (customer_id === null) {
          const made = (customer_id = await using().createCustomer({ account_id, email }))
          await db.write((tx) => updateBilling(tx, account_id, { customer_id: made }))
        }
        return { ...(await using().createSetupIntent(customer_id)), customer_id }
      }),

    confirm: (account_id, chosen) =>
      inTurn(account_id, async () => {
        const account = await accountOf(account_id)
        const customer = account.customer_id
        if (customer === null) return false
        const before = await using().look(customer)
        const saved = await using().newestSaved(customer)
        if (saved === undefined && !before.payment_method) return false
        const price = await using().findPrice(chosen)
        const adopts = saved !== undefined && saved !== before.payment_method?.id
        if (adopts) await using().setDefault(customer, saved)
        try {
          const open = before.subscriptions.find(isOpen)
          if (!open) await using().subscribe(customer, price)
          else if (!isWanted(open, chosen)) await using().switchTo(open.id, price)
        } catch (error) {
          const after = await using()
            .look(customer)
            .catch(() => undefined)
          // It was done, and only the answer was lost.
          if (after?.subscriptions.some((one) => isWanted(one, chosen))) {
            await settle(account, after)
            return true
          }
          // What was paid so far goes on by the card from before.
          if (after && adopts)
            await using()
              .setDefault(customer, before.payment_method?.id ?? null)
              .catch((failure: unknown) => log.warn('card_not_put_back', { account: account_id, error: failure }))
          throw error
        }
        await settle(account, await using().look(customer))
        return true
      }),

    cancel: (account_id) =>
      inTurn(account_id, async () => {
        const account = await accountOf(account_id)
        if (account.customer_id === null) return
        const { subscriptions } = await using().look(account.customer_id)
        const ending = subscriptions.filter((one) => isOpen(one) && one.cancel_at === null)
        for (const { id } of ending) await using().cancelAtPeriodEnd(id)
        await settle(account, await using().look(account.customer_id))
      }),

    async takeEvent({ body, signature }) {
      const event = await using().readEvent({ body, signature, now: clock.now() })
      const found = await db.read((tx) => (event.customer_id === null ? undefined : findAccountByCustomer(tx, event.customer_id)))
      if (!found) return
      await inTurn(found.id, async () => {
        if (await db.read((tx) => isEventKnown(tx, event.id))) return
        // Events come late, twice and in any order: what counts is how things stand now.
        await settle(found, event.customer_id === null ? undefined : await using().look(event.customer_id), event.id)
        log.info('billing_event', { id: event.id, type: event.type, account: found.id })
      })
    },

    async look() {
      const projects = await db.write((tx) => {
        forgetEventsBefore(tx, isoTime(clock.now() - eventsKept_ms))
        return endWarmth(tx, now())
      })
      for (const id of projects) bus.emit(`project:${id}`)
    },
  }
}

/** The account as the processor has it. A plan that was given by hand stays until a subscription takes its place. */
function columnsOf(account: AccountRow, { payment_method, subscriptions }: CustomerState): Partial<BillingColumns> {
  const card = payment_method?.card ?? null
  const methods = { has_payment_method: payment_method ? 1 : 0, card_last4: card?.last4 ?? null, card_brand: card?.brand ?? null } as const
  const current = subscriptions.find(gives) ?? subscriptions.find(isOpen)
  if (current && gives(current))
    return {
      ...methods,
      ...(current.chosen ? { plan: current.chosen.plan, billing_interval: current.chosen.interval } : {}),
      subscription_id: current.id,
      subscription_status: current.status,
      cancel_at: current.cancel_at === null ? null : isoTime(current.cancel_at),
    }
  if (account.subscription_id === null) return methods
  const last = current ?? subscriptions.find(({ id }) => id === account.subscription_id)
  const starter: PlanName = 'starter'
  return { ...methods, plan: starter, subscription_id: null, subscription_status: last?.status ?? 'canceled', cancel_at: null }
}
