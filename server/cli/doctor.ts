import { type Command, exitCodes, words } from './command.ts'
import { paint } from './terminal.ts'

const marks = { ok: ['green', '✓'], warning: ['yellow', '!'], failed: ['red', '✗'] } as const

export const doctor: Command = {
  summary: 'Looks at engine, ports, names, certificates, disk and database, and says how to mend what is wrong.',
  forms: ['doctor'],
  options: {},
  async run(call) {
    words(call)
    const client = call.connect()
    const { checks } = await client.call('doctor', {})
    if (call.json) call.terminal.out(JSON.stringify({ checks }))
    for (const check of call.json ? [] : checks) {
      const [colour, mark] = marks[check.status]
      call.terminal.out(`${paint(call.terminal, colour, mark)} ${check.name}: ${check.message}`)
      if (check.mend !== null) call.terminal.out(`    ${check.mend}`)
      if (check.mend !== null && check.help) call.terminal.out(paint(call.terminal, 'dim', `    ${client.url}/app/help/${check.help}`))
    }
    return checks.some((check) => check.status === 'failed') ? exitCodes.refused : exitCodes.done
  },
}
