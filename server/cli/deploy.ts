import { statSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { slugFor } from '../lib/slug.ts'
import { type Client, Refusal } from './client.ts'
import { type Call, type Command, exitCodes, text, UsageError, words } from './command.ts'
import { finish, followBuild } from './follow-build.ts'
import { isInGit, packFolder } from './pack.ts'
import { paint } from './terminal.ts'

export const deploy: Command = {
  summary: 'Deploys a folder of this machine, with what is not committed, and follows the log until it is live.',
  forms: ['deploy [PATH] [--project SLUG] [--no-follow]'],
  more: 'Without git, or for an instance elsewhere, the folder is sent as an archive, without what .gitignore and .dockerignore name.',
  options: {
    project: '=SLUG the project to deploy to; it is made if there is none (default: the name of the folder)',
    'no-follow': 'do not wait for the end',
  },
  async run(call) {
    const [path = '.'] = words(call, '[PATH]')
    const folder = resolve(call.cwd, path)
    if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) throw new UsageError(`There is no folder ${folder}.`)
    const client = call.connect()
    // With git the instance reads the folder itself, when it is on this machine, and knows its commit.
    const send = isHere(client.url) && isInGit(folder) ? readThere : upload
    const { project, deployment } = await send(call, client, folder)
    if (call.flags['no-follow'] === true) {
      call.terminal.out(call.json ? JSON.stringify({ project, deployment }) : `Queued ${deployment.id} of ${project.slug}.`)
      return exitCodes.done
    }
    if (!call.json) call.terminal.out(`Deploying ${folder} as ${paint(call.terminal, 'bold', project.slug)} (${deployment.id})`)
    await followBuild(call, client, project.slug, deployment.id)
    return finish(call, client, project.slug, deployment.id)
  },
}

interface Sent {
  project: { slug: string }
  deployment: { id: string }
}

async function readThere(call: Call, client: Client, folder: string): Promise<Sent> {
  const slug = text(call.flags, 'project')
  return client.call('deployFolder', { body: { path: folder, slug, name: slug === undefined ? basename(folder) || undefined : undefined } })
}

async function upload(call: Call, client: Client, folder: string): Promise<Sent> {
  const slug = text(call.flags, 'project') ?? slugFor(basename(folder))
  const project = await client.call('getProject', { params: { slug } }).then(
    (found) => found.project,
    async (error: unknown) => {
      if (!(error instanceof Refusal) || error.code !== 'project_not_found') throw error
      return (await client.call('createProject', { body: { slug, name: basename(folder) || slug } })).project
    },
  )
  const note = (line: string) => call.terminal.err(line)
  const { deployment } = await client.upload('uploadProject', slug, packFolder(folder, note), call.signal)
  return { project, deployment }
}

function isHere(url: string): boolean {
  const { hostname } = new URL(url)
  return hostname === 'localhost' || hostname === '[::1]' || hostname.startsWith('127.')
}
