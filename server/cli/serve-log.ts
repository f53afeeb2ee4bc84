import { join } from 'node:path'
import { createLogFile, maskSecrets } from '../lib/log-file.ts'
import { createLog, type LogEntry, type Log } from '../lib/log.ts'
import { type CommandContext, stringFlag, UsageError } from './command.ts'

/**
 * The log of a platform without a window. Everything goes as JSON to a file of the data folder, and what is wrong also as a sentence to
 * standard error; with `--log-format json` the JSON goes to standard error instead, and there is no file.
 */
export function createServeLog({ terminal, flags }: Pick<CommandContext, 'terminal' | 'flags'>, data_dir: string): Log & { path: string | null } {
  const format = stringFlag(flags, 'log-format') ?? 'text'
  if (format !== 'text' && format !== 'json') throw new UsageError('--log-format is text or json.')
  if (format === 'json') return { ...createLog((line) => terminal.err(maskSecrets(line))), path: null }
  const file = createLogFile(join(data_dir, 'logs'), 'homeport')
  const log = createLog((line, entry) => {
    file.write(maskSecrets(line))
    // What went well is no news on a terminal.
    if (entry.level !== 'info') terminal.err(maskSecrets(formatSentence(entry)))
  })
  return { ...log, path: file.path }
}

/** `Warning: step not stored (deployment dpl_1): The disk is full.` */
function formatSentence({ level, event, fields }: LogEntry): string {
  const { error, ...facts } = fields
  const details = Object.entries(facts)
    .filter(([, value]) => value !== undefined && value !== null)
    .map(([name, value]) => `${name.replaceAll('_', ' ')} ${typeof value === 'string' ? value : JSON.stringify(value)}`)
  const reason = error === undefined ? '' : `: ${error instanceof Error ? error.message : JSON.stringify(error)}`
  const sentence = `${level === 'error' ? 'Error' : 'Warning'}: ${event.replaceAll(/[_.]/g, ' ')}${details.length === 0 ? '' : ` (${details.join(', ')})`}${reason}`
  return sentence.replaceAll(/\s*\n\s*/g, ' ')
}
