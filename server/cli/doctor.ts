import { checkLabel } from '../contract/check-labels.ts'
import { type CliCommand, exitCodes, requirePositionals } from './command.ts'
import { colorize, formatRelativeTime } from './terminal.ts'

const statusMarks = { ok: ['green', '✓'], warning: ['yellow', '!'], failed: ['red', '✗'] } as const

export const doctor: CliCommand = {
  summary: 'Checks engine, ports, names, certificates, disk and database, and explains how to fix problems.',
  usage: ['doctor'],
  options: {},
  async run(context) {
    requirePositionals(context)
    const client = context.connect()
    const { checks } = await client.call('doctor', {})
    const withRelativeTimes = (text: string) => text.replace(/\b\d{4}-\d\d-\d\dT[\d:.]+Z/g, (time) => formatRelativeTime(time, context.clock.now()))
    if (context.is_json) context.terminal.out(JSON.stringify({ checks }))
    for (const check of context.is_json ? [] : checks) {
      const [colour, mark] = statusMarks[check.status]
      context.terminal.out(`${colorize(context.terminal, colour, mark)} ${checkLabel(check.name)}: ${withRelativeTimes(check.message)}`)
      if (check.hint !== null) context.terminal.out(`    ${withRelativeTimes(check.hint)}`)
      if (check.hint !== null && check.help) context.terminal.out(colorize(context.terminal, 'dim', `    ${client.url}/app/help/${check.help}`))
    }
    return checks.some((check) => check.status === 'failed') ? exitCodes.failure : exitCodes.success
  },
}
