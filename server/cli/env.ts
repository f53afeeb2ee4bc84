import { readFile, writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { formatDotenv, parseDotenv } from '../contract/dotenv.ts'
import type { EnvVar } from '../contract/env-vars.ts'
import { type Call, type Command, exitCodes, text, UsageError, words } from './command.ts'
import { table } from './terminal.ts'

type Environment = EnvVar['environment']

export const env: Command = {
  summary: 'Lists, sets, removes, imports and exports the variables of a project.',
  forms: ['env list SLUG', 'env set SLUG KEY[=VALUE]', 'env unset SLUG KEY', 'env import SLUG FILE', 'env pull SLUG [FILE]'],
  options: {
    environment: '=NAME production or preview (default: both)',
    sensitive: 'hide the value where values are shown',
    show: 'list: show values',
  },
  more: 'Without =VALUE, set asks for the value, or reads it from standard input, which keeps it out of the process list and the\nhistory of the shell. A new or removed variable of production deploys the project again.',
  async run(call) {
    const verb = call.words[0] ?? ''
    if (!Object.hasOwn(verbs, verb)) throw new UsageError(`“${verb}” is none of list, set, unset, import, pull.`)
    return verbs[verb as keyof typeof verbs](call)
  },
}

const verbs = { list, set, unset, import: importFile, pull }

function environmentOf(call: Call): Environment {
  const wish = text(call.flags, 'environment') ?? null
  if (wish !== null && wish !== 'production' && wish !== 'preview') throw new UsageError('--environment is production or preview.')
  return wish
}

async function list(call: Call): Promise<number> {
  const [, slug = ''] = words(call, 'list', 'SLUG')
  const { env_vars } = await call.connect().call('listEnvVars', { params: { slug } })
  if (call.json) call.terminal.out(JSON.stringify({ env_vars }))
  else if (env_vars.length === 0) call.terminal.out('No variables yet. Add one with: homeport env set SLUG KEY')
  else {
    const shown = (one: EnvVar) => (call.flags.show === true ? one.value.replaceAll('\n', '\\n') : '•'.repeat(8))
    const rows = env_vars.map((one) => [one.key, one.environment ?? 'both', shown(one)])
    for (const row of table(call.terminal, ['KEY', 'ENVIRONMENT', 'VALUE'], rows)) call.terminal.out(row)
  }
  return exitCodes.done
}

async function set(call: Call): Promise<number> {
  const [, slug = '', word = ''] = words(call, 'set', 'SLUG', 'KEY[=VALUE]')
  const equals = word.indexOf('=')
  const key = equals < 0 ? word : word.slice(0, equals)
  const value = equals < 0 ? await call.ask(`Value of ${key}: `, { is_secret: true }) : word.slice(equals + 1)
  if (value === undefined) throw new UsageError(`There is no value for ${key}. Pipe it in, or write ${key}=VALUE.`)
  const environment = environmentOf(call)
  const is_sensitive = call.flags.sensitive === true
  const client = call.connect()
  const { env_vars } = await client.call('listEnvVars', { params: { slug } })
  const there = env_vars.find((one) => one.key === key && one.environment === environment)
  if (there) {
    const body = { value, ...(is_sensitive ? { is_sensitive } : {}) }
    const { id } = await client.call('updateEnvVar', { params: { slug, id: there.id }, body })
    call.terminal.out(call.json ? JSON.stringify({ id, updated: true }) : `Changed ${key}. The next deployment has it: homeport deploy`)
    return exitCodes.done
  }
  const answer = await client.call('createEnvVars', { params: { slug }, body: { key, value, environment, is_sensitive } })
  call.terminal.out(call.json ? JSON.stringify(answer) : `Added ${key}.${redeployed(answer.deployment_id)}`)
  return exitCodes.done
}

async function unset(call: Call): Promise<number> {
  const [, slug = '', key = ''] = words(call, 'unset', 'SLUG', 'KEY')
  const environment = environmentOf(call)
  const client = call.connect()
  const { env_vars } = await client.call('listEnvVars', { params: { slug } })
  const there = env_vars.find((one) => one.key === key && one.environment === environment)
  // One that is not there is refused by the API itself; no id has a colon.
  await client.call('deleteEnvVar', { params: { slug, id: there?.id ?? `${key}:${environment ?? 'both'}` } })
  call.terminal.out(call.json ? JSON.stringify({ removed: key }) : `Removed ${key}.`)
  return exitCodes.done
}

async function importFile(call: Call): Promise<number> {
  const [, slug = '', file = ''] = words(call, 'import', 'SLUG', 'FILE')
  const environment = environmentOf(call)
  const path = resolve(call.cwd, file)
  const content = await readFile(path, 'utf8').catch(() => {
    throw new UsageError(`${path} cannot be read.`)
  })
  const found = parseDotenv(content)
  if (found.length === 0) throw new UsageError(`${path} has no line of the form KEY=VALUE.`)
  const is_sensitive = call.flags.sensitive === true
  const answer = await call
    .connect()
    .call('createEnvVars', { params: { slug }, body: { vars: found.map(({ key, value }) => ({ key, value, environment, is_sensitive })) } })
  if (call.json) call.terminal.out(JSON.stringify(answer))
  else {
    call.terminal.out(`Added ${answer.created.length}.${redeployed(answer.deployment_id)}`)
    for (const one of answer.skipped) call.terminal.out(`Left ${one.key} as it is: it was there already.`)
  }
  return exitCodes.done
}

/** Writes what the environment gets; the more specific value wins, as at run time. */
async function pull(call: Call): Promise<number> {
  const [, slug = '', file] = words(call, 'pull', 'SLUG', '[FILE]')
  const environment = environmentOf(call) ?? 'production'
  const { env_vars } = await call.connect().call('listEnvVars', { params: { slug } })
  const values = new Map<string, string>()
  for (const one of env_vars.filter((each) => each.environment === null)) values.set(one.key, one.value)
  for (const one of env_vars.filter((each) => each.environment === environment)) values.set(one.key, one.value)
  const { text: lines, left_out } = formatDotenv([...values].map(([key, value]) => ({ key, value })))
  if (file === undefined) call.terminal.out(lines.trimEnd())
  else {
    const path = resolve(call.cwd, file)
    await writeFile(path, lines, { mode: 0o600, flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
      throw new UsageError(error.code === 'EEXIST' ? `${path} is there already. Name another file.` : `${path} cannot be written.`)
    })
    call.terminal.out(
      call.json ? JSON.stringify({ file: path, left_out }) : `Wrote ${values.size - left_out.length} to ${path}, readable by you alone.`,
    )
  }
  if (left_out.length > 0) call.terminal.err(`Left out, because a .env file cannot hold their values: ${left_out.join(', ')}.`)
  return exitCodes.done
}

const redeployed = (deployment_id: string | null) => (deployment_id === null ? '' : ' The project is being deployed again.')
