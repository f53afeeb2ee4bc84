import { type Command, exitCodes, words } from './command.ts'
import { paint } from './terminal.ts'

const marks = { trusted: ['green', '✓'], not_trusted: ['yellow', '!'], unavailable: ['yellow', '!'] } as const

/** The system may ask the person, who may take a while. */
const patience_ms = 150_000

export const trust: Command = {
  summary: 'Has this machine trust the HTTPS addresses of the instance, and takes that back.',
  forms: ['trust', 'trust --show', 'trust --remove'],
  options: { show: 'only say who trusts it', remove: 'take the authority out of every store and destroy its key' },
  async run(call) {
    words(call)
    const client = call.connect()
    const { https, messages } =
      call.flags.show === true
        ? { ...(await client.call('getHttps', {})), messages: [] }
        : await client.call(call.flags.remove === true ? 'removeAuthority' : 'trustAuthority', {}, patience_ms)
    if (call.json) {
      call.terminal.out(JSON.stringify({ https, messages }))
      return exitCodes.done
    }
    for (const message of messages) call.terminal.out(message)
    if (call.flags.remove === true) return exitCodes.done
    call.terminal.out(https.authority ? `${https.authority.subject}\n  SHA-256 ${https.authority.fingerprint_sha256}` : 'There is no authority yet.')
    for (const { store, status, command } of https.authority ? https.trust : []) {
      const [colour, mark] = marks[status]
      call.terminal.out(`${paint(call.terminal, colour, mark)} ${store}: ${status.replace('_', ' ')}`)
      if (command !== null) call.terminal.out(`    ${command}`)
    }
    return exitCodes.done
  },
}
