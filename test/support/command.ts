import { createClient } from '../../server/cli/client.ts'
import { runCommandLine } from '../../server/cli/command-line.ts'
import { serve } from '../../server/cli/serve.ts'
import type { Ran, RunningInstance } from './instance-process.ts'

/**
 * Runs a command in this process, over real HTTP: the ways through a process of its own are tried elsewhere. `answer` is what
 * somebody says who is asked.
 */
export async function runCommand(
  instance: RunningInstance,
  cwd: string,
  args: string[],
  more: { answer?: string; remote_token?: string } = {},
): Promise<Ran> {
  let out = ''
  let err = ''
  const code = await runCommandLine(
    args,
    {
      terminal: { out: (line) => void (out += `${line}\n`), err: (line) => void (err += `${line}\n`), is_interactive: false, has_colour: false },
      cwd,
      now: () => Date.now(),
      connect: () => createClient({ url: instance.instance.api_url, token: instance.instance.token }),
      openUrl: async () => false,
      ask: async () => more.answer,
      remote_token: more.remote_token,
      runTool: async () => undefined,
      signal: new AbortController().signal,
    },
    serve,
  )
  return { code, out, err }
}
