import type { Autoscaling, ScalingDecision } from '../contract/autoscaling.ts'
import { describeAutoscaling, serviceStatusLabels } from '../contract/labels.ts'
import { limits } from '../contract/limits.ts'
import type { Service } from '../contract/services.ts'
import type { ApiClient } from './client.ts'
import { type CliCommand, type CommandContext, exitCodes, stringFlag, UsageError } from './command.ts'
import { formatRelativeTime, formatTable } from './terminal.ts'

const { target_concurrency } = limits.autoscaling
/** Decisions of autoscaling that are printed. */
const shownDecisions = 5

export const scale: CliCommand = {
  summary: 'Sets how many replicas of an app run, or lists them.',
  usage: ['scale SLUG', 'scale SLUG N', 'scale SLUG SERVICE=N', 'scale SLUG --min N --max N [--target N]'],
  options: {
    min: `=N autoscaling: the least number of replicas (default ${limits.replicas.min})`,
    max: '=N autoscaling: the greatest number of replicas',
    target: `=N autoscaling: open requests for each replica (default ${target_concurrency.default})`,
  },
  details: `1 to ${limits.replicas.max}, at once and without a deployment. With --max the number follows the load; a number turns that off. For a worker, set services.NAME.replicas in homeport.yaml and deploy.`,
  async run(context) {
    const [slug = '', wanted, ...rest] = context.positionals
    if (slug === '' || rest.length > 0) throw new UsageError('Name a project and at most one number of replicas: homeport scale SLUG N')
    const client = context.connect()
    const params = { slug }
    const autoscaling = readRange(context, slug)
    if (autoscaling && wanted !== undefined) throw new UsageError('Use a number of replicas, or --min and --max.')
    if (autoscaling) await client.call('updateProjectSettings', { params, body: { autoscaling } })
    if (wanted !== undefined) await setReplicas(client, slug, wanted)
    const { services } = await client.call('listServices', { params })
    const { settings } = await client.call('getProjectSettings', { params })
    const { decisions } = await client.call('listScalingDecisions', { params })
    if (context.is_json) context.terminal.out(JSON.stringify({ replicas: settings.replicas, autoscaling: settings.autoscaling, services, decisions }))
    else print(context, slug, { ...settings, services, decisions })
    return exitCodes.success
  },
}

function readRange({ flags }: CommandContext, slug: string): Autoscaling | null {
  const read = (name: string, { min, max }: { min: number; max: number }): number | undefined => {
    const text = stringFlag(flags, name)
    if (text === undefined) return undefined
    const value = Number(text)
    if (!/^\d+$/.test(text) || value < min || value > max) throw new UsageError(`--${name} is a number from ${min} to ${max}.`)
    return value
  }
  const min = read('min', limits.replicas)
  const max = read('max', limits.replicas)
  const target = read('target', target_concurrency)
  if (min === undefined && max === undefined && target === undefined) return null
  if (max === undefined) throw new UsageError(`Autoscaling needs a maximum, such as homeport scale ${slug} --min 1 --max 5 --target 20`)
  return { min: min ?? limits.replicas.min, max, target_concurrency: target ?? target_concurrency.default }
}

async function setReplicas(client: ApiClient, slug: string, wanted: string): Promise<void> {
  const { name, count = '' } = /^(?:(?<name>[^=]+)=)?(?<count>\d+)$/.exec(wanted)?.groups ?? {}
  const replicas = Number(count)
  if (count === '' || replicas < limits.replicas.min || replicas > limits.replicas.max)
    throw new UsageError(`Write a number of replicas from ${limits.replicas.min} to ${limits.replicas.max}, such as homeport scale ${slug} 3`)
  const { services } = await client.call('listServices', { params: { slug } })
  const main = services.find(({ is_main }) => is_main)?.name ?? 'web'
  if (name !== undefined && name !== main)
    throw new UsageError(
      `Only ${main}, which answers at the address of the project, is scaled by a command. For ${name}, set services.${name}.replicas in homeport.yaml and deploy.`,
    )
  await client.call('updateProjectSettings', { params: { slug }, body: { replicas, autoscaling: null } })
}

interface ScalingState {
  replicas: number
  autoscaling: Autoscaling | null
  services: readonly Service[]
  decisions: readonly ScalingDecision[]
}

function print({ terminal, clock }: CommandContext, slug: string, { replicas, autoscaling, services, decisions }: ScalingState): void {
  terminal.out(`${slug} has ${replicas} ${replicas === 1 ? 'replica' : 'replicas'}.`)
  if (autoscaling) terminal.out(`Autoscaling: ${describeAutoscaling(autoscaling)}.`)
  const isOnNodes = services.some((service) => service.replicas.some(({ node }) => node !== null))
  const rows = services.flatMap((service) =>
    service.replicas.map((one) => [
      service.name,
      String(one.replica),
      serviceStatusLabels[one.status],
      one.in_flight === null ? '-' : String(one.in_flight),
      one.memory_mb === null ? '-' : `${Math.round(one.memory_mb)} MB`,
      ...(isOnNodes ? [one.node ?? '-'] : []),
      one.restarts === 0 ? '' : `${one.restarts} restarts`,
    ]),
  )
  if (rows.length > 0)
    for (const line of formatTable(terminal, ['SERVICE', 'REPLICA', 'STATUS', 'OPEN REQUESTS', 'MEMORY', ...(isOnNodes ? ['NODE'] : []), ''], rows))
      terminal.out(line)
  if (autoscaling)
    for (const { time, message } of decisions.slice(0, shownDecisions)) terminal.out(`${formatRelativeTime(time, clock.now())}: ${message}`)
}
