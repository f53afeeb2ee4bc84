import { imageMessage, imagePattern, maxImage } from '../contract/homeport-yaml.ts'
import type { Project } from '../contract/projects.ts'
import { type CommandContext, requirePositionals, stringFlag, UsageError } from './command.ts'
import { fetchProject } from './fetch-project.ts'
import { packGeneratedFiles } from './pack-folder.ts'
import { colorize } from './terminal.ts'

/** The source of such a deployment is a homeport.yaml that names the image. */
export async function deployImage(context: CommandContext): Promise<{ project: Pick<Project, 'slug'>; deployment: { id: string } }> {
  requirePositionals(context)
  const { flags, terminal } = context
  const [image = '', slug, port] = ['image', 'project', 'port'].map((name) => stringFlag(flags, name))
  if (image.length > maxImage || !imagePattern.test(image)) throw new UsageError(imageMessage)
  if (slug === undefined) throw new UsageError(`--image needs a project: homeport deploy --image ${image} --project SLUG`)
  if (flags.git === true) throw new UsageError('Use --image or --git, not both.')
  if (port !== undefined && !/^[1-9]\d{0,4}$/.test(port)) throw new UsageError(`--port is a number from 1 to 65535, not ${port}.`)
  const client = context.connect()
  const existing = await fetchProject(client, slug)
  if (existing?.repo_url && flags.replace !== true)
    throw new Error(`${slug} is deployed from ${existing.repo_url}. To deploy the image instead, add --replace.`)
  const project = existing ?? (await client.call('createProject', { body: { slug, name: slug } })).project
  const config = `services:\n  web:\n    image: ${JSON.stringify(image)}\n${port === undefined ? '' : `    port: ${port}\n`}`
  const archive = packGeneratedFiles({ 'homeport.yaml': config })
  const params = { slug }
  const { deployment } = await (flags['no-cache'] === true
    ? client.upload('uploadCommit', { params, query: { name: image, no_cache: 'true' } }, archive, context.signal)
    : client.upload('uploadProject', { params, query: { name: image } }, archive, context.signal))
  if (!context.is_json) terminal.out(`Deploying ${image} as ${colorize(terminal, 'bold', slug)} (${deployment.id})`)
  return { project, deployment }
}
