import { resolve } from 'node:path'
import type { MailMessageDetails } from '../contract/mail.ts'
import { type CliCommand, type CommandContext, exitCodes, requirePositionals, stringFlag, unknownSubcommand, UsageError } from './command.ts'
import { downloadToFile } from './download-file.ts'
import { formatBytes, formatRelativeTime, formatTable } from './terminal.ts'

export const mail: CliCommand = {
  summary: 'Catches the mail that the apps of a project send, and shows it.',
  usage: ['mail SLUG [list]', 'mail SLUG on|off', 'mail SLUG show|delete ID', 'mail SLUG download ID [FILE] [--attachment N]', 'mail SLUG clear'],
  options: { attachment: '=N download: number of the attachment, from 1' },
  details: 'on gives the apps SMTP_URL and redeploys the project. Caught messages are never delivered.',
  async run(context) {
    const [slug = '', action = 'list', id = '', file] = context.positionals
    if (slug === '') requirePositionals(context, 'SLUG')
    if (action === 'list') return list(context, slug)
    if (action === 'on' || action === 'off') return change(context, slug, action === 'on')
    if (action === 'clear') return clear(context, slug)
    if (action !== 'show' && action !== 'delete' && action !== 'download')
      throw unknownSubcommand(action, ['list', 'on', 'off', 'show', 'delete', 'download', 'clear'])
    if (id === '') throw new UsageError(`Add the ID of the message: homeport mail ${slug} ${action} ID`)
    if (action === 'download') return download(context, slug, id, file)
    return action === 'show' ? show(context, slug, id) : remove(context, slug, id)
  },
}

async function list(context: CommandContext, slug: string): Promise<number> {
  const { terminal, clock } = context
  const response = await context.connect().call('getMail', { params: { slug } })
  const { catcher, messages } = response
  if (context.is_json) terminal.out(JSON.stringify(response))
  else {
    if (!catcher.is_enabled) terminal.out(`The mail catcher is off. Turn it on with homeport mail ${slug} on.`)
    else terminal.out(catcher.unavailable ?? `The mail catcher is on: ${catcher.host}:${catcher.port}, user ${catcher.user}.`)
    const rows = messages.map((one) => [one.id, formatRelativeTime(one.received_at, clock.now()), one.from, one.to.join(', '), one.subject])
    if (rows.length === 0) terminal.out('No messages.')
    else for (const line of formatTable(terminal, ['ID', 'RECEIVED', 'FROM', 'TO', 'SUBJECT'], rows)) terminal.out(line)
  }
  return exitCodes.success
}

async function change(context: CommandContext, slug: string, isEnabled: boolean): Promise<number> {
  const response = await context.connect().call('updateMail', { params: { slug }, body: { is_enabled: isEnabled } })
  if (context.is_json) context.terminal.out(JSON.stringify(response))
  else {
    context.terminal.out(
      isEnabled
        ? `The mail of ${slug} is now caught. Apps get SMTP_URL, SMTP_HOST, SMTP_PORT, SMTP_USER and SMTP_PASSWORD.`
        : `The mail of ${slug} is no longer caught. Apps get their own SMTP variables again.`,
    )
    if (response.catcher.unavailable !== null) context.terminal.out(response.catcher.unavailable)
    if (response.deployment_id !== null)
      context.terminal.out(`Deploying ${response.deployment_id}. Follow it with homeport logs ${slug} --build ${response.deployment_id}.`)
  }
  return exitCodes.success
}

async function show(context: CommandContext, slug: string, message: string): Promise<number> {
  const response = await context.connect().call('getMailMessage', { params: { slug, message } })
  if (context.is_json) context.terminal.out(JSON.stringify(response))
  else for (const line of describeMessage(response.message)) context.terminal.out(line)
  return exitCodes.success
}

function describeMessage(message: MailMessageDetails): string[] {
  const { from, to, subject, received_at, text, html, files } = message
  const lines = [`From:     ${from}`, `To:       ${to.join(', ')}`, `Subject:  ${subject}`, `Received: ${received_at}`]
  for (const [index, file] of files.entries()) lines.push(`File ${index + 1}:   ${file.name} (${file.content_type}, ${formatBytes(file.size_bytes)})`)
  return [
    ...lines,
    '',
    ...(text ?? (html === null ? 'This message has no text.' : 'This message has only HTML. View it in the dashboard.')).split('\n'),
  ]
}

/** Writes the message as it was received, or one of its files, under a name of this machine's user. */
async function download(context: CommandContext, slug: string, message: string, name: string | undefined): Promise<number> {
  const attachment = stringFlag(context.flags, 'attachment')
  const number = attachment === undefined ? undefined : Number(attachment)
  if (number !== undefined && !(Number.isInteger(number) && number >= 1)) throw new UsageError('--attachment is the number of an attachment, from 1.')
  const client = context.connect()
  const params = { slug, message }
  let path = resolve(context.cwd, name ?? `${message}.eml`)
  let open = () => client.download('downloadMailMessage', { params }, context.signal)
  if (number !== undefined) {
    const { files } = (await client.call('getMailMessage', { params })).message
    const file = files[number - 1]
    if (!file) throw new UsageError(`The message has ${files.length === 1 ? '1 file' : `${files.length} files`}.`)
    // The sender chose the file's own name, so that it is not used.
    path = resolve(context.cwd, name ?? `${message}-${number}`)
    open = () => client.download('downloadMailAttachment', { params: { ...params, index: String(file.index) } }, context.signal)
  }
  await downloadToFile(context, path, open)
  context.terminal.out(context.is_json ? JSON.stringify({ file: path }) : `Saved ${path}.`)
  return exitCodes.success
}

async function remove(context: CommandContext, slug: string, message: string): Promise<number> {
  await context.connect().call('deleteMailMessage', { params: { slug, message } })
  if (context.is_json) context.terminal.out(JSON.stringify({ ok: true }))
  else context.terminal.out(`Deleted ${message}.`)
  return exitCodes.success
}

async function clear(context: CommandContext, slug: string): Promise<number> {
  await context.connect().call('deleteMailMessages', { params: { slug } })
  if (context.is_json) context.terminal.out(JSON.stringify({ ok: true }))
  else context.terminal.out(`Deleted all messages of ${slug}.`)
  return exitCodes.success
}
