import { statSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Project } from '../contract/projects.ts'
import { filesOf } from '../lib/folder-files.ts'
import { slugFor } from '../lib/slug.ts'
import { type Client, Refusal } from './client.ts'
import { type Call, type Command, exitCodes, text, UsageError, words } from './command.ts'
import { finish, followBuild } from './follow-build.ts'
import { isInGit, packFolder } from './pack.ts'
import { paint } from './terminal.ts'

export const deploy: Command = {
  summary: 'Deploys a folder of this machine, with what is not committed, or the repository of a project; follows the log until it is live.',
  forms: ['deploy [PATH] [--project SLUG] [--replace] [--no-follow]', 'deploy --git --project SLUG [--no-follow]'],
  more: 'Without git, or for an instance elsewhere, the folder is sent as an archive, without what .gitignore and .dockerignore name.',
  options: {
    project: '=SLUG the project to deploy to; it is made if there is none (default: the name of the folder)',
    git: 'deploy the newest commit of the project’s repository instead of a folder',
    replace: 'do not ask before a folder replaces what a project deploys from its repository',
    'no-follow': 'do not wait for the end',
  },
  async run(call) {
    const { project, deployment } = await (call.flags.git === true ? deployRepository(call) : deployFolder(call))
    if (call.flags['no-follow'] === true) {
      call.terminal.out(call.json ? JSON.stringify({ project, deployment }) : `Queued ${deployment.id} of ${project.slug}.`)
      return exitCodes.done
    }
    const client = call.connect()
    await followBuild(call, client, project.slug, deployment.id)
    return finish(call, client, project.slug, deployment.id)
  },
}

interface Sent {
  project: Pick<Project, 'slug'>
  deployment: { id: string }
}

async function deployRepository(call: Call): Promise<Sent> {
  words(call)
  const slug = text(call.flags, 'project')
  if (slug === undefined) throw new UsageError('Say which project: homeport deploy --git --project SLUG')
  const client = call.connect()
  const { deployment } = await client.call('deployProject', { params: { slug } })
  const { project } = await client.call('getProject', { params: { slug } })
  if (!call.json) call.terminal.out(`Deploying ${project.repo_url} as ${paint(call.terminal, 'bold', slug)} (${deployment.id})`)
  return { project, deployment }
}

async function deployFolder(call: Call): Promise<Sent> {
  const [path = '.'] = words(call, '[PATH]')
  const folder = resolve(call.cwd, path)
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) throw new UsageError(`There is no folder ${folder}.`)
  if ((await filesOf(folder, () => {}).next()).done === true)
    throw new UsageError(`The folder ${folder} holds no file to deploy, apart from what .gitignore names.`)
  const client = call.connect()
  const slug = text(call.flags, 'project') ?? slugFor(basename(folder))
  const found = await findProject(client, slug)
  if (found) await mayReplace(call, client, found, folder)
  // With git the instance reads the folder itself, when it is on this machine, and knows its commit.
  const name = basename(folder) || slug
  const { project, deployment } =
    isHere(client.url) && isInGit(folder)
      ? await client.call('deployFolder', { body: { path: folder, slug, name: found ? undefined : name } })
      : await upload(call, client, folder, found ?? (await client.call('createProject', { body: { slug, name } })).project)
  if (!call.json && call.flags['no-follow'] !== true)
    call.terminal.out(`Deploying ${folder} as ${paint(call.terminal, 'bold', project.slug)} (${deployment.id})`)
  return { project, deployment }
}

const findProject = (client: Client, slug: string): Promise<Project | undefined> =>
  client.call('getProject', { params: { slug } }).then(
    ({ project }) => project,
    (error: unknown) => {
      if (error instanceof Refusal && error.code === 'project_not_found') return undefined
      throw error
    },
  )

/** A folder in the place of what a repository serves is a surprise to whoever pushes to that: somebody has to want it, once. */
async function mayReplace(call: Call, client: Client, { slug, repo_url, repo_branch }: Project, folder: string): Promise<void> {
  if (repo_url === null || repo_url === pathToFileURL(folder).href || call.flags.replace === true) return
  const [last] = (await client.call('listDeployments', { params: { slug }, query: { target: 'production', limit: '1' } })).deployments
  if (last && last.source !== 'git') return
  const what = `${slug} is deployed from ${repo_url} (branch ${repo_branch}).`
  const advice = `To deploy that: homeport deploy --git --project ${slug}`
  if (!call.terminal.is_interactive) throw new Error(`${what} To replace it by the folder ${folder}, add --replace. ${advice}`)
  const answer = await call.ask(`${what} Replace it by the folder ${folder}? [y/N] `)
  if (!/^y(es)?$/i.test(answer?.trim() ?? '')) throw new Error(`Nothing was deployed. ${advice}`)
}

async function upload(call: Call, client: Client, folder: string, project: Project): Promise<Sent> {
  const note = (line: string) => call.terminal.err(line)
  return { project, deployment: (await client.upload('uploadProject', project.slug, packFolder(folder, note), call.signal)).deployment }
}

function isHere(url: string): boolean {
  const { hostname } = new URL(url)
  return hostname === 'localhost' || hostname === '[::1]' || hostname.startsWith('127.')
}
