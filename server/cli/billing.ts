import type { BillingStatus } from '../contract/billing.ts'
import { type CommandContext, type CliCommand, exitCodes, UsageError, requirePositionals } from './command.ts'

export const billing: CliCommand = {
  summary: 'Shows your plan, trial, card and subscription; cancels the subscription.',
  usage: ['billing [status]', 'billing cancel'],
  options: {},
  details: 'Add a card in the dashboard, under Account. The browser sends it directly to the payment processor, never to Homeport.',
  async run(context) {
    const subcommand = context.positionals[0] ?? 'status'
    if (subcommand === 'status') return status(context)
    if (subcommand === 'cancel') return cancel(context)
    throw new UsageError(`“${subcommand}” is neither status nor cancel.`)
  },
}

async function status(context: CommandContext): Promise<number> {
  requirePositionals(context, '[status]')
  const billingStatus = await context.connect().call('getBillingStatus', {})
  if (context.is_json) context.terminal.out(JSON.stringify(billingStatus))
  else for (const [name, value] of formatBillingStatus(billingStatus, context.clock.now())) context.terminal.out(`${name.padEnd(14)}${value}`)
  return exitCodes.success
}

async function cancel(context: CommandContext): Promise<number> {
  requirePositionals(context, 'cancel')
  const client = context.connect()
  const response = await client.call('cancelBilling', {})
  const { cancel_at } = await client.call('getBillingStatus', {})
  const sentence =
    cancel_at === null ? 'There is no subscription to cancel.' : `The subscription ends on ${formatDate(cancel_at)}. Until then nothing changes.`
  context.terminal.out(context.is_json ? JSON.stringify({ ...response, cancel_at }) : sentence)
  return exitCodes.success
}

function formatBillingStatus(billingStatus: BillingStatus, now: number): [string, string][] {
  const { plan, trial_ends_at, card, has_payment_method, subscription_status, billing_interval, cancel_at } = billingStatus
  const trial =
    trial_ends_at === null
      ? undefined
      : Date.parse(trial_ends_at) > now
        ? `pro until ${formatDate(trial_ends_at)}`
        : `ended on ${formatDate(trial_ends_at)}`
  return [
    ['plan', subscription_status === null ? plan : `${plan}, ${billing_interval}`],
    ...(trial === undefined ? [] : [['trial', trial] satisfies [string, string]]),
    ['card', card ? [card.brand, `ending in ${card.last4}`].filter(Boolean).join(' ') : has_payment_method ? 'yes' : 'none'],
    [
      'subscription',
      subscription_status === null ? 'none' : cancel_at === null ? subscription_status : `${subscription_status}, ends on ${formatDate(cancel_at)}`,
    ],
    ['credits', `${billingStatus.free_domain_credits} for domains`],
    ['payments', billingStatus.processor_enabled ? 'on' : 'off: this instance charges nothing'],
  ]
}

const formatDate = (iso: string) => iso.slice(0, 10)
