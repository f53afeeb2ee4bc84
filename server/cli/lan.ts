import { renderUnicodeCompact } from 'uqr'
import type { LanStatus } from '../contract/network.ts'
import { type Call, type Command, exitCodes, text, UsageError, words } from './command.ts'
import { setPassword } from './password.ts'
import { paint, table } from './terminal.ts'

export const lan: Command = {
  summary: 'Opens dashboard and apps to the network around this machine, and shows the addresses.',
  forms: ['lan [on|off] [--qr SLUG]'],
  options: { qr: '=SLUG show the code of this project, to be read by a phone' },
  more: 'Opening it takes the owner’s password (homeport password). Without HTTPS on the network others there can read along.',
  async run(call) {
    const [verb] = words(call, '[on|off]')
    if (verb !== undefined && verb !== 'on' && verb !== 'off') throw new UsageError(`“${verb}” is neither on nor off.`)
    const client = call.connect()
    if (verb === 'on' && call.terminal.is_interactive && !(await client.call('getLan', {})).lan.has_owner_password) {
      call.terminal.err('Other devices sign in with a password, which this instance does not have yet.')
      await setPassword(call, undefined)
    }
    if (verb !== undefined) await client.call('updateSettings', { body: { lan: verb === 'on' } })
    const status = await client.call('getLan', {})
    if (call.json) call.terminal.out(JSON.stringify(status))
    else show(call, status.lan)
    return exitCodes.done
  },
}

function show(call: Call, status: LanStatus): void {
  const { terminal } = call
  if (!status.open) {
    terminal.out(`The network is closed: only this machine reaches Homeport. Open it with: homeport lan on`)
    return
  }
  const slug = text(call.flags, 'qr')
  const project = status.projects.find((one) => one.slug === slug)
  if (slug !== undefined && project === undefined)
    throw new UsageError(`No live project is called “${slug}”. There are: ${status.projects.map((one) => one.slug).join(', ') || 'none'}.`)
  const url = project === undefined ? status.dashboard_urls[0] : project.urls[0]

  if (url !== undefined && (slug !== undefined || terminal.is_interactive)) for (const line of code(call, url)) terminal.out(line)
  const signIn = status.dashboard_urls.length > 0 ? ` Sign in as ${status.sign_in_email}.` : ''
  terminal.out(`${paint(terminal, 'bold', 'The network is open.')}${signIn}`)
  for (const [i, dashboard] of status.dashboard_urls.entries()) terminal.out(`${i === 0 ? 'dashboard' : '         '}  ${dashboard}`)
  const rows = status.projects.flatMap((one) => one.urls.map((address, i) => [i === 0 ? one.slug : '', address]))
  if (rows.length > 0) for (const line of table(terminal, ['PROJECT', 'ADDRESS'], rows)) terminal.out(line)
  if (status.warning !== null) terminal.err(paint(terminal, 'yellow', status.warning))
}

/** Light on dark whatever the terminal's own colours are: some readers take no other. */
function code(call: Call, url: string): string[] {
  const lines = renderUnicodeCompact(url, { border: 2 }).split('\n')
  return call.terminal.has_colour ? lines.map((line) => `\x1b[97;40m${line}\x1b[0m`) : lines
}
