import { resolve } from 'node:path'
import { systemClock } from '../lib/clock.ts'
import { keyFiles, readOptions } from '../options.ts'
import { type Command, exitCodes, text, UsageError, words } from './command.ts'
import { sizeOf } from './terminal.ts'

export const restore: Command = {
  summary: 'Makes a new data folder of a backup.',
  forms: ['restore FILE --data NEW [--key KEYFILE | --without-key]'],
  options: {
    key: '=KEYFILE the master key of the instance that was backed up (its master.key)',
    'without-key': 'the key is gone: restore all but the secrets',
  },
  more: [
    'The folder has to be empty or not there. Nothing is left in it unless all of the backup was proven.',
    'No instance has to run for it, and none is changed. The restored one is an instance of its own: it never touches',
    'what the old one has on this machine. Both would serve the same names, so run one of them, or give them other ports.',
  ].join('\n'),
  async run(call) {
    const [name = ''] = words(call, 'FILE')
    const { terminal, flags, signal } = call
    const data = text(flags, 'data')
    if (data === undefined) throw new UsageError('Name the new folder with --data NEW.')
    const options = readOptions({ data: resolve(call.cwd, data) })
    const isLost = flags['without-key'] === true
    const keyFile = text(flags, 'key')
    if (isLost && keyFile !== undefined) throw new UsageError('Either --key or --without-key.')
    const chosen = keyFile === undefined ? (options.master_key_file ?? undefined) : resolve(call.cwd, keyFile)
    // Loaded here and not above: the other commands start without a database.
    const { restoreBackup } = await import('../upkeep/restore.ts')
    const file = resolve(call.cwd, name)
    const restored = await restoreBackup({
      file,
      into: options.data_dir,
      key: isLost ? 'lost' : chosen === undefined ? undefined : { file: chosen, is_wrapped: chosen.endsWith('.sealed') },
      key_names: keyFiles,
      clock: systemClock,
      signal,
    })
    if (call.json) {
      terminal.out(JSON.stringify({ data_dir: options.data_dir, ...restored }))
      return exitCodes.done
    }
    const { projects, deployments, env_vars, databases } = restored.counts
    terminal.out(
      `Restored the backup of ${restored.created_at} into ${options.data_dir} (${sizeOf(restored.bytes)} unpacked, every checksum is right).`,
    )
    terminal.out(`${projects} projects, ${deployments} deployments, ${env_vars} variables, ${databases} databases.`)
    for (const line of restored.left_out) terminal.out(`Not in the backup: ${line}`)
    for (const line of restored.lost) terminal.out(`Lost with the key: ${line}`)
    terminal.out(`It is an instance of its own. What the old one has in Docker keeps its label: homeport.instance=${restored.instance_id}`)
    terminal.out(`Start it with: homeport serve --data ${data}`)
    return exitCodes.done
  },
}
