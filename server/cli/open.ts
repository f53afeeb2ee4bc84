import { type Command, exitCodes, words } from './command.ts'

export const open: Command = {
  summary: 'Opens the dashboard, signed in. The link works once.',
  forms: ['open [--print]'],
  options: { print: 'only print the link' },
  async run(call) {
    words(call)
    const { url, expires_at } = await call.connect().call('createSignInLink', {})
    const isPrinted = call.json || call.flags.print === true
    const opened = !isPrinted && (await call.openUrl(url, { is_secret: true }))
    call.terminal.out(
      call.json
        ? JSON.stringify({ url, expires_at })
        : opened
          ? 'Opened the dashboard in your browser. If it shows nothing: homeport open --print'
          : url,
    )
    return exitCodes.done
  },
}
