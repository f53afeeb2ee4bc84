import { type CommandContext, type CliCommand, exitCodes, stringFlag, UsageError, requirePositionals } from './command.ts'

export const password: CliCommand = {
  summary: 'Sets the owner’s password, for signing in from other devices.',
  usage: ['password', 'password --code', 'password --setup-code CODE --url URL'],
  options: {
    code: 'print a code that lets another machine set the password, once',
    'setup-code': '=CODE the code, on that other machine',
  },
  details: 'The password is typed, or read from standard input. It ends every other session of the owner.',
  async run(context) {
    requirePositionals(context)
    if (context.flags.code === true) return printSetupCode(context)
    await setPassword(context, stringFlag(context.flags, 'setup-code'))
    context.terminal.out(context.is_json ? JSON.stringify({ ok: true }) : 'The password is set. Other sessions of the owner have ended.')
    return exitCodes.success
  },
}

/** Asks for a password, twice where somebody types it, and sets it. */
export async function setPassword(context: CommandContext, setup_code: string | undefined): Promise<void> {
  const typed = await context.prompt('New password for the owner, 10 characters or more: ', { is_secret: true })
  if (!typed) throw new UsageError('There is no password: type one, or send it on standard input.')
  if (context.terminal.is_interactive && (await context.prompt('Once more: ', { is_secret: true })) !== typed)
    throw new UsageError('The two passwords differ. Nothing was changed.')
  await context.connect().call('setOwnerPassword', { body: { password: typed, ...(setup_code === undefined ? {} : { setup_code }) } })
}

async function printSetupCode(context: CommandContext): Promise<number> {
  const created = await context.connect().call('createSetupCode', {})
  context.terminal.out(context.is_json ? JSON.stringify(created) : created.setup_code)
  if (!context.is_json)
    context.terminal.err('Good once, for a quarter of an hour. On the other machine: homeport password --setup-code CODE --url URL')
  return exitCodes.success
}
