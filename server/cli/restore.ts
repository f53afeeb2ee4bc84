import { resolve } from 'node:path'
import { systemClock } from '../lib/clock.ts'
import { masterKeyFiles, readOptions } from '../options.ts'
import { type CliCommand, exitCodes, stringFlag, UsageError, requirePositionals } from './command.ts'
import { formatBytes } from './terminal.ts'

export const restore: CliCommand = {
  summary: 'Restores a backup to a new data folder.',
  usage: ['restore FILE --data NEW [--key KEYFILE | --without-key]'],
  options: {
    key: '=KEYFILE master key of the instance that was backed up (master.key)',
    'without-key': 'restore everything except secrets, because the key is lost',
  },
  details: [
    'The folder must be empty or not exist. Files are kept only if the whole backup passes verification.',
    'No instance needs to run. The restored instance is independent: it never changes what the original has on this machine.',
    'Both would use the same names and ports, so run only one of them, or give them different ports.',
  ].join('\n'),
  async run(context) {
    const [name = ''] = requirePositionals(context, 'FILE')
    const { terminal, flags, signal } = context
    const data = stringFlag(flags, 'data')
    if (data === undefined) throw new UsageError('The new folder is missing: add --data NEW.')
    const options = readOptions({ data: resolve(context.cwd, data) })
    const isWithoutKey = flags['without-key'] === true
    const keyFile = stringFlag(flags, 'key')
    if (isWithoutKey && keyFile !== undefined) throw new UsageError('Use either --key or --without-key.')
    const keyPath = keyFile === undefined ? (options.master_key_file ?? undefined) : resolve(context.cwd, keyFile)
    // Imported here, because the other commands start without a database.
    const { restoreBackup } = await import('../maintenance/restore/restore-backup.ts')
    const file = resolve(context.cwd, name)
    const restored = await restoreBackup({
      file,
      into: options.data_dir,
      key: isWithoutKey ? 'lost' : keyPath === undefined ? undefined : { file: keyPath, is_wrapped: keyPath.endsWith('.sealed') },
      key_names: masterKeyFiles,
      clock: systemClock,
      signal,
    })
    if (context.is_json) {
      terminal.out(JSON.stringify({ data_dir: options.data_dir, ...restored }))
      return exitCodes.success
    }
    const { projects, deployments, env_vars, databases } = restored.counts
    terminal.out(
      `Restored the backup of ${restored.created_at} to ${options.data_dir} (${formatBytes(restored.bytes)} unpacked, all checksums match).`,
    )
    terminal.out(`${projects} projects, ${deployments} deployments, ${env_vars} variables, ${databases} databases.`)
    for (const line of restored.left_out) terminal.out(`Not in the backup: ${line}`)
    for (const line of restored.lost) terminal.out(`Lost with the key: ${line}`)
    terminal.out(`The restored instance is independent. Docker resources of the original keep the label homeport.instance=${restored.instance_id}`)
    terminal.out(`Start it with: homeport serve --data ${data}`)
    return exitCodes.success
  },
}
