import { type CliCommand, exitCodes, requirePositionals } from './command.ts'

export const open: CliCommand = {
  summary: 'Opens the dashboard in a browser and signs you in. The link works once.',
  usage: ['open [--print]'],
  options: { print: 'print the link instead of opening it' },
  async run(context) {
    requirePositionals(context)
    const { url, expires_at } = await context.connect().call('createSignInLink', {})
    const isPrinted = context.is_json || context.flags.print === true
    const isOpened = !isPrinted && (await context.openUrl(url, { is_secret: true }))
    context.terminal.out(
      context.is_json
        ? JSON.stringify({ url, expires_at })
        : isOpened
          ? 'Opened the dashboard in your browser. If nothing appears, run: homeport open --print'
          : url,
    )
    return exitCodes.success
  },
}
