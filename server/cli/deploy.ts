import { statSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Project } from '../contract/projects.ts'
import { listFolderFiles } from '../lib/folder-files.ts'
import { slugify } from '../lib/slug.ts'
import type { ApiClient } from './client.ts'
import { type CommandContext, type CliCommand, exitCodes, stringFlag, UsageError, requirePositionals } from './command.ts'
import { deployImage } from './deploy-image.ts'
import { fetchProject, isLocalInstance } from './fetch-project.ts'
import { reportOutcome, followBuild } from './follow-build.ts'
import { isInGitRepository, packFolder } from './pack-folder.ts'
import { colorize } from './terminal.ts'

export const deploy: CliCommand = {
  summary: 'Deploys a folder, including uncommitted changes, or the repository of a project, and follows the log.',
  usage: [
    'deploy [PATH] [--project SLUG] [--replace] [--no-cache] [--no-follow]',
    'deploy --git --project SLUG [--no-cache] [--no-follow]',
    'deploy --image IMAGE --project SLUG [--port PORT] [--no-follow]',
  ],
  details: 'A folder without git, or for an instance on another machine, is uploaded without the files in .gitignore and .dockerignore.',
  options: {
    project: '=SLUG project to deploy to, created if it does not exist (default: name of the folder)',
    image: '=IMAGE deploy a prebuilt image, such as ghcr.io/team/app:1.2, instead of a source',
    port: '=PORT the port on which the image listens (default: the one in PORT, or the one that it exposes)',
    git: 'deploy the latest commit of the project’s repository instead of a folder',
    replace: 'do not ask before a folder replaces a deployment from a repository',
    'no-cache': 'build without results of earlier builds',
    'no-follow': 'do not wait for the deployment to finish',
  },
  async run(context) {
    const { project, deployment } = await startDeployment(context)
    if (context.flags['no-follow'] === true) {
      context.terminal.out(context.is_json ? JSON.stringify({ project, deployment }) : `Queued ${deployment.id} of ${project.slug}.`)
      return exitCodes.success
    }
    const client = context.connect()
    await followBuild(context, client, project.slug, deployment.id)
    return reportOutcome(context, client, project.slug, deployment.id)
  },
}

interface StartedDeployment {
  project: Pick<Project, 'slug'>
  deployment: { id: string }
}

function startDeployment(context: CommandContext): Promise<StartedDeployment> {
  if (context.flags.image !== undefined) return deployImage(context)
  return context.flags.git === true ? deployRepository(context) : deployFolder(context)
}

async function deployRepository(context: CommandContext): Promise<StartedDeployment> {
  requirePositionals(context)
  const slug = stringFlag(context.flags, 'project')
  if (slug === undefined) throw new UsageError('--git needs a project: homeport deploy --git --project SLUG')
  const client = context.connect()
  const { deployment } = await (skipsCache(context)
    ? client.call('createDeployment', { params: { slug }, body: { no_cache: true } })
    : client.call('deployProject', { params: { slug } }))
  const { project } = await client.call('getProject', { params: { slug } })
  if (!context.is_json) context.terminal.out(`Deploying ${project.repo_url} as ${colorize(context.terminal, 'bold', slug)} (${deployment.id})`)
  return { project, deployment }
}

async function deployFolder(context: CommandContext): Promise<StartedDeployment> {
  const [path = '.'] = requirePositionals(context, '[PATH]')
  const folder = resolve(context.cwd, path)
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) throw new UsageError(`The folder ${folder} does not exist.`)
  if ((await listFolderFiles(folder, () => {}).next()).done === true)
    throw new UsageError(`The folder ${folder} has no files to deploy. Files in .gitignore are skipped.`)
  const client = context.connect()
  const slug = stringFlag(context.flags, 'project') ?? slugify(basename(folder))
  const existing = await fetchProject(client, slug)
  if (existing) await confirmReplacement(context, client, existing, folder)
  // An instance on this machine reads a git folder itself, so that it can record the commit.
  const name = basename(folder) || slug
  const { project, deployment } =
    isLocalInstance(client.url) && isInGitRepository(folder)
      ? await client.call('deployFolder', {
          body: { path: folder, slug, name: existing ? undefined : name, ...(skipsCache(context) && { no_cache: true }) },
        })
      : await uploadFolder(context, client, folder, existing ?? (await client.call('createProject', { body: { slug, name } })).project)
  if (!context.is_json && context.flags['no-follow'] !== true)
    context.terminal.out(`Deploying ${folder} as ${colorize(context.terminal, 'bold', project.slug)} (${deployment.id})`)
  return { project, deployment }
}

/** Asks before a folder replaces a deployment from a repository, because the people who push to it do not expect that. */
async function confirmReplacement(
  context: CommandContext,
  client: ApiClient,
  { slug, repo_url, repo_branch }: Project,
  folder: string,
): Promise<void> {
  if (repo_url === null || repo_url === pathToFileURL(folder).href || context.flags.replace === true) return
  const [last] = (await client.call('listDeployments', { params: { slug }, query: { target: 'production', limit: '1' } })).deployments
  if (last && last.source !== 'git') return
  const statement = `${slug} is deployed from ${repo_url} (branch ${repo_branch}).`
  const advice = `To deploy the repository: homeport deploy --git --project ${slug}`
  if (!context.terminal.is_interactive) throw new Error(`${statement} To deploy the folder ${folder} instead, add --replace. ${advice}`)
  const answer = await context.prompt(`${statement} Deploy the folder ${folder} instead? [y/N] `)
  if (!/^y(es)?$/i.test(answer?.trim() ?? '')) throw new Error(`Nothing was deployed. ${advice}`)
}

async function uploadFolder(context: CommandContext, client: ApiClient, folder: string, project: Project): Promise<StartedDeployment> {
  const note = (line: string) => context.terminal.err(line)
  const archive = packFolder(folder, note)
  const params = { slug: project.slug }
  const query = { name: basename(folder) || project.slug }
  const { deployment } = await (skipsCache(context)
    ? client.upload('uploadCommit', { params, query: { ...query, no_cache: 'true' } }, archive, context.signal)
    : client.upload('uploadProject', { params, query }, archive, context.signal))
  return { project, deployment }
}

const skipsCache = ({ flags }: CommandContext): boolean => flags['no-cache'] === true
