import { settings as settingsSchema } from '../contract/instance.ts'
import { type Call, type Command, exitCodes, UsageError, words } from './command.ts'

const fields = settingsSchema.shape
const isKey = (key: string): key is keyof typeof fields => Object.hasOwn(fields, key)

export const settings: Command = {
  summary: 'Shows and changes the settings of the instance.',
  forms: ['settings get [KEY]', 'settings set KEY VALUE'],
  options: {},
  more: `Keys:\n${Object.entries(fields)
    .map(([key, schema]) => `  ${key.padEnd(26)}${schema.description ?? ''}`)
    .join('\n')}`,
  async run(call) {
    const verb = call.words[0] ?? 'get'
    if (verb === 'get') return get(call)
    if (verb === 'set') return set(call)
    throw new UsageError(`“${verb}” is neither get nor set.`)
  },
}

async function get(call: Call): Promise<number> {
  const [, key] = words(call, '[get]', '[KEY]')
  if (key !== undefined) assertKey(key)
  const { settings: values } = await call.connect().call('getSettings', {})
  if (key !== undefined) call.terminal.out(JSON.stringify(values[key as keyof typeof values]).replace(/^"(.*)"$/, call.json ? '"$1"' : '$1'))
  else if (call.json) call.terminal.out(JSON.stringify({ settings: values }))
  else for (const [name, value] of Object.entries(values)) call.terminal.out(`${name.padEnd(26)}${String(value)}`)
  return exitCodes.done
}

async function set(call: Call): Promise<number> {
  const [, key = '', value = ''] = words(call, 'set', 'KEY', 'VALUE')
  assertKey(key)
  const wish = read(value)
  // A list is written with commas.
  const isList = typeof wish === 'string' && isKey(key) && fields[key].safeParse([wish.split(',')[0]]).success
  const { settings: values } = await call.connect().call('updateSettings', { body: { [key]: isList ? wish.split(',') : wish } })
  call.terminal.out(call.json ? JSON.stringify({ settings: values }) : `${key} is now ${String(values[key as keyof typeof values])}.`)
  return exitCodes.done
}

function assertKey(key: string): void {
  if (!isKey(key)) throw new UsageError(`There is no setting “${key}”. There are ${Object.keys(fields).join(', ')}.`)
}

/** Numbers, true, false and null as themselves, all else as text; the instance checks what fits the key. */
function read(value: string): string | number | boolean | null {
  if (value === 'null' || value === 'none') return null
  if (value === 'true' || value === 'yes') return true
  if (value === 'false' || value === 'no') return false
  return /^-?\d+$/.test(value) ? Number(value) : value
}
