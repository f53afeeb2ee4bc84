import type { Preview, Watching } from '../contract/previews.ts'
import { asleepLabel, deploymentStatusLabels } from '../contract/labels.ts'
import { type CommandContext, type CliCommand, exitCodes, UsageError, requirePositionals, unknownSubcommand } from './command.ts'
import { formatRelativeTime, formatTable } from './terminal.ts'

export const previews: CliCommand = {
  summary: 'Lists the previews of a project, and configures automatic deployments.',
  usage: [
    'previews SLUG',
    'previews watch|check SLUG',
    'previews deploy SLUG BRANCH',
    'previews pushes|branches|databases|pull-requests SLUG on|off',
  ],
  options: {},
  details: [
    'pushes: deploy pushes to the production branch. branches: create previews for other branches; off closes them.',
    'pull-requests: create previews for pull requests, which runs the code of anyone who can open one: homeport help previews.',
    'databases: give each preview a copy of the project’s database. check checks the repository now.',
    'watch also lists pushes that were skipped because they change nothing in the watch_paths of the project; deploy deploys the skipped push of a branch.',
  ].join('\n'),
  async run(context) {
    const [first = ''] = context.positionals
    // A single argument is always a slug, even if it equals a subcommand.
    if (context.positionals.length < 2) return list(context, requirePositionals(context, 'SLUG')[0] ?? '')
    if (first === 'watch' || first === 'check') {
      const [, slug = ''] = requirePositionals(context, first, 'SLUG')
      const operation = first === 'watch' ? 'getWatching' : 'checkRepository'
      return show(context, (await context.connect().call(operation, { params: { slug } })).watching)
    }
    if (first === 'deploy') return deploySkipped(context)
    if (!Object.hasOwn(settingsBySwitch, first)) throw unknownSubcommand(first, ['watch', 'check', 'deploy', ...Object.keys(settingsBySwitch)])
    const [, slug = '', state] = requirePositionals(context, first, 'SLUG', 'on|off')
    if (state !== 'on' && state !== 'off') throw new UsageError(`Add on or off: homeport previews ${first} ${slug} on|off`)
    const body = { [settingsBySwitch[first as keyof typeof settingsBySwitch]]: state === 'on' }
    return show(context, (await context.connect().call('updateWatching', { params: { slug }, body })).watching)
  },
}

const settingsBySwitch = {
  pushes: 'deploys_pushes',
  branches: 'previews',
  databases: 'preview_databases',
  'pull-requests': 'pull_requests',
} as const

async function list(context: CommandContext, slug: string): Promise<number> {
  const response = await context.connect().call('listPreviews', { params: { slug } })
  if (context.is_json) context.terminal.out(JSON.stringify(response))
  else if (response.previews.length === 0) context.terminal.out('No previews. Push to a branch other than the production branch to create one.')
  else {
    const rows = response.previews.map((one) => [
      one.branch,
      one.status === 'ready' && one.is_cold ? asleepLabel : deploymentStatusLabels[one.status],
      one.commit_sha?.slice(0, 8) ?? '-',
      formatRelativeTime(one.updated_at, context.clock.now()),
      formatAddress(one),
    ])
    for (const line of formatTable(context.terminal, ['BRANCH', 'STATUS', 'COMMIT', 'UPDATED', 'URL'], rows)) context.terminal.out(line)
  }
  return exitCodes.success
}

const formatAddress = (one: Preview): string => one.url ?? `${one.host} (once ready)`

async function deploySkipped(context: CommandContext): Promise<number> {
  const [, slug = '', branch = ''] = requirePositionals(context, 'deploy', 'SLUG', 'BRANCH')
  const response = await context.connect().call('deploySkippedPush', { params: { slug }, body: { branch } })
  context.terminal.out(
    context.is_json ? JSON.stringify(response) : `Deploying ${response.deployment.commit_sha?.slice(0, 8)} of ${branch}: ${response.deployment_id}`,
  )
  return exitCodes.success
}

const formatPullRequests = ({ pull_requests, pull_request_secrets }: Watching): string =>
  pull_requests ? `on: ${pull_request_secrets ? 'with' : 'without'} secrets, database and volumes of the project` : 'off'

function show(context: CommandContext, watching: Watching): number {
  if (context.is_json) context.terminal.out(JSON.stringify({ watching }))
  else {
    const { state, message, checked_at } = watching
    const facts: [string, string][] = [
      ['repository', state === 'failing' ? `failing: ${message}` : state === 'off' ? 'not watched' : 'watched'],
      ['checked', checked_at === null ? 'not yet' : formatRelativeTime(checked_at, context.clock.now())],
      ['pushes', watching.deploys_pushes ? 'on: pushes to the production branch are deployed' : 'off'],
      ['branches', watching.previews ? 'on: other branches get previews' : 'off'],
      ['pull requests', formatPullRequests(watching)],
      ['databases', watching.preview_databases ? 'on: each preview gets a copy of the database' : 'off'],
    ]
    for (const [name, value] of facts) context.terminal.out(`${name.padEnd(14)}${value}`)
    for (const { branch, commit_sha, commit_message, skipped_at } of watching.skipped)
      context.terminal.out(
        `${'skipped'.padEnd(14)}${branch} ${commit_sha.slice(0, 8)} ${commit_message}, ${formatRelativeTime(skipped_at, context.clock.now())}: no changed file is in watch_paths`,
      )
  }
  return exitCodes.success
}
