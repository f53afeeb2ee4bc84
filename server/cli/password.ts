import { type Call, type Command, exitCodes, text, UsageError, words } from './command.ts'

export const password: Command = {
  summary: 'Sets the owner’s password, for signing in from other devices.',
  forms: ['password', 'password --code', 'password --setup-code CODE --url URL'],
  options: {
    code: 'print a code that lets another machine set the password, once',
    'setup-code': '=CODE the code, on that other machine',
  },
  more: 'The password is typed, or read from standard input. It ends every other session of the owner.',
  async run(call) {
    words(call)
    if (call.flags.code === true) return printCode(call)
    await setPassword(call, text(call.flags, 'setup-code'))
    call.terminal.out(call.json ? JSON.stringify({ ok: true }) : 'The password is set. Other sessions of the owner have ended.')
    return exitCodes.done
  },
}

/** Asks for a password, twice where somebody types it, and sets it. */
export async function setPassword(call: Call, setup_code: string | undefined): Promise<void> {
  const typed = await call.ask('New password for the owner, 10 characters or more: ', { is_secret: true })
  if (!typed) throw new UsageError('There is no password: type one, or send it on standard input.')
  if (call.terminal.is_interactive && (await call.ask('Once more: ', { is_secret: true })) !== typed)
    throw new UsageError('The two passwords differ. Nothing was changed.')
  await call.connect().call('setOwnerPassword', { body: { password: typed, ...(setup_code === undefined ? {} : { setup_code }) } })
}

async function printCode(call: Call): Promise<number> {
  const made = await call.connect().call('createSetupCode', {})
  call.terminal.out(call.json ? JSON.stringify(made) : made.setup_code)
  if (!call.json) call.terminal.err('Good once, for a quarter of an hour. On the other machine: homeport password --setup-code CODE --url URL')
  return exitCodes.done
}
