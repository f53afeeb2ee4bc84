import { type CliCommand, exitCodes, requirePositionals, UsageError } from './command.ts'

export const buildCache: CliCommand = {
  summary: 'Clears the build cache of a project.',
  usage: ['build-cache clear SLUG'],
  options: {},
  details: 'Removes installed dependencies and framework caches of earlier builds. To build once without cache: homeport deploy --no-cache',
  async run(context) {
    const [subcommand = '', slug = ''] = requirePositionals(context, 'clear', 'SLUG')
    if (subcommand !== 'clear') throw new UsageError(`Unknown subcommand “${subcommand}”. Use clear.`)
    await context.connect().call('clearBuildCache', { params: { slug } })
    context.terminal.out(
      context.is_json ? JSON.stringify({ cleared: slug }) : `Cleared the build cache of ${slug}. The next build installs everything again.`,
    )
    return exitCodes.success
  },
}
