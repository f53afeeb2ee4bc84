import { type CommandContext, type CliCommand, exitCodes, stringFlag, UsageError, requirePositionals } from './command.ts'

export const password: CliCommand = {
  summary: 'Sets the owner’s password, for signing in from other devices.',
  usage: ['password', 'password --code', 'password --setup-code CODE --url URL'],
  options: {
    code: 'print a one-time code for setting the password from another machine',
    'setup-code': '=CODE the code, on the other machine',
  },
  details: 'Enter the password at the prompt or on standard input. All other sessions of the owner are signed out.',
  async run(context) {
    requirePositionals(context)
    if (context.flags.code === true) return printSetupCode(context)
    await setOwnerPassword(context, stringFlag(context.flags, 'setup-code'))
    context.terminal.out(context.is_json ? JSON.stringify({ ok: true }) : 'The password is set. All other sessions of the owner are signed out.')
    return exitCodes.success
  },
}

/** Asks for a password and sets it. On a terminal the password is asked for twice. */
export async function setOwnerPassword(context: CommandContext, setup_code: string | undefined): Promise<void> {
  const typed = await context.prompt('New owner password (at least 10 characters): ', { is_secret: true })
  if (!typed) throw new UsageError('There is no password. Type one, or pipe it in.')
  if (context.terminal.is_interactive && (await context.prompt('Repeat the password: ', { is_secret: true })) !== typed)
    throw new UsageError('The passwords differ. Nothing was changed.')
  await context.connect().call('setOwnerPassword', { body: { password: typed, ...(setup_code === undefined ? {} : { setup_code }) } })
}

async function printSetupCode(context: CommandContext): Promise<number> {
  const created = await context.connect().call('createSetupCode', {})
  context.terminal.out(context.is_json ? JSON.stringify(created) : created.setup_code)
  if (!context.is_json) context.terminal.err('Works once, for 15 minutes. On the other machine: homeport password --setup-code CODE --url URL')
  return exitCodes.success
}
