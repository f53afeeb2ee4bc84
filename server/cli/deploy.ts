import { statSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { type Command, exitCodes, text, UsageError, words } from './command.ts'
import { finish, followBuild } from './follow-build.ts'
import { paint } from './terminal.ts'

export const deploy: Command = {
  summary: 'Deploys a folder of this machine, with what is not committed, and follows the log until it is live.',
  forms: ['deploy [PATH] [--project SLUG] [--no-follow]'],
  options: {
    project: '=SLUG the project to deploy to; it is made if there is none (default: the name of the folder)',
    'no-follow': 'do not wait for the end',
  },
  async run(call) {
    const [path = '.'] = words(call, '[PATH]')
    const folder = resolve(call.cwd, path)
    if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) throw new UsageError(`There is no folder ${folder}.`)
    const client = call.connect()
    const { project, deployment } = await client.call('deployFolder', {
      body: {
        path: folder,
        slug: text(call.flags, 'project'),
        name: text(call.flags, 'project') === undefined ? basename(folder) || undefined : undefined,
      },
    })
    if (call.flags['no-follow'] === true) {
      call.terminal.out(call.json ? JSON.stringify({ project, deployment }) : `Queued ${deployment.id} of ${project.slug}.`)
      return exitCodes.done
    }
    if (!call.json) call.terminal.out(`Deploying ${folder} as ${paint(call.terminal, 'bold', project.slug)} (${deployment.id})`)
    await followBuild(call, client, project.slug, deployment.id)
    return finish(call, client, project.slug, deployment.id)
  },
}
