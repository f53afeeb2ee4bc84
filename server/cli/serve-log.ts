import { join } from 'node:path'
import { createLogFile, withoutSecrets } from '../lib/log-file.ts'
import { createLog, type Entry, type Log } from '../lib/log.ts'
import { type Call, text, UsageError } from './command.ts'

/**
 * The log of a platform without a window. Everything goes as JSON to a file of the data folder, and what is wrong also as a sentence to
 * standard error; with `--log-format json` the JSON goes to standard error instead, and there is no file.
 */
export function createServeLog({ terminal, flags }: Pick<Call, 'terminal' | 'flags'>, data_dir: string): Log & { path: string | null } {
  const format = text(flags, 'log-format') ?? 'text'
  if (format !== 'text' && format !== 'json') throw new UsageError('--log-format is text or json.')
  if (format === 'json') return { ...createLog((line) => terminal.err(withoutSecrets(line))), path: null }
  const file = createLogFile(join(data_dir, 'logs'), 'homeport')
  const log = createLog((line, entry) => {
    file.write(withoutSecrets(line))
    // What went well is no news on a terminal.
    if (entry.level !== 'info') terminal.err(withoutSecrets(sentenceOf(entry)))
  })
  return { ...log, path: file.path }
}

/** `Warning: step not stored (deployment dpl_1): The disk is full.` */
function sentenceOf({ level, event, fields }: Entry): string {
  const { error, ...facts } = fields
  const told = Object.entries(facts)
    .filter(([, value]) => value !== undefined && value !== null)
    .map(([name, value]) => `${name.replaceAll('_', ' ')} ${typeof value === 'string' ? value : JSON.stringify(value)}`)
  const reason = error === undefined ? '' : `: ${error instanceof Error ? error.message : JSON.stringify(error)}`
  const sentence = `${level === 'error' ? 'Error' : 'Warning'}: ${event.replaceAll(/[_.]/g, ' ')}${told.length === 0 ? '' : ` (${told.join(', ')})`}${reason}`
  return sentence.replaceAll(/\s*\n\s*/g, ' ')
}
