import { resolve } from 'node:path'
import { type CliCommand, exitCodes, requirePositionals } from './command.ts'

export const dockerfile: CliCommand = {
  summary: 'Prints the Dockerfile that Homeport generates for a folder.',
  usage: ['dockerfile [FOLDER]'],
  options: {},
  details: 'Save it as Dockerfile to change it: an app with a Dockerfile is built from it. Needs no running instance.',
  async run(context) {
    const [path] = requirePositionals(context, '[FOLDER]')
    // Loaded here, because no other command needs it.
    const { DetectFailure, planBuild } = await import('../builder/index.ts')
    const settings = { node_version: 'auto', install_command: 'auto', build_command: 'auto', root_directory: '.' }
    const print = (message: string) => {
      context.terminal.err(message)
      return exitCodes.failure
    }
    try {
      const { framework, work } = await planBuild({ folder: resolve(context.cwd, path ?? '.'), settings })
      if (work.kind !== 'dockerfile') return print('This app is built without a Dockerfile: Homeport installs, builds and starts it with Node.')
      if (work.text === null) return print('This app has its own Dockerfile, which is built without changes.')
      context.terminal.out(context.is_json ? JSON.stringify({ framework, dockerfile: work.text }) : work.text.trimEnd())
      return exitCodes.success
    } catch (error) {
      if (!(error instanceof DetectFailure)) throw error
      return print(`${error.message} ${error.hint}`)
    }
  },
}
