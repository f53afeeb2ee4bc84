import { readFile, writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { formatDotenv, parseDotenv } from '../contract/dotenv.ts'
import type { EnvVar } from '../contract/env-vars.ts'
import { type CommandContext, type CliCommand, exitCodes, stringFlag, UsageError, requirePositionals, unknownSubcommand } from './command.ts'
import { formatTable } from './terminal.ts'

type VariableEnvironment = EnvVar['environment']

export const env: CliCommand = {
  summary: 'Lists, sets, removes, imports and exports the variables of a project.',
  usage: ['env list SLUG', 'env set SLUG KEY[=VALUE]', 'env unset SLUG KEY', 'env import SLUG FILE', 'env pull SLUG [FILE]'],
  options: {
    environment: '=NAME production or preview (default: both)',
    sensitive: 'hide the value in the dashboard',
    show: 'list: show the values',
  },
  details:
    'Without =VALUE, set asks for the value or reads it from standard input, which keeps it out of the process list and the\nshell history. Adding or removing a production variable redeploys the project.',
  async run(context) {
    const subcommand = context.positionals[0] ?? ''
    if (!Object.hasOwn(subcommands, subcommand)) throw unknownSubcommand(subcommand, ['list', 'set', 'unset', 'import', 'pull'])
    return subcommands[subcommand as keyof typeof subcommands](context)
  },
}

const subcommands = { list, set, unset, import: importFile, pull }

function readEnvironmentFlag(context: CommandContext): VariableEnvironment {
  const environment = stringFlag(context.flags, 'environment') ?? null
  if (environment !== null && environment !== 'production' && environment !== 'preview')
    throw new UsageError('--environment must be production or preview.')
  return environment
}

async function list(context: CommandContext): Promise<number> {
  const [, slug = ''] = requirePositionals(context, 'list', 'SLUG')
  const { env_vars } = await context.connect().call('listEnvVars', { params: { slug } })
  if (context.is_json) context.terminal.out(JSON.stringify({ env_vars }))
  else if (env_vars.length === 0) context.terminal.out('No variables yet. Add one with: homeport env set SLUG KEY')
  else {
    const formatValue = (one: EnvVar) => (context.flags.show === true ? one.value.replaceAll('\n', '\\n') : '•'.repeat(8))
    const rows = env_vars.map((one) => [one.key, one.environment ?? 'both', formatValue(one)])
    for (const row of formatTable(context.terminal, ['KEY', 'ENVIRONMENT', 'VALUE'], rows)) context.terminal.out(row)
  }
  return exitCodes.success
}

async function set(context: CommandContext): Promise<number> {
  const [, slug = '', assignment = ''] = requirePositionals(context, 'set', 'SLUG', 'KEY[=VALUE]')
  const equals = assignment.indexOf('=')
  const key = equals < 0 ? assignment : assignment.slice(0, equals)
  const value = equals < 0 ? await context.prompt(`Value of ${key}: `, { is_secret: true }) : assignment.slice(equals + 1)
  if (value === undefined) throw new UsageError(`${key} has no value. Pipe it in, or write ${key}=VALUE.`)
  const environment = readEnvironmentFlag(context)
  const is_sensitive = context.flags.sensitive === true
  const client = context.connect()
  const { env_vars } = await client.call('listEnvVars', { params: { slug } })
  const existing = env_vars.find((one) => one.key === key && one.environment === environment)
  if (existing) {
    const body = { value, ...(is_sensitive ? { is_sensitive } : {}) }
    const { id } = await client.call('updateEnvVar', { params: { slug, id: existing.id }, body })
    context.terminal.out(context.is_json ? JSON.stringify({ id, updated: true }) : `Changed ${key}. The next deployment has it: homeport deploy`)
    return exitCodes.success
  }
  const response = await client.call('createEnvVars', { params: { slug }, body: { key, value, environment, is_sensitive } })
  context.terminal.out(context.is_json ? JSON.stringify(response) : `Added ${key}.${formatRedeployNotice(response.deployment_id)}`)
  return exitCodes.success
}

async function unset(context: CommandContext): Promise<number> {
  const [, slug = '', key = ''] = requirePositionals(context, 'unset', 'SLUG', 'KEY')
  const environment = readEnvironmentFlag(context)
  const client = context.connect()
  const { env_vars } = await client.call('listEnvVars', { params: { slug } })
  const existing = env_vars.find((one) => one.key === key && one.environment === environment)
  // The API rejects an unknown ID; no ID contains a colon.
  await client.call('deleteEnvVar', { params: { slug, id: existing?.id ?? `${key}:${environment ?? 'both'}` } })
  context.terminal.out(context.is_json ? JSON.stringify({ removed: key }) : `Removed ${key}.`)
  return exitCodes.success
}

async function importFile(context: CommandContext): Promise<number> {
  const [, slug = '', file = ''] = requirePositionals(context, 'import', 'SLUG', 'FILE')
  const environment = readEnvironmentFlag(context)
  const path = resolve(context.cwd, file)
  const content = await readFile(path, 'utf8').catch(() => {
    throw new UsageError(`${path} cannot be read.`)
  })
  const variables = parseDotenv(content)
  if (variables.length === 0) throw new UsageError(`${path} has no KEY=VALUE lines.`)
  const is_sensitive = context.flags.sensitive === true
  const response = await context
    .connect()
    .call('createEnvVars', { params: { slug }, body: { vars: variables.map(({ key, value }) => ({ key, value, environment, is_sensitive })) } })
  if (context.is_json) context.terminal.out(JSON.stringify(response))
  else {
    context.terminal.out(`Added ${response.created.length}.${formatRedeployNotice(response.deployment_id)}`)
    for (const one of response.skipped) context.terminal.out(`Skipped ${one.key}: it already exists.`)
  }
  return exitCodes.success
}

/** Writes the variables of an environment. As at run time, a value for one environment overrides a value for both. */
async function pull(context: CommandContext): Promise<number> {
  const [, slug = '', file] = requirePositionals(context, 'pull', 'SLUG', '[FILE]')
  const environment = readEnvironmentFlag(context) ?? 'production'
  const { env_vars } = await context.connect().call('listEnvVars', { params: { slug } })
  const values = new Map<string, string>()
  for (const one of env_vars.filter((each) => each.environment === null)) values.set(one.key, one.value)
  for (const one of env_vars.filter((each) => each.environment === environment)) values.set(one.key, one.value)
  const { text: lines, left_out } = formatDotenv([...values].map(([key, value]) => ({ key, value })))
  if (file === undefined) context.terminal.out(lines.trimEnd())
  else {
    const path = resolve(context.cwd, file)
    await writeFile(path, lines, { mode: 0o600, flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
      throw new UsageError(error.code === 'EEXIST' ? `${path} already exists. Choose another file.` : `${path} cannot be written.`)
    })
    context.terminal.out(
      context.is_json
        ? JSON.stringify({ file: path, left_out })
        : `Wrote ${values.size - left_out.length} variables to ${path}, readable only by you.`,
    )
  }
  if (left_out.length > 0) context.terminal.err(`Skipped, because a .env file cannot hold their values: ${left_out.join(', ')}.`)
  return exitCodes.success
}

const formatRedeployNotice = (deployment_id: string | null) => (deployment_id === null ? '' : ' The project is being redeployed.')
