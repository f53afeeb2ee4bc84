import { resolve } from 'node:path'
import type { CallOutput } from '../client/operation-types.ts'
import { type CliCommand, exitCodes, requirePositionals, UsageError } from './command.ts'
import { holdAddress, reportEnd } from './dev.ts'
import { fetchProject, isLocalInstance } from './fetch-project.ts'

export const expose: CliCommand = {
  summary: 'Gives a program that you started yourself an address, until Ctrl-C.',
  usage: ['expose NAME PORT [--host-header localhost]'],
  options: { 'host-header': '=public|localhost send the program its public address or localhost:PORT as Host (default: public)' },
  details:
    'NAME.localhost answers over HTTP and HTTPS, with WebSockets. NAME is a project, created if it does not exist; one that is deployed gets its address back.',
  async run(context) {
    const [slug = '', text = ''] = requirePositionals(context, 'NAME', 'PORT')
    const port = Number(text)
    if (!Number.isInteger(port) || port < 1 || port > 65_535) throw new UsageError(`PORT is a number from 1 to 65535, not ${text}.`)
    const host_header = context.flags['host-header'] ?? 'public'
    if (host_header !== 'public' && host_header !== 'localhost') throw new UsageError('--host-header is public or localhost.')
    const client = context.connect()
    if (!isLocalInstance(client.url)) throw new Error(`${client.url} is on another machine and cannot reach a program on yours.`)
    if (!(await fetchProject(client, slug))) await client.call('createProject', { body: { slug, name: slug } })
    const open = (): Promise<CallOutput<'createDevSession'>> =>
      client.call('createDevSession', {
        params: { slug },
        body: {
          folder: resolve(context.cwd),
          branch: null,
          is_linked_worktree: false,
          command: `expose ${port}`,
          framework: null,
          port,
          host_header,
        },
      })
    const { session } = await open()
    if (!session.is_production_address) {
      await client.call('endDevSession', { params: { slug, session: session.id } })
      throw new Error(`${slug}.localhost is in use by a development server. Stop it with: homeport dev ${slug} --stop`)
    }
    context.terminal.err(`Waiting for a program on port ${port}.`)
    return context.signal.aborted
      ? exitCodes.success
      : reportEnd(context, await holdAddress(context, client, slug, { session, port, open, signal: context.signal }))
  },
}
