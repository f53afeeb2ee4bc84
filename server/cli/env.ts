import { readFile, writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { formatDotenv, parseDotenv } from '../contract/dotenv.ts'
import { validateKey } from '../contract/env-var-rules.ts'
import type { CallOutput } from '../client/operation-types.ts'
import { ApiError } from '../client/api-error.ts'
import type { NewProjectEnvVar, ProjectEnvVar } from '../contract/env-vars.ts'
import type { ApiClient } from './client.ts'
import { type CommandContext, type CliCommand, exitCodes, stringFlag, UsageError, requirePositionals, unknownSubcommand } from './command.ts'
import { formatTable } from './terminal.ts'

type VariableEnvironment = ProjectEnvVar['environment']

export const env: CliCommand = {
  summary: 'Lists, sets, removes, imports and exports the variables of a project.',
  usage: ['env list SLUG', 'env set SLUG KEY[=VALUE]', 'env unset SLUG KEY', 'env import SLUG FILE', 'env pull SLUG [FILE]'],
  options: {
    environment: '=NAME production or preview (default: both)',
    sensitive: 'hide the value in the dashboard',
    'write-only': 'set, import: never show the value again, which cannot be undone',
    'build-secret': 'set, import: let a Dockerfile mount it with RUN --mount=type=secret,id=KEY',
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

function readVariableFlags({ flags }: CommandContext): { is_sensitive?: true; is_write_only?: true; is_build_secret?: true } {
  return {
    ...(flags.sensitive === true && { is_sensitive: true }),
    ...(flags['write-only'] === true && { is_write_only: true }),
    ...(flags['build-secret'] === true && { is_build_secret: true }),
  }
}

/** Whether only an instance has an operation for this variable. */
const needsInstance = (one: Pick<NewProjectEnvVar, 'is_write_only' | 'is_build_secret'>) => one.is_write_only === true || one.is_build_secret === true

/** A hosted account has no write-only variables and no operations for them. */
const isMissing = (error: unknown) => error instanceof ApiError && error.code === 'route_not_found'

async function listVariables(client: ApiClient, slug: string): Promise<ProjectEnvVar[]> {
  const params = { slug }
  try {
    return (await client.call('listProjectEnvVars', { params })).env_vars
  } catch (error) {
    if (!isMissing(error)) throw error
    return (await client.call('listEnvVars', { params })).env_vars.map((one) => ({ ...one, is_write_only: false, is_build_secret: false }))
  }
}

/** Their keys, which a token needs less for than their values. */
async function listKeys(client: ApiClient, slug: string): Promise<Omit<ProjectEnvVar, 'value'>[]> {
  try {
    return (await client.call('listEnvVarKeys', { params: { slug } })).env_vars
  } catch (error) {
    if (!isMissing(error)) throw error
    return listVariables(client, slug)
  }
}

function createVariables(client: ApiClient, slug: string, vars: NewProjectEnvVar[]): Promise<CallOutput<'createEnvVars'>> {
  const input = { params: { slug }, body: { vars } }
  return vars.some(needsInstance) ? client.call('createProjectEnvVars', input) : client.call('createEnvVars', { ...input, body: { vars } })
}

async function list(context: CommandContext): Promise<number> {
  const [, slug = ''] = requirePositionals(context, 'list', 'SLUG')
  const env_vars = await listVariables(context.connect(), slug)
  if (context.is_json) context.terminal.out(JSON.stringify({ env_vars }))
  else if (env_vars.length === 0) context.terminal.out('No variables yet. Add one with: homeport env set SLUG KEY')
  else {
    const formatValue = (one: ProjectEnvVar) =>
      one.is_write_only ? '(write-only)' : context.flags.show === true ? one.value.replaceAll('\n', '\\n') : '•'.repeat(8)
    const rows = env_vars.map((one) => [one.key, one.environment ?? 'both', formatValue(one)])
    for (const row of formatTable(context.terminal, ['KEY', 'ENVIRONMENT', 'VALUE'], rows)) context.terminal.out(row)
  }
  return exitCodes.success
}

async function set(context: CommandContext): Promise<number> {
  const [, slug = '', assignment = ''] = requirePositionals(context, 'set', 'SLUG', 'KEY[=VALUE]')
  const equals = assignment.indexOf('=')
  const key = equals < 0 ? assignment : assignment.slice(0, equals)
  const problem = validateKey(key)
  if (problem !== undefined) throw new UsageError(`“${key}” cannot be the name of a variable. ${problem}`)
  const value = equals < 0 ? await context.prompt(`Value of ${key}: `, { is_secret: true }) : assignment.slice(equals + 1)
  if (value === undefined) throw new UsageError(`${key} has no value. Pipe it in, or write ${key}=VALUE.`)
  const environment = readEnvironmentFlag(context)
  const flags = readVariableFlags(context)
  const client = context.connect()
  const env_vars = await listKeys(client, slug)
  const existing = env_vars.find((one) => one.key === key && one.environment === environment)
  if (existing) {
    if (existing.is_write_only && value === '')
      throw new UsageError(`${key} is write-only, and an empty value would keep the current one. Unset it first: homeport env unset ${slug} ${key}`)
    const params = { slug, id: existing.id }
    const body = { value, ...flags }
    const { is_write_only: _, is_build_secret: __, ...hosted } = body
    const { id } = await (needsInstance(body)
      ? client.call('updateProjectEnvVar', { params, body })
      : client.call('updateEnvVar', { params, body: hosted }))
    context.terminal.out(context.is_json ? JSON.stringify({ id, updated: true }) : `Changed ${key}. The next deployment uses it: homeport deploy`)
    return exitCodes.success
  }
  const response = await createVariables(client, slug, [{ key, value, environment, ...flags }])
  context.terminal.out(context.is_json ? JSON.stringify(response) : `Added ${key}.${formatRedeployNotice(response.deployment_id)}`)
  return exitCodes.success
}

async function unset(context: CommandContext): Promise<number> {
  const [, slug = '', key = ''] = requirePositionals(context, 'unset', 'SLUG', 'KEY')
  const environment = readEnvironmentFlag(context)
  const client = context.connect()
  const env_vars = await listKeys(client, slug)
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
  const flags = readVariableFlags(context)
  const response = await createVariables(
    context.connect(),
    slug,
    variables.map(({ key, value }) => ({ key, value, environment, ...flags })),
  )
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
  const env_vars = await listVariables(context.connect(), slug)
  const effective = new Map<string, ProjectEnvVar>()
  for (const one of env_vars.filter((each) => each.environment === null)) effective.set(one.key, one)
  for (const one of env_vars.filter((each) => each.environment === environment)) effective.set(one.key, one)
  const values = [...effective.values()].filter((one) => !one.is_write_only)
  const write_only = [...effective.values()].filter((one) => one.is_write_only).map(({ key }) => key)
  const { text: lines, left_out } = formatDotenv(values)
  if (file === undefined) context.terminal.out(lines.trimEnd())
  else {
    const path = resolve(context.cwd, file)
    await writeFile(path, lines, { mode: 0o600, flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
      throw new UsageError(error.code === 'EEXIST' ? `${path} already exists. Choose another file.` : `${path} cannot be written.`)
    })
    context.terminal.out(
      context.is_json
        ? JSON.stringify({ file: path, left_out, write_only })
        : `Wrote ${values.length - left_out.length} variables to ${path}, readable only by you.`,
    )
  }
  if (write_only.length > 0) context.terminal.err(`Skipped, because they are write-only: ${write_only.join(', ')}.`)
  if (left_out.length > 0) context.terminal.err(`Skipped, because a .env file cannot hold their values: ${left_out.join(', ')}.`)
  return exitCodes.success
}

const formatRedeployNotice = (deployment_id: string | null) => (deployment_id === null ? '' : ' The project is being redeployed.')
