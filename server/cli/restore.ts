import { resolve } from 'node:path'
import { systemClock } from '../lib/clock.ts'
import { masterKeyFiles, readOptions } from '../options.ts'
import { type CliCommand, exitCodes, stringFlag, UsageError, requirePositionals } from './command.ts'
import { formatBytes } from './terminal.ts'

export const restore: CliCommand = {
  summary: 'Makes a new data folder of a backup.',
  usage: ['restore FILE --data NEW [--key KEYFILE | --without-key]'],
  options: {
    key: '=KEYFILE the master key of the instance that was backed up (its master.key)',
    'without-key': 'the key is gone: restore all but the secrets',
  },
  details: [
    'The folder has to be empty or not there. Nothing is left in it unless all of the backup was proven.',
    'No instance has to run for it, and none is changed. The restored one is an instance of its own: it never touches',
    'what the old one has on this machine. Both would serve the same names, so run one of them, or give them other ports.',
  ].join('\n'),
  async run(context) {
    const [name = ''] = requirePositionals(context, 'FILE')
    const { terminal, flags, signal } = context
    const data = stringFlag(flags, 'data')
    if (data === undefined) throw new UsageError('Name the new folder with --data NEW.')
    const options = readOptions({ data: resolve(context.cwd, data) })
    const isWithoutKey = flags['without-key'] === true
    const keyFile = stringFlag(flags, 'key')
    if (isWithoutKey && keyFile !== undefined) throw new UsageError('Either --key or --without-key.')
    const keyPath = keyFile === undefined ? (options.master_key_file ?? undefined) : resolve(context.cwd, keyFile)
    // Loaded here and not above: the other commands start without a database.
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
      `Restored the backup of ${restored.created_at} into ${options.data_dir} (${formatBytes(restored.bytes)} unpacked, every checksum is right).`,
    )
    terminal.out(`${projects} projects, ${deployments} deployments, ${env_vars} variables, ${databases} databases.`)
    for (const line of restored.left_out) terminal.out(`Not in the backup: ${line}`)
    for (const line of restored.lost) terminal.out(`Lost with the key: ${line}`)
    terminal.out(`It is an instance of its own. What the old one has in Docker keeps its label: homeport.instance=${restored.instance_id}`)
    terminal.out(`Start it with: homeport serve --data ${data}`)
    return exitCodes.success
  },
}
