import type { BillingInterval } from '../contract/billing.ts'
import type { PlanName } from '../contract/instance.ts'
import { type Clock, isoTime } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import {
  type BillingColumns,
  disableAlwaysWarm,
  findAccountByCustomerId,
  clearEmulatedPaymentMethods,
  deleteBillingEventsBefore,
  hasBillingEvent,
  insertBillingEvent,
  updateBilling,
} from '../store/billing.ts'
import type { Db } from '../store/store.ts'
import { findAccount } from '../store/users.ts'
import type { AccountRow } from '../store/tables.ts'
import type { CustomerState, PaidPlan, PaymentProcessor, Subscription } from './payment-processor.ts'

/** Subscriptions of accounts. The payment processor is the source of truth; the database has a copy of its last state. */
export interface BillingService {
  /** null without a payment processor. */
  readonly processor: { publishable_key: string | null } | null
  createSetupIntent(who: { account_id: string; email: string }): Promise<{ client_secret: string; customer_id: string }>
  /** Returns false if no card was saved yet. If it throws `PaymentProcessorError`, nothing has changed. */
  confirm(account_id: string, selection: { plan: PaidPlan; interval: BillingInterval }): Promise<boolean>
  /** Cancels the subscription at the end of the paid period. Does nothing without a subscription. */
  cancel(account_id: string): Promise<void>
  /** Handles an event of the processor. Throws `WebhookSignatureError`, `MissingWebhookSecretError`, or `PaymentProcessorError` if the event must be sent again. */
  handleWebhook(sent: { body: Buffer; signature: string }): Promise<void>
  /** Ends expired trials and deletes events that cannot be sent again. */
  applyExpirations(): Promise<void>
}

/** The processor repeats an event for three days. A replayed event is rejected after five minutes. */
const eventRetention_ms = 30 * 86_400_000

/** `isOpenSubscription`: can still be switched or canceled. `grantsPlan`: also gives the account its plan. */
const isOpenSubscription = ({ status }: Subscription) => !['canceled', 'incomplete', 'incomplete_expired'].includes(status)
const grantsPlan = ({ status }: Subscription) => ['active', 'trialing', 'past_due'].includes(status)

/** Whether a subscription already is the selected plan and interval and is not canceled. */
const matchesSelection = (one: Subscription, { plan, interval }: NonNullable<Subscription['selection']>) =>
  grantsPlan(one) && one.cancel_at === null && one.selection?.plan === plan && one.selection.interval === interval

export async function createBillingService(deps: { db: Db; processor: PaymentProcessor | null; clock: Clock; log: Log }): Promise<BillingService> {
  const { db, processor, clock, log } = deps
  const now = () => isoTime(clock.now())
  const queues = new Map<string, Promise<unknown>>()

  /** Runs work one at a time per account, so that the latest state of the processor is written last. */
  function runSequentially<T>(key: string, work: () => Promise<T>): Promise<T> {
    const result = (queues.get(key) ?? Promise.resolve()).then(work, work)
    const tail: Promise<void> = result
      .then(
        () => {},
        () => {},
      )
      .then(() => {
        if (queues.get(key) === tail) queues.delete(key)
      })
    queues.set(key, tail)
    return result
  }

  /** The callers check `processor` first. */
  const requireProcessor = (): PaymentProcessor => {
    if (!processor) throw new Error('there is no payment processor')
    return processor
  }

  const findAccountOrThrow = async (id: string): Promise<AccountRow> => {
    const account = await db.read((tx) => findAccount(tx, id))
    if (!account) throw new Error('the account is gone')
    return account
  }

  /** Writes the state of the processor to the account, and the event ID in the same transaction. */
  async function syncAccount(account: AccountRow, state: CustomerState | undefined, event?: string): Promise<void> {
    await db.write((tx) => {
      if (event !== undefined && !insertBillingEvent(tx, event, now())) return
      tx.publish({ type: 'account_changed', id: account.id })
      const current = findAccount(tx, account.id)
      if (!current || !state) return
      const change = toBillingColumns(current, state)
      updateBilling(tx, current.id, change)
      if (change.plan !== undefined && change.plan !== current.plan)
        log.info('plan_changed', { account: current.id, from: current.plan, to: change.plan, by: event ?? null })
      for (const id of disableAlwaysWarm(tx, now())) tx.publish({ type: 'project_changed', id: id })
    })
  }

  if (processor) await db.write(clearEmulatedPaymentMethods)

  return {
    processor,

    createSetupIntent: ({ account_id, email }) =>
      runSequentially(account_id, async () => {
        let { customer_id } = await findAccountOrThrow(account_id)
        if (customer_id === null) {
          const customerId = (customer_id = await requireProcessor().createCustomer({ account_id, email }))
          await db.write((tx) => updateBilling(tx, account_id, { customer_id: customerId }))
        }
        return { ...(await requireProcessor().createSetupIntent(customer_id)), customer_id }
      }),

    confirm: (account_id, selection) =>
      runSequentially(account_id, async () => {
        const account = await findAccountOrThrow(account_id)
        const customer = account.customer_id
        if (customer === null) return false
        const before = await requireProcessor().fetchCustomer(customer)
        const savedMethod = await requireProcessor().findNewestPaymentMethod(customer)
        if (savedMethod === undefined && !before.payment_method) return false
        const price = await requireProcessor().findPrice(selection)
        const isReplacingCard = savedMethod !== undefined && savedMethod !== before.payment_method?.id
        if (isReplacingCard) await requireProcessor().setDefaultPaymentMethod(customer, savedMethod)
        try {
          const openSubscription = before.subscriptions.find(isOpenSubscription)
          if (!openSubscription) await requireProcessor().subscribe(customer, price)
          else if (!matchesSelection(openSubscription, selection)) await requireProcessor().switchPrice(openSubscription.id, price)
        } catch (error) {
          const after = await requireProcessor()
            .fetchCustomer(customer)
            .catch(() => undefined)
          // The change succeeded and only the response was lost.
          if (after?.subscriptions.some((one) => matchesSelection(one, selection))) {
            await syncAccount(account, after)
            return true
          }
          // The existing subscription keeps its previous card.
          if (after && isReplacingCard)
            await requireProcessor()
              .setDefaultPaymentMethod(customer, before.payment_method?.id ?? null)
              .catch((failure: unknown) => log.warn('payment_method_restore_failed', { account: account_id, error: failure }))
          throw error
        }
        await syncAccount(account, await requireProcessor().fetchCustomer(customer))
        return true
      }),

    cancel: (account_id) =>
      runSequentially(account_id, async () => {
        const account = await findAccountOrThrow(account_id)
        if (account.customer_id === null) return
        const { subscriptions } = await requireProcessor().fetchCustomer(account.customer_id)
        const openSubscriptions = subscriptions.filter((one) => isOpenSubscription(one) && one.cancel_at === null)
        for (const { id } of openSubscriptions) await requireProcessor().cancelAtPeriodEnd(id)
        await syncAccount(account, await requireProcessor().fetchCustomer(account.customer_id))
      }),

    async handleWebhook({ body, signature }) {
      const event = await requireProcessor().verifyEvent({ body, signature, now: clock.now() })
      const account = await db.read((tx) => (event.customer_id === null ? undefined : findAccountByCustomerId(tx, event.customer_id)))
      if (!account) return
      await runSequentially(account.id, async () => {
        if (await db.read((tx) => hasBillingEvent(tx, event.id))) return
        // Events arrive late, twice and in any order, so the current state is fetched.
        await syncAccount(account, event.customer_id === null ? undefined : await requireProcessor().fetchCustomer(event.customer_id), event.id)
        log.info('billing_event', { id: event.id, type: event.type, account: account.id })
      })
    },

    async applyExpirations() {
      await db.write((tx) => {
        deleteBillingEventsBefore(tx, isoTime(clock.now() - eventRetention_ms))
        for (const id of disableAlwaysWarm(tx, now())) tx.publish({ type: 'project_changed', id: id })
      })
    },
  }
}

/** Maps the state of the processor to account columns. A plan that was set manually stays until a subscription replaces it. */
function toBillingColumns(account: AccountRow, { payment_method, subscriptions }: CustomerState): Partial<BillingColumns> {
  const card = payment_method?.card ?? null
  const methods = { has_payment_method: payment_method ? 1 : 0, card_last4: card?.last4 ?? null, card_brand: card?.brand ?? null } as const
  const subscription = subscriptions.find(grantsPlan) ?? subscriptions.find(isOpenSubscription)
  if (subscription && grantsPlan(subscription))
    return {
      ...methods,
      ...(subscription.selection ? { plan: subscription.selection.plan, billing_interval: subscription.selection.interval } : {}),
      subscription_id: subscription.id,
      subscription_status: subscription.status,
      cancel_at: subscription.cancel_at === null ? null : isoTime(subscription.cancel_at),
    }
  if (account.subscription_id === null) return methods
  const last = subscription ?? subscriptions.find(({ id }) => id === account.subscription_id)
  const starter: PlanName = 'starter'
  return { ...methods, plan: starter, subscription_id: null, subscription_status: last?.status ?? 'canceled', cancel_at: null }
}
