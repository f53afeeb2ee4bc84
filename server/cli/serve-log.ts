import { join } from 'node:path'
import { createLogFile, maskSecrets } from '../lib/log-file.ts'
import { createLog, type LogEntry, type Log } from '../lib/log.ts'
import { type CommandContext, stringFlag, UsageError } from './command.ts'

/**
 * The log of a headless platform. All entries go as JSON to a file in the data folder; warnings and errors also go to standard error as
 * text. With `--log-format json` all entries go to standard error as JSON, and there is no file.
 */
export function createServeLog({ terminal, flags }: Pick<CommandContext, 'terminal' | 'flags'>, data_dir: string): Log & { path: string | null } {
  const format = stringFlag(flags, 'log-format') ?? 'text'
  if (format !== 'text' && format !== 'json') throw new UsageError('--log-format must be text or json.')
  if (format === 'json') return { ...createLog((line) => terminal.err(maskSecrets(line))), path: null }
  const file = createLogFile(join(data_dir, 'logs'), 'homeport')
  const log = createLog((line, entry) => {
    file.write(maskSecrets(line))
    // Info entries are not printed on the terminal.
    if (entry.level !== 'info') terminal.err(maskSecrets(formatSentence(entry)))
  })
  return { ...log, path: file.path }
}

/** `Warning: step store failed (deployment dpl_1): The disk is full.` */
function formatSentence({ level, event, fields }: LogEntry): string {
  const { error, ...facts } = fields
  const details = Object.entries(facts)
    .filter(([, value]) => value !== undefined && value !== null)
    .map(([name, value]) => `${name.replaceAll('_', ' ')} ${typeof value === 'string' ? value : JSON.stringify(value)}`)
  const reason = error === undefined ? '' : `: ${error instanceof Error ? error.message : JSON.stringify(error)}`
  const sentence = `${level === 'error' ? 'Error' : 'Warning'}: ${event.replaceAll(/[_.]/g, ' ')}${details.length === 0 ? '' : ` (${details.join(', ')})`}${reason}`
  return sentence.replaceAll(/\s*\n\s*/g, ' ')
}
