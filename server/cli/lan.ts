import { renderUnicodeCompact } from 'uqr'
import type { LanStatus } from '../contract/network.ts'
import { type CommandContext, type CliCommand, exitCodes, stringFlag, UsageError, requirePositionals } from './command.ts'
import { setOwnerPassword } from './password.ts'
import { colorize, formatTable } from './terminal.ts'

export const lan: CliCommand = {
  summary: 'Opens the dashboard and apps to the local network, and shows their URLs.',
  usage: ['lan [on|off] [--qr SLUG]'],
  options: { qr: '=SLUG show a QR code with the URL of this project' },
  details: 'Requires an owner password (homeport password). The connection is not encrypted: others on the network can read it.',
  async run(context) {
    const [subcommand] = requirePositionals(context, '[on|off]')
    if (subcommand !== undefined && subcommand !== 'on' && subcommand !== 'off') throw new UsageError(`“${subcommand}” is neither on nor off.`)
    const client = context.connect()
    if (subcommand === 'on' && context.terminal.is_interactive && !(await client.call('getLan', {})).lan.has_owner_password) {
      context.terminal.err('Other devices sign in with a password. Choose one first.')
      await setOwnerPassword(context, undefined)
    }
    if (subcommand !== undefined) await client.call('updateSettings', { body: { lan: subcommand === 'on' } })
    const status = await client.call('getLan', {})
    if (context.is_json) context.terminal.out(JSON.stringify(status))
    else show(context, status.lan)
    return exitCodes.success
  },
}

function show(context: CommandContext, status: LanStatus): void {
  const { terminal } = context
  if (!status.open) {
    terminal.out('Network access is closed: only this machine can reach Homeport. Open it with: homeport lan on')
    return
  }
  const slug = stringFlag(context.flags, 'qr')
  const project = status.projects.find((one) => one.slug === slug)
  if (slug !== undefined && project === undefined)
    throw new UsageError(`No live project is called “${slug}”. Live projects: ${status.projects.map((one) => one.slug).join(', ') || 'none'}.`)
  const url = project === undefined ? status.dashboard_urls[0] : project.urls[0]

  if (url !== undefined && (slug !== undefined || terminal.is_interactive)) for (const line of renderQrCode(context, url)) terminal.out(line)
  const signIn = status.dashboard_urls.length > 0 ? ` Sign in as ${status.sign_in_email}.` : ''
  terminal.out(`${colorize(terminal, 'bold', 'Network access is open.')}${signIn}`)
  for (const [i, dashboard] of status.dashboard_urls.entries()) terminal.out(`${i === 0 ? 'dashboard' : '         '}  ${dashboard}`)
  const rows = status.projects.flatMap((one) => one.urls.map((address, i) => [i === 0 ? one.slug : '', address]))
  if (rows.length > 0) for (const line of formatTable(terminal, ['PROJECT', 'URL'], rows)) terminal.out(line)
  if (status.warning !== null) terminal.err(colorize(terminal, 'yellow', status.warning))
}

/** Always light on dark, because some QR readers cannot read the inverse. */
function renderQrCode(context: CommandContext, url: string): string[] {
  const lines = renderUnicodeCompact(url, { border: 2 }).split('\n')
  return context.terminal.has_colour ? lines.map((line) => `\x1b[97;40m${line}\x1b[0m`) : lines
}
