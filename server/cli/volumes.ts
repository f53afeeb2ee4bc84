import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Volume, VolumeSnapshot } from '../contract/volumes.ts'
import { type CliCommand, type CommandContext, exitCodes, requirePositionals, stringFlag, UsageError, unknownSubcommand } from './command.ts'
import { downloadToFile } from './download-file.ts'
import { formatBytes, formatRelativeTime, formatTable } from './terminal.ts'

export const volumes: CliCommand = {
  summary: 'Lists the volumes of a project and their files; takes, restores, downloads and deletes snapshots; uploads archives.',
  usage: [
    'volumes SLUG',
    'volumes add SLUG PATH [--service NAME] [--snapshot ID] [--with-unsaved]',
    'volumes detach SLUG NAME',
    'volumes dismiss SLUG PATH',
    'volumes files SLUG NAME [PATH]',
    'volumes get SLUG NAME PATH [FILE]',
    'volumes snapshot SLUG NAME',
    'volumes restore SLUG NAME SNAPSHOT',
    'volumes download SLUG NAME [FILE] [--snapshot ID]',
    'volumes upload SLUG NAME FILE [--only-if-empty] [--create]',
    'volumes delete SLUG NAME [SNAPSHOT]',
  ],
  options: {
    branch: '=NAME the preview of this branch',
    service: '=NAME the service that has the path; without it the one with the project’s address',
    snapshot: '=ID a snapshot instead of the current files',
    'only-if-empty': 'upload: do nothing if the volume has files',
    create: 'upload: create the volume if no version has it yet',
    'with-unsaved': 'add: also keep the other paths that are reported as not in a volume',
  },
  details:
    'add keeps the files at a path of the app, such as uploads or data.db, from the next version on, and redeploys; detach undoes that and keeps the files. dismiss hides the report of files that the next deployment would lose. A restore stops the services, takes a snapshot of the current files first, and starts the services again; so does upload, which replaces the files with those of a .tar.gz or .zip. Without SNAPSHOT, delete takes a snapshot and deletes a volume that the live version does not use.',
  async run(context) {
    const [action = ''] = context.positionals
    // A single argument is always a slug, even if it equals a subcommand.
    if (context.positionals.length < 2) return list(context, requirePositionals(context, 'SLUG')[0] ?? '')
    if (action === 'add') return add(context)
    if (action === 'detach') return detach(context)
    if (action === 'dismiss') return dismiss(context)
    if (action === 'snapshot') return takeSnapshot(context)
    if (action === 'restore') return restore(context)
    if (action === 'download') return download(context)
    if (action === 'upload') return upload(context)
    if (action === 'files') return listFiles(context)
    if (action === 'get') return getFile(context)
    if (action === 'delete') return remove(context)
    throw unknownSubcommand(action, ['add', 'detach', 'dismiss', 'files', 'get', 'snapshot', 'restore', 'download', 'upload', 'delete'])
  },
}

const getQuery = (context: CommandContext) => ({ branch: stringFlag(context.flags, 'branch') })

async function list(context: CommandContext, slug: string): Promise<number> {
  const { terminal, clock } = context
  const client = context.connect()
  const branch = getQuery(context)
  const response = await client.call('listVolumes', { params: { slug }, query: branch })
  const { unsaved_files } = branch.branch === undefined ? await client.call('listUnsavedFiles', { params: { slug } }) : { unsaved_files: [] }
  if (context.is_json) {
    terminal.out(JSON.stringify({ ...response, unsaved_files }))
    return exitCodes.success
  }
  if (response.volumes.length === 0) terminal.out(`No volumes. Add one with homeport volumes add ${slug} PATH.`)
  else {
    const rows = response.volumes.map((one) => [one.name, one.size_bytes === null ? '-' : formatBytes(one.size_bytes), describeUse(one)])
    for (const line of formatTable(terminal, ['NAME', 'SIZE', 'USED BY'], rows)) terminal.out(line)
    for (const { name, snapshots } of response.volumes)
      for (const one of snapshots)
        terminal.out(`${name}  ${one.id}  ${formatBytes(one.bytes)}  ${formatRelativeTime(one.created_at, clock.now())}${reasonTexts[one.reason]}`)
  }
  for (const { path, service, files, size_bytes, saved } of unsaved_files) {
    const size = `${files === 1 ? '1 file' : `${files} files`}${size_bytes === null ? '' : `, ${formatBytes(size_bytes)}`}`
    const flag = service === null ? '' : ` --service ${service}`
    terminal.out(`Not in a volume: ${path} (${size}). The next deployment loses it.`)
    terminal.out(`  Keep it: homeport volumes add ${slug} ${path}${flag}`)
    if (saved)
      terminal.out(
        `  Start with the files of an earlier version, saved ${formatRelativeTime(saved.created_at, clock.now())}: add --snapshot ${saved.id}`,
      )
  }
  return exitCodes.success
}

const reasonTexts: Record<VolumeSnapshot['reason'], string> = {
  manual: '',
  before_restore: ', before its files were replaced',
  before_delete: ', before it was deleted',
  before_replace: ', before its version was replaced',
}

const describeUse = ({ used_by }: Volume): string =>
  used_by.length === 0
    ? 'nothing in the live version'
    : used_by.map(({ service, path, is_read_only }) => `${service} at ${path}${is_read_only ? ' (read-only)' : ''}`).join(', ')

async function add(context: CommandContext): Promise<number> {
  const [, slug = '', path = ''] = requirePositionals(context, 'add', 'SLUG', 'PATH')
  const service = stringFlag(context.flags, 'service')
  const snapshot_id = stringFlag(context.flags, 'snapshot')
  const withUnsaved = context.flags['with-unsaved'] === true
  const body = {
    path,
    ...(withUnsaved && { with_unsaved_files: true }),
    ...(service !== undefined && { service }),
    ...(snapshot_id !== undefined && { snapshot_id }),
  }
  const response = await context.connect().call('addVolume', { params: { slug }, body })
  if (context.is_json) context.terminal.out(JSON.stringify(response))
  else context.terminal.out(`Added the volume ${response.volume} at ${response.path}.${describeRedeploy(response)}`)
  return exitCodes.success
}

async function detach(context: CommandContext): Promise<number> {
  const [, slug = '', name = ''] = requirePositionals(context, 'detach', 'SLUG', 'NAME')
  const response = await context.connect().call('detachVolume', { params: { slug, name } })
  if (context.is_json) context.terminal.out(JSON.stringify(response))
  else context.terminal.out(`Detached ${name}. Its files are kept.${describeRedeploy(response)}`)
  return exitCodes.success
}

async function dismiss(context: CommandContext): Promise<number> {
  const [, slug = '', path = ''] = requirePositionals(context, 'dismiss', 'SLUG', 'PATH')
  const service = stringFlag(context.flags, 'service') ?? null
  const client = context.connect()
  const { unsaved_files } = await client.call('listUnsavedFiles', { params: { slug } })
  const found = unsaved_files.find((one) => one.path === path && one.service === service)
  if (!found) throw new UsageError(`No files are reported at ${path}. List the reported ones with: homeport volumes ${slug}`)
  await client.call('dismissUnsavedFiles', { params: { slug, id: found.id } })
  if (context.is_json) context.terminal.out(JSON.stringify({ dismissed: path }))
  else context.terminal.out(`Dismissed. ${path} is not reported again, and its files are lost with the next deployment.`)
  return exitCodes.success
}

const describeRedeploy = ({ deployment_id }: { deployment_id: string | null }): string =>
  deployment_id === null ? '' : ` Redeploying as ${deployment_id}.`

async function takeSnapshot(context: CommandContext): Promise<number> {
  const [, slug = '', name = ''] = requirePositionals(context, 'snapshot', 'SLUG', 'NAME')
  const response = await context.connect().call('createVolumeSnapshot', { params: { slug, name }, query: getQuery(context) })
  if (context.is_json) context.terminal.out(JSON.stringify(response))
  else context.terminal.out(`Snapshot ${response.snapshot.id} of ${name} (${formatBytes(response.snapshot.bytes)}).`)
  return exitCodes.success
}

async function restore(context: CommandContext): Promise<number> {
  const [, slug = '', name = '', snapshot_id = ''] = requirePositionals(context, 'restore', 'SLUG', 'NAME', 'SNAPSHOT')
  const response = await context.connect().call('restoreVolume', { params: { slug, name }, query: getQuery(context), body: { snapshot_id } })
  if (context.is_json) context.terminal.out(JSON.stringify(response))
  else context.terminal.out(`Restored ${name}.${response.before ? ` The previous files are in snapshot ${response.before.id}.` : ''}`)
  return exitCodes.success
}

async function download(context: CommandContext): Promise<number> {
  const [, slug = '', name = '', file = `${slug}-${name}.tar.gz`] = context.positionals
  if (name === '') throw new UsageError('Add the project and the volume: homeport volumes download SLUG NAME')
  const query = { ...getQuery(context), snapshot: stringFlag(context.flags, 'snapshot') }
  const client = context.connect()
  await downloadToFile(context, file, () => client.download('downloadVolume', { params: { slug, name }, query }, context.signal))
  if (context.is_json) context.terminal.out(JSON.stringify({ file }))
  else context.terminal.out(`Saved ${file}.`)
  return exitCodes.success
}

async function upload(context: CommandContext): Promise<number> {
  const { terminal, signal } = context
  const [, slug = '', name = '', file = ''] = requirePositionals(context, 'upload', 'SLUG', 'NAME', 'FILE')
  const path = resolve(context.cwd, file)
  if (!(await stat(path).catch(() => undefined))?.isFile()) throw new UsageError(`${path} is not a file. Write the path of a .tar.gz or .zip.`)
  const query = {
    ...getQuery(context),
    ...(context.flags['only-if-empty'] === true && { only_if_empty: 'true' as const }),
    ...(context.flags.create === true && { create: 'true' as const }),
  }
  const response = await context.connect().upload('uploadVolume', { params: { slug, name }, query }, createReadStream(path), signal)
  if (context.is_json) terminal.out(JSON.stringify(response))
  else {
    const { files, size_bytes, before } = response
    terminal.out(`Uploaded ${files === 1 ? '1 file' : `${files} files`} (${formatBytes(size_bytes)}) into ${name}.`)
    if (before) terminal.out(`The previous files are in snapshot ${before.id}.`)
  }
  return exitCodes.success
}

async function listFiles(context: CommandContext): Promise<number> {
  const { terminal, clock } = context
  const [, slug = '', name = '', path] = requirePositionals(context, 'files', 'SLUG', 'NAME', '[PATH]')
  const query = { ...getQuery(context), path: normalizePath(path) }
  const response = await context.connect().call('listVolumeFiles', { params: { slug, name }, query })
  if (context.is_json) terminal.out(JSON.stringify(response))
  else if (response.entries.length === 0) terminal.out('No files.')
  else {
    const rows = response.entries.map((entry) => [
      `${entry.name}${entry.kind === 'folder' ? '/' : ''}`,
      entry.size_bytes === null ? '-' : formatBytes(entry.size_bytes),
      entry.modified_at === null ? '-' : formatRelativeTime(entry.modified_at, clock.now()),
    ])
    for (const line of formatTable(terminal, ['NAME', 'SIZE', 'CHANGED'], rows)) terminal.out(line)
    if (!response.is_complete) terminal.out('There are more. Download the volume to see all of them.')
  }
  return exitCodes.success
}

/** The API takes no slash at the ends. */
const normalizePath = (path: string | undefined): string | undefined => path?.replace(/^\/+|\/+$/g, '') || undefined

async function getFile(context: CommandContext): Promise<number> {
  const [, slug = '', name = '', source = '', target] = requirePositionals(context, 'get', 'SLUG', 'NAME', 'PATH', '[FILE]')
  const path = normalizePath(source) ?? ''
  const file = target ?? path.slice(path.lastIndexOf('/') + 1)
  const client = context.connect()
  const query = { ...getQuery(context), path }
  await downloadToFile(context, file, () => client.download('downloadVolumeFile', { params: { slug, name }, query }, context.signal))
  context.terminal.out(context.is_json ? JSON.stringify({ file }) : `Saved ${file}.`)
  return exitCodes.success
}

async function remove(context: CommandContext): Promise<number> {
  const { terminal } = context
  const [, slug = '', name = '', id] = requirePositionals(context, 'delete', 'SLUG', 'NAME', '[SNAPSHOT]')
  const query = getQuery(context)
  if (id !== undefined) {
    await context.connect().call('deleteVolumeSnapshot', { params: { slug, name, id }, query })
    terminal.out(context.is_json ? JSON.stringify({ id }) : `Deleted snapshot ${id}.`)
    return exitCodes.success
  }
  const response = await context.connect().call('deleteVolume', { params: { slug, name }, query })
  terminal.out(context.is_json ? JSON.stringify(response) : `Deleted ${name}. Its files are in snapshot ${response.before.id}.`)
  return exitCodes.success
}
