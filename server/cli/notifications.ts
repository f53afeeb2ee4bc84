import { deliveryStatusLabels, notificationRuleLabels, notificationTargetLabels } from '../contract/labels.ts'
import { defaultNotificationRules, notificationTargetTypes } from '../contract/notification-defaults.ts'
import type { NotificationRules } from '../contract/notifications.ts'
import { type CliCommand, type CommandContext, exitCodes, requirePositionals, stringFlag, unknownSubcommand, UsageError } from './command.ts'
import { formatRelativeTime, formatTable } from './terminal.ts'

type EventRule = Exclude<keyof NotificationRules, 'error_rate'>
const eventRules = (Object.keys(defaultNotificationRules) as (keyof NotificationRules)[]).filter((name): name is EventRule => name !== 'error_rate')

export const notifications: CliCommand = {
  summary: 'Lists, adds, tests and removes the targets of notifications: email, webhooks, Slack.',
  usage: [
    'notifications list',
    'notifications add email ADDRESS',
    'notifications add webhook URL',
    'notifications add slack',
    'notifications test ID',
    'notifications remove ID',
    'notifications deliveries',
    'notifications redeliver ID',
  ],
  options: {
    project: '=SLUG a target of this project; otherwise of your account, for all of its projects',
    events: `=NAMES ${eventRules.join(', ')}, separated by commas`,
    'error-rate': '=PERCENT:MINUTES notify when more requests than this fail for this long, such as 5:10',
    name: '=NAME what the target is called',
  },
  details:
    'Without --events a target gets failed deployments and crashes. The URL of a Slack webhook is a credential: enter it at the prompt or on standard input. The signing secret of a webhook is printed once.',
  async run(context) {
    const [action = 'list', ...rest] = context.positionals
    if (action === 'list') return list(context)
    if (action === 'add') return add(context, rest)
    if (action === 'deliveries') return listDeliveries(context)
    if (action !== 'test' && action !== 'remove' && action !== 'redeliver')
      throw unknownSubcommand(action, ['list', 'add', 'test', 'remove', 'deliveries', 'redeliver'])
    const id = requirePositionals(context, action, 'ID')[1] ?? ''
    return action === 'test' ? sendTest(context, id) : action === 'remove' ? remove(context, id) : redeliver(context, id)
  },
}

const slugOf = ({ flags }: CommandContext) => stringFlag(flags, 'project')

async function list(context: CommandContext): Promise<number> {
  const slug = slugOf(context)
  const api = context.connect()
  const response =
    slug === undefined ? await api.call('listAccountNotificationTargets', {}) : await api.call('listNotificationTargets', { params: { slug } })
  if (context.is_json) context.terminal.out(JSON.stringify(response))
  else if (response.targets.length === 0) context.terminal.out('No targets. Add one with homeport notifications add.')
  else
    for (const line of formatTable(
      context.terminal,
      ['ID', 'TYPE', 'ADDRESS', 'EVENTS', ''],
      response.targets.map(({ id, type, address, rules, is_enabled }) => [
        id,
        notificationTargetLabels[type],
        address,
        describeRules(rules),
        is_enabled ? '' : 'off',
      ]),
    ))
      context.terminal.out(line)
  return exitCodes.success
}

const describeRules = (rules: NotificationRules): string =>
  [
    ...eventRules.filter((name) => rules[name]).map((name) => notificationRuleLabels[name]),
    ...(rules.error_rate ? [`${notificationRuleLabels.error_rate} ${rules.error_rate.percent} % for ${rules.error_rate.minutes} min`] : []),
  ].join(', ') || '-'

async function add(context: CommandContext, [typeText = '', addressText]: string[]): Promise<number> {
  const type = notificationTargetTypes.find((one) => one === typeText)
  if (!type) throw new UsageError(`Add the type: homeport notifications add ${notificationTargetTypes.join('|')}`)
  requirePositionals(context, 'add', 'TYPE', '[ADDRESS]')
  if (type === 'slack' && addressText !== undefined)
    throw new UsageError('Other users of this machine can read arguments. Enter the URL at the prompt or on standard input.')
  const address = type === 'slack' ? await context.prompt('URL of the Slack webhook: ', { is_secret: true, has_lines: true }) : addressText
  if (!address) throw new UsageError(`Add the address: homeport notifications add ${type} ${type === 'email' ? 'ADDRESS' : 'URL'}`)
  const name = stringFlag(context.flags, 'name')
  const body = { type, address: address.trim(), rules: readRules(context), ...(name === undefined ? {} : { name }) }
  const slug = slugOf(context)
  const api = context.connect()
  const response =
    slug === undefined
      ? await api.call('createAccountNotificationTarget', { body })
      : await api.call('createNotificationTarget', { params: { slug }, body })
  if (context.is_json) context.terminal.out(JSON.stringify(response))
  else {
    context.terminal.out(`Added ${response.target.name} (${response.target.id}).`)
    if (response.warning) context.terminal.err(`Warning: ${response.warning}`)
    if (response.signing_secret !== null) context.terminal.out(`Signing secret, shown only now: ${response.signing_secret}`)
  }
  return exitCodes.success
}

function readRules({ flags }: CommandContext): Partial<NotificationRules> {
  const events = stringFlag(flags, 'events')
  const rate = stringFlag(flags, 'error-rate')
  const rules: Partial<NotificationRules> = {}
  if (events !== undefined) {
    const names = events.split(',').map((name) => name.trim())
    const unknown = names.find((name) => !eventRules.some((one) => one === name))
    if (unknown !== undefined) throw new UsageError(`Unknown event “${unknown}”. Use ${eventRules.join(', ')}.`)
    for (const name of eventRules) rules[name] = names.includes(name)
  }
  if (rate !== undefined) {
    const [, percent, minutes] = /^(\d+(?:\.\d+)?)%?:(\d+)$/.exec(rate) ?? []
    if (percent === undefined || minutes === undefined) throw new UsageError('Write the error rate as PERCENT:MINUTES, such as 5:10.')
    rules.error_rate = { percent: Number(percent), minutes: Number(minutes) }
  }
  return rules
}

async function sendTest(context: CommandContext, id: string): Promise<number> {
  const slug = slugOf(context)
  const api = context.connect()
  const response =
    slug === undefined
      ? await api.call('testAccountNotificationTarget', { params: { id } })
      : await api.call('testNotificationTarget', { params: { slug, id } })
  context.terminal.out(context.is_json ? JSON.stringify(response) : 'Test notification queued. homeport notifications deliveries shows the result.')
  return exitCodes.success
}

async function remove(context: CommandContext, id: string): Promise<number> {
  const slug = slugOf(context)
  const api = context.connect()
  if (slug === undefined) await api.call('deleteAccountNotificationTarget', { params: { id } })
  else await api.call('deleteNotificationTarget', { params: { slug, id } })
  context.terminal.out(context.is_json ? JSON.stringify({ ok: true }) : 'Removed.')
  return exitCodes.success
}

async function listDeliveries(context: CommandContext): Promise<number> {
  const slug = slugOf(context)
  const api = context.connect()
  const response =
    slug === undefined ? await api.call('listAccountNotificationDeliveries', {}) : await api.call('listNotificationDeliveries', { params: { slug } })
  const { terminal, clock } = context
  if (context.is_json) terminal.out(JSON.stringify(response))
  else if (response.deliveries.length === 0) terminal.out('No notifications in the last 30 days.')
  else
    for (const line of formatTable(
      terminal,
      ['ID', 'STATUS', 'NOTIFICATION', 'ATTEMPTS', 'CREATED', ''],
      response.deliveries.map(({ id, status, title, attempts, created_at }) => [
        id,
        deliveryStatusLabels[status],
        title,
        String(attempts.length),
        formatRelativeTime(created_at, clock.now()),
        attempts.at(-1)?.error ?? '',
      ]),
    ))
      terminal.out(line)
  return exitCodes.success
}

async function redeliver(context: CommandContext, id: string): Promise<number> {
  const slug = slugOf(context)
  const api = context.connect()
  const response =
    slug === undefined
      ? await api.call('redeliverAccountNotification', { params: { id } })
      : await api.call('redeliverNotification', { params: { slug, id } })
  context.terminal.out(context.is_json ? JSON.stringify(response) : 'Queued again.')
  return exitCodes.success
}
