import { type CliCommand, exitCodes, requirePositionals } from './command.ts'
import { colorize } from './terminal.ts'

const statusMarks = { trusted: ['green', '✓'], not_trusted: ['yellow', '!'], unavailable: ['yellow', '!'] } as const

/** The system may ask the user to confirm. */
const trustTimeout_ms = 150_000

export const trust: CliCommand = {
  summary: 'Makes this machine trust the HTTPS certificates of the instance, or removes that trust.',
  usage: ['trust', 'trust --show', 'trust --remove'],
  options: { show: 'only show which stores trust it', remove: 'remove the authority from every store and destroy its key' },
  async run(context) {
    requirePositionals(context)
    const client = context.connect()
    const { https, messages } =
      context.flags.show === true
        ? { ...(await client.call('getHttps', {})), messages: [] }
        : await client.call(context.flags.remove === true ? 'removeAuthority' : 'trustAuthority', {}, trustTimeout_ms)
    if (context.is_json) {
      context.terminal.out(JSON.stringify({ https, messages }))
      return exitCodes.success
    }
    for (const message of messages) context.terminal.out(message)
    if (context.flags.remove === true) return exitCodes.success
    context.terminal.out(
      https.authority ? `${https.authority.subject}\n  SHA-256 ${https.authority.fingerprint_sha256}` : 'There is no certificate authority yet.',
    )
    for (const { store, status, command } of https.authority ? https.trust : []) {
      const [colour, mark] = statusMarks[status]
      context.terminal.out(`${colorize(context.terminal, colour, mark)} ${store}: ${status.replace('_', ' ')}`)
      if (command !== null) context.terminal.out(`    ${command}`)
    }
    return exitCodes.success
  },
}
