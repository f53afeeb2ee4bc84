import { type CliCommand, exitCodes, requirePositionals } from './command.ts'

export const mcp: CliCommand = {
  summary: 'Serves your projects to a coding agent, over the Model Context Protocol.',
  usage: ['mcp'],
  options: {},
  details:
    'The agent starts this command and speaks to it over standard input and output. It may do what the token in HOMEPORT_TOKEN may do,\nwithout one everything: see homeport tokens create --scope. The same is at /mcp of the instance, over HTTP with a token.',
  async run(context) {
    requirePositionals(context)
    // Loaded here, because no other command needs it.
    const [{ StdioServerTransport }, { createMcpServer }] = await Promise.all([
      import('@modelcontextprotocol/sdk/server/stdio.js'),
      import('../mcp/mcp-server.ts'),
    ])
    if (context.terminal.is_interactive)
      context.terminal.err('Waiting for an agent on standard input. homeport help mcp says how to add this to one.')
    const { input, output } = context.openIo()
    const server = createMcpServer(context.connect())
    await server.connect(new StdioServerTransport(input, output))
    await new Promise<void>((resolve) => {
      input.once('end', resolve)
      context.signal.addEventListener('abort', () => resolve())
    })
    await server.close()
    return exitCodes.success
  },
}
