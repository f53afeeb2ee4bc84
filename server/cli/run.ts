import { Writable } from 'node:stream'
import { fitSize } from '../client/command-session.ts'
import { attachCommand, type ProgramIo } from './attach-command.ts'
import { type CliCommand, type CommandContext, exitCodes, requirePositionals, stringFlag, UsageError } from './command.ts'

const options = {
  service: '=NAME the service in whose environment it runs (default: the main one)',
  branch: '=BRANCH the preview of a branch instead of production',
}

export const run: CliCommand = {
  summary: 'Runs a one-off command in the environment of a service.',
  usage: ['run SLUG [--service NAME] [--branch BRANCH] -- COMMAND ...'],
  options,
  details: [
    'The command runs next to the live version, with its files, variables, database and volumes, and ends with this program.',
    'In a terminal the command gets a terminal; in a pipe, standard output and standard error stay separate. The exit code is the command’s.',
    'An image with an entrypoint gets the command as its arguments.',
  ].join('\n'),
  takes_command: true,
  async run(context) {
    const [slug = ''] = requirePositionals(context, 'SLUG')
    if (context.program.length === 0)
      throw new UsageError('The command is missing. Write it after two dashes: homeport run my-app -- npm run migrate')
    return context.is_json ? runForJson(context, slug) : runCommand(context, slug, context.program, context.openIo())
  },
}

export const shell: CliCommand = {
  summary: 'Opens a shell in the environment of a service.',
  usage: ['shell SLUG [--service NAME] [--branch BRANCH]'],
  options,
  details: 'Bash if the service has it, else sh. It runs next to the live version. Leave it with exit or Ctrl-D.',
  async run(context) {
    const [slug = ''] = requirePositionals(context, 'SLUG')
    if (context.is_json) throw new UsageError('A shell has no JSON output. Use homeport run with --json.')
    return runCommand(context, slug, null, context.openIo())
  },
}

async function runCommand(context: CommandContext, slug: string, command: string[] | null, io: ProgramIo): Promise<number> {
  const client = context.connect()
  const { command: prepared } = await client.call('createCommand', {
    params: { slug },
    body: {
      command,
      service: stringFlag(context.flags, 'service'),
      branch: stringFlag(context.flags, 'branch'),
      terminal: io.terminal && fitSize(io.terminal.readSize()),
    },
  })
  return attachCommand({ url: client.url, ticket: prepared.ticket, io, signal: context.signal })
}

/** The output in one document, without a terminal. */
async function runForJson(context: CommandContext, slug: string): Promise<number> {
  const texts = { stdout: '', stderr: '' }
  const collect = (name: keyof typeof texts) =>
    new Writable({
      decodeStrings: true,
      write(chunk: Buffer, _encoding, done) {
        texts[name] += chunk.toString('latin1')
        done()
      },
    })
  const io: ProgramIo = { ...context.openIo(), output: collect('stdout'), errors: collect('stderr'), terminal: null }
  const exit_code = await runCommand(context, slug, context.program, io)
  const decode = (text: string) => Buffer.from(text, 'latin1').toString('utf8')
  context.terminal.out(JSON.stringify({ exit_code, stdout: decode(texts.stdout), stderr: decode(texts.stderr) }))
  return exit_code === 0 ? exitCodes.success : exit_code
}
