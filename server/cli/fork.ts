import type { Fork } from '../contract/forks.ts'
import { type CliCommand, type CommandContext, exitCodes, requirePositionals, stringFlag, UsageError } from './command.ts'
import { formatBytes, formatRelativeTime, formatTable } from './terminal.ts'

/** A copy of many gigabytes takes minutes if the file system cannot share blocks. */
const copyTimeout_ms = 6 * 3_600_000

export const fork: CliCommand = {
  summary: 'Gives a branch its own copy of production’s volumes, managed services and database.',
  usage: ['fork SLUG', 'fork SLUG BRANCH [--from BRANCH]', 'fork SLUG BRANCH --remove'],
  options: {
    from: '=BRANCH copy the data of this branch’s preview instead of production’s',
    remove: 'remove the branch’s copy',
  },
  details: [
    'Production pauses while its data is copied. Data that the branch had is replaced; a snapshot is taken first.',
    'Without a preview, the data is kept until there is one. homeport dev in a worktree of the branch uses it immediately. Without BRANCH: lists the copies.',
  ].join('\n'),
  async run(context) {
    const [slug = '', branch] = requirePositionals(context, 'SLUG', '[BRANCH]')
    const isRemoval = context.flags.remove === true
    const from_branch = stringFlag(context.flags, 'from')
    if (branch === undefined) {
      if (isRemoval || from_branch !== undefined) throw new UsageError('Add the branch: homeport fork SLUG BRANCH')
      return list(context, slug)
    }
    if (!isRemoval) return copy(context, slug, branch, from_branch)
    if (from_branch !== undefined) throw new UsageError('Add either --from or --remove.')
    return remove(context, slug, branch)
  },
}

async function list(context: CommandContext, slug: string): Promise<number> {
  const { terminal, clock } = context
  const response = await context.connect().call('listForks', { params: { slug } })
  if (context.is_json) terminal.out(JSON.stringify(response))
  else if (response.forks.length === 0) terminal.out(`No branch has its own data. Copy production’s: homeport fork ${slug} BRANCH`)
  else {
    const rows = response.forks.map((one) => [
      one.branch,
      one.from_branch ?? 'production',
      describeContent(one),
      formatRelativeTime(one.created_at, clock.now()),
      one.url ?? 'no preview',
    ])
    for (const line of formatTable(terminal, ['BRANCH', 'FROM', 'DATA', 'COPIED', 'URL'], rows)) terminal.out(line)
  }
  return exitCodes.success
}

const describeContent = ({ volumes, database_bytes }: Fork): string =>
  [...volumes.map(({ name, size_bytes }) => describe(name, size_bytes)), ...(database_bytes === null ? [] : [describe('PostgreSQL', database_bytes)])]
    .join(', ')
    .trim() || 'nothing'

const describe = (name: string, bytes: number | null): string => (bytes === null ? name : `${name} (${formatBytes(bytes)})`)

async function copy(context: CommandContext, slug: string, branch: string, from_branch: string | undefined): Promise<number> {
  const { terminal } = context
  const body = { branch, ...(from_branch === undefined ? {} : { from_branch }) }
  const response = await context.connect().call('forkEnvironment', { params: { slug }, body }, copyTimeout_ms)
  if (context.is_json) {
    terminal.out(JSON.stringify(response))
    return exitCodes.success
  }
  const { fork: made, replaced, dump_id, deployment_id } = response
  const source = from_branch ?? 'production'
  if (made.volumes.length === 0 && made.database_bytes === null)
    terminal.out(`${source} has no volumes and no database, so there was nothing to copy.`)
  else terminal.out(`Copied from ${source} to ${branch} in ${(made.duration_ms / 1000).toFixed(1)} s:`)
  for (const { name, size_bytes } of made.volumes) terminal.out(`  volume ${describe(name, size_bytes)}`)
  if (made.database_bytes !== null) terminal.out(`  database ${describe('PostgreSQL', made.database_bytes)}`)
  for (const { volume, snapshot } of replaced) terminal.out(`The previous files of ${volume} are in snapshot ${snapshot.id}.`)
  if (dump_id !== null) terminal.out(`The previous database is in dump ${dump_id}.`)
  if (deployment_id !== null) terminal.out('The preview is being redeployed, because it gets a database.')
  terminal.out(made.url ?? 'The branch has no preview yet: the data is kept for it. homeport dev in a worktree of the branch uses it when it starts.')
  return exitCodes.success
}

async function remove(context: CommandContext, slug: string, branch: string): Promise<number> {
  const response = await context.connect().call('removeFork', { params: { slug }, query: { branch } }, copyTimeout_ms)
  if (context.is_json) context.terminal.out(JSON.stringify({ branch, ...response }))
  else context.terminal.out(`Removed the data of ${branch}.${response.deployment_id === null ? '' : ' Its preview is being redeployed.'}`)
  return exitCodes.success
}
