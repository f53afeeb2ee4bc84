import { settings as settingsSchema } from '../contract/instance.ts'
import { type CommandContext, type CliCommand, exitCodes, UsageError, requirePositionals } from './command.ts'

const settingFields = settingsSchema.shape
const isKey = (key: string): key is keyof typeof settingFields => Object.hasOwn(settingFields, key)

export const settings: CliCommand = {
  summary: 'Shows and changes the settings of the instance.',
  usage: ['settings get [KEY]', 'settings set KEY VALUE'],
  options: {},
  details: `Keys:\n${Object.entries(settingFields)
    .map(([key, schema]) => `  ${key.padEnd(26)}${schema.description?.replace(/\bnull\b/, 'none') ?? ''}`)
    .join('\n')}`,
  async run(context) {
    const subcommand = context.positionals[0] ?? 'get'
    if (subcommand === 'get') return get(context)
    if (subcommand === 'set') return set(context)
    throw new UsageError(`“${subcommand}” is neither get nor set.`)
  },
}

async function get(context: CommandContext): Promise<number> {
  const [, key] = requirePositionals(context, '[get]', '[KEY]')
  if (key !== undefined) assertKey(key)
  const { settings: values } = await context.connect().call('getSettings', {})
  if (key !== undefined) context.terminal.out(JSON.stringify(values[key as keyof typeof values]).replace(/^"(.*)"$/, context.is_json ? '"$1"' : '$1'))
  else if (context.is_json) context.terminal.out(JSON.stringify({ settings: values }))
  else for (const [name, value] of Object.entries(values)) context.terminal.out(`${name.padEnd(26)}${formatValue(value)}`)
  return exitCodes.success
}

async function set(context: CommandContext): Promise<number> {
  const [, key = '', value = ''] = requirePositionals(context, 'set', 'KEY', 'VALUE')
  assertKey(key)
  const parsed = parseValue(value)
  // Lists are comma-separated.
  const isList = typeof parsed === 'string' && isKey(key) && settingFields[key].safeParse([parsed.split(',')[0]]).success
  const { settings: values } = await context.connect().call('updateSettings', { body: { [key]: isList ? parsed.split(',') : parsed } })
  context.terminal.out(context.is_json ? JSON.stringify({ settings: values }) : `${key} is now ${formatValue(values[key as keyof typeof values])}.`)
  return exitCodes.success
}

const formatValue = (value: unknown): string => String(value ?? 'none')

function assertKey(key: string): void {
  if (!isKey(key)) throw new UsageError(`Unknown setting “${key}”. Settings: ${Object.keys(settingFields).join(', ')}.`)
}

/** Parses numbers, booleans and null; everything else is text. The instance validates the value. */
function parseValue(value: string): string | number | boolean | null {
  if (value === 'null' || value === 'none') return null
  if (value === 'true' || value === 'yes') return true
  if (value === 'false' || value === 'no') return false
  return /^-?\d+$/.test(value) ? Number(value) : value
}
