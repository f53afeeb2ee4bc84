import { isHostsFileInSync, parseHostsBlock, writeHostsBlock } from '../lib/hosts-file.ts'
import { resolveHostsPath } from '../options.ts'
import { type CliCommand, exitCodes, stringFlag, UsageError, requirePositionals } from './command.ts'

export const hosts: CliCommand = {
  summary: 'Adds the local names to the hosts file, for programs that do not resolve *.localhost.',
  usage: ['hosts', 'hosts --write', 'hosts --remove'],
  options: {
    write: 'add the lines, and keep them up to date if the instance may write the file',
    remove: 'remove the lines',
    file: '=FILE hosts file to use instead of the system’s',
  },
  details: 'Writing the hosts file needs administrator rights: sudo npx homeport hosts --write --data DIR',
  async run(context) {
    requirePositionals(context)
    const write = context.flags.write === true
    const remove = context.flags.remove === true
    if (write && remove) throw new UsageError('Use either --write or --remove.')
    const client = context.connect()
    // The instance writes the file if it may; otherwise this command does, possibly as an administrator. Any user may have started
    // the instance, so this command does not take the path from it, and accepts only valid lines of a hosts file.
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
      throw new Error(`Writing ${path} needs administrator rights. Run: ${command}`, { cause: error })
    }
    const in_sync = await isHostsFileInSync(path, block)
    if (context.is_json) context.terminal.out(JSON.stringify({ hosts_file: { ...hosts_file, path, in_sync } }))
    else if (write)
      context.terminal.out(`${path} contains ${block.lines.length === 1 ? 'one name' : `${block.lines.length} names`} of this instance.`)
    else if (remove) context.terminal.out(`Removed the names of this instance from ${path}.`)
    else {
      context.terminal.out(hosts_file.block.trimEnd())
      context.terminal.err(
        in_sync
          ? `${path} contains these lines.`
          : `${path} does not contain these lines. Add them with: ${hosts_file.command ?? 'npx homeport hosts --write'}`,
      )
    }
    return exitCodes.success
  },
}
