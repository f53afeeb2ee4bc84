import { isHostsFileInSync, parseHostsBlock, writeHostsBlock } from '../lib/hosts-file.ts'
import { resolveHostsPath } from '../options.ts'
import { type CliCommand, exitCodes, stringFlag, UsageError, requirePositionals } from './command.ts'

export const hosts: CliCommand = {
  summary: 'Puts the local names into the hosts file, for programs that do not know *.localhost.',
  usage: ['hosts', 'hosts --write', 'hosts --remove'],
  options: {
    write: 'put the lines in, and keep them in step where the instance may',
    remove: 'take them out again',
    file: '=FILE another hosts file than that of the system',
  },
  details: 'Only an administrator may write the hosts file: sudo npx homeport hosts --write --data DIR',
  async run(context) {
    requirePositionals(context)
    const write = context.flags.write === true
    const remove = context.flags.remove === true
    if (write && remove) throw new UsageError('Take either --write or --remove.')
    const client = context.connect()
    // The instance does it itself where it may; else we do, who were perhaps started by an administrator. Then neither the
    // place nor a line that is no line of a hosts file is taken from the instance, which anybody may have started.
    if (write || remove) await client.call('updateSettings', { body: { hosts_file: write } })
    const { hosts_file } = await client.call('getHostsFile', {})
    const path = stringFlag(context.flags, 'file') ?? resolveHostsPath()
    const block = parseHostsBlock(hosts_file.block)
    try {
      if (write) await writeHostsBlock(path, block)
      if (remove) await writeHostsBlock(path, { ...block, lines: [] })
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : ''
      if (code !== 'EACCES' && code !== 'EPERM' && code !== 'EROFS') throw error
      const command = (hosts_file.command ?? 'sudo npx homeport hosts --write').replace('--write', remove ? '--remove' : '--write')
      throw new Error(`${path} may be written by an administrator alone. Run: ${command}`, { cause: error })
    }
    const in_sync = await isHostsFileInSync(path, block)
    if (context.is_json) context.terminal.out(JSON.stringify({ hosts_file: { ...hosts_file, path, in_sync } }))
    else if (write) context.terminal.out(`${path} has ${block.lines.length === 1 ? 'one name' : `${block.lines.length} names`} of this instance.`)
    else if (remove) context.terminal.out(`${path} has no lines of this instance any more.`)
    else {
      context.terminal.out(hosts_file.block.trimEnd())
      context.terminal.err(
        in_sync ? `They are in ${path}.` : `They are not in ${path}. ${hosts_file.command ?? 'npx homeport hosts --write'} puts them there.`,
      )
    }
    return exitCodes.success
  },
}
