import { type CliCommand, exitCodes, requirePositionals } from './command.ts'

export const open: CliCommand = {
  summary: 'Opens the dashboard, signed in. The link works once.',
  usage: ['open [--print]'],
  options: { print: 'only print the link' },
  async run(context) {
    requirePositionals(context)
    const { url, expires_at } = await context.connect().call('createSignInLink', {})
    const isPrinted = context.is_json || context.flags.print === true
    const isOpened = !isPrinted && (await context.openUrl(url, { is_secret: true }))
    context.terminal.out(
      context.is_json
        ? JSON.stringify({ url, expires_at })
        : isOpened
          ? 'Opened the dashboard in your browser. If it shows nothing: homeport open --print'
          : url,
    )
    return exitCodes.success
  },
}
