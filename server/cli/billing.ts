import type { BillingStatus } from '../contract/billing.ts'
import { type Call, type Command, exitCodes, UsageError, words } from './command.ts'

export const billing: Command = {
  summary: 'Tells your plan, trial, card and subscription.',
  forms: ['billing [status]', 'billing cancel'],
  options: {},
  more: 'A card is saved in the dashboard, under Account: it goes from the browser to the payment processor and never through Homeport.',
  async run(call) {
    const verb = call.words[0] ?? 'status'
    if (verb === 'status') return status(call)
    if (verb === 'cancel') return cancel(call)
    throw new UsageError(`“${verb}” is neither status nor cancel.`)
  },
}

async function status(call: Call): Promise<number> {
  words(call, '[status]')
  const found = await call.connect().call('getBillingStatus', {})
  if (call.json) call.terminal.out(JSON.stringify(found))
  else for (const [name, value] of linesOf(found, call.clock.now())) call.terminal.out(`${name.padEnd(14)}${value}`)
  return exitCodes.done
}

async function cancel(call: Call): Promise<number> {
  words(call, 'cancel')
  const client = call.connect()
  const answer = await client.call('cancelBilling', {})
  const { cancel_at } = await client.call('getBillingStatus', {})
  const sentence =
    cancel_at === null ? 'There is no subscription to end.' : `The subscription ends on ${dayOf(cancel_at)}. Until then everything stays.`
  call.terminal.out(call.json ? JSON.stringify({ ...answer, cancel_at }) : sentence)
  return exitCodes.done
}

function linesOf(found: BillingStatus, now: number): [string, string][] {
  const { plan, trial_ends_at, card, has_payment_method, subscription_status, billing_interval, cancel_at } = found
  const trial =
    trial_ends_at === null ? undefined : Date.parse(trial_ends_at) > now ? `pro until ${dayOf(trial_ends_at)}` : `ended on ${dayOf(trial_ends_at)}`
  return [
    ['plan', subscription_status === null ? plan : `${plan}, ${billing_interval}`],
    ...(trial === undefined ? [] : [['trial', trial] satisfies [string, string]]),
    ['card', card ? [card.brand, `ending in ${card.last4}`].filter(Boolean).join(' ') : has_payment_method ? 'yes' : 'none'],
    [
      'subscription',
      subscription_status === null ? 'none' : cancel_at === null ? subscription_status : `${subscription_status}, ends on ${dayOf(cancel_at)}`,
    ],
    ['credits', `${found.free_domain_credits} for domains`],
    ['payments', found.processor_enabled ? 'on' : 'off: nothing is charged on this instance'],
  ]
}

const dayOf = (iso: string) => iso.slice(0, 10)
