import { existsSync } from 'node:fs'
import { chmod, copyFile, mkdir, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Standby } from '../contract/standbys.ts'
import { sleep } from '../lib/clock.ts'
import { promotionFile, standbyFile } from '../lib/standby-files.ts'
import { isProcessAlive, readInstanceFile } from '../lib/instance-file.ts'
import type { Primary } from '../maintenance/standby/follow-primary.ts'
import { masterKeyFiles, type PlatformOptions } from '../options.ts'
import { type CliCommand, type CommandContext, exitCodes, requirePositionals, stringFlag, unknownSubcommand, UsageError } from './command.ts'
import type { ApiClient } from './client.ts'
import { createServeLog } from './serve-log.ts'
import { loadPlatform, readServeOptions, runPlatform, serveOptions } from './serve.ts'
import { formatBytes, formatRelativeTime, formatTable } from './terminal.ts'

const pollInterval_ms = 500
const promotionTimeout_ms = 120_000

export const standby: CliCommand = {
  summary: 'Keeps a copy of an instance on another manager of its cluster, and takes its place.',
  usage: ['standby --of URL [--key FILE] [options of serve]', 'standby list', 'standby promote [--data DIR]'],
  options: {
    of: '=URL of the API of the instance to follow, such as http://10.0.0.1:4600',
    key: '=FILE a copy of the master.key of that instance; needed once',
    ...serveOptions,
  },
  details:
    'Follows the instance with the token of its owner (HOMEPORT_TOKEN), and starts in its place with the options of serve when it stops responding. promote makes the standby on this machine lead now; if the instance responds, it stops first. See homeport help cluster.',
  async run(context) {
    const [action] = context.positionals
    if (action === 'list') return list(context)
    if (action === 'promote') return promote(context)
    if (action !== undefined) throw unknownSubcommand(action, ['list', 'promote'])
    const url = stringFlag(context.flags, 'of')
    if (url === undefined) throw new UsageError('Name the instance to follow: homeport standby --of URL')
    return follow(context, url)
  },
}

async function follow(context: CommandContext, url: string): Promise<number> {
  const { terminal, signal } = context
  requirePositionals(context)
  const options = readServeOptions(context)
  await takeKey(context, options)
  const client = context.connect(url)
  const log = createServeLog(context, options.data_dir)
  const { runStandby, DataFolderInUseError } = await loadPlatform()
  if (!context.is_json) terminal.out(`Following ${url} into ${options.data_dir}. Stop with Ctrl-C.`)
  try {
    await runStandby(
      options,
      {},
      {
        url,
        log,
        signal,
        createPrimary: (name) => createPrimary(client, name),
        onChange(status, error) {
          const reason = error instanceof Error ? ` ${error.message}` : ''
          terminal.err(status === 'synced' ? `In step with ${url}.` : `Not in step with ${url}.${reason}`)
        },
      },
    )
  } catch (error) {
    if (signal.aborted) return exitCodes.success
    if (!(error instanceof DataFolderInUseError)) throw error
    terminal.err(error.message)
    return exitCodes.usage
  }
  terminal.err('This machine leads.')
  return runPlatform(context, options, log)
}

/** What a standby of this id reads from an instance. */
export function createPrimary(client: ApiClient, name: string): Primary {
  return {
    async readChanges(position) {
      const { changes, ...rest } = await client.call('readChanges', { query: { name, ...position } })
      return { ...rest, changes: changes === null ? null : Buffer.from(changes, 'base64') }
    },
    copyDatabase: (signal) => client.download('copyDatabase', {}, signal),
    listParts: async () => (await client.call('listReplicatedParts', {})).parts,
    copyPart: ({ folder, part }, signal) => client.download('copyPart', { params: { folder, part } }, signal),
  }
}

/** Copies the key file that was named into the data folder. */
async function takeKey({ flags, cwd }: CommandContext, { data_dir, master_key_file }: PlatformOptions): Promise<void> {
  const own = master_key_file ?? join(data_dir, masterKeyFiles.open)
  if (existsSync(own)) return
  const file = stringFlag(flags, 'key')
  if (file === undefined)
    throw new UsageError(
      'A standby needs the master key of the instance. Copy master.key from its data folder to this machine, and name it with --key FILE.',
    )
  await mkdir(data_dir, { recursive: true, mode: 0o700 })
  await copyFile(resolve(cwd, file), own)
  await chmod(own, 0o600)
}

async function list(context: CommandContext): Promise<number> {
  requirePositionals(context, 'list')
  const { standbys } = await context.connect().call('listStandbys', {})
  if (context.is_json) context.terminal.out(JSON.stringify({ standbys }))
  else if (standbys.length === 0) context.terminal.out('No standby follows this instance. homeport help cluster says how to start one.')
  else {
    const rows = standbys.map((one) => [
      one.name,
      describeState(one),
      formatRelativeTime(one.seen_at, context.clock.now()),
      one.takes_over ? 'yes' : 'no',
    ])
    for (const line of formatTable(context.terminal, ['STANDBY', 'STATE', 'SEEN', 'TAKES OVER'], rows)) context.terminal.out(line)
  }
  return exitCodes.success
}

const describeState = ({ is_synced, behind_bytes }: Standby): string => (is_synced ? 'In step' : `${formatBytes(behind_bytes)} behind`)

async function promote(context: CommandContext): Promise<number> {
  requirePositionals(context, 'promote')
  const { terminal, clock, signal } = context
  const { data_dir } = readServeOptions(context)
  if (!existsSync(join(data_dir, standbyFile)))
    throw new UsageError(`${data_dir} is not the folder of a standby. Start one with homeport standby --of URL, or name its folder with --data.`)
  await writeFile(join(data_dir, promotionFile), '', { mode: 0o600 })
  if (!context.is_json) terminal.out('Waiting until this machine leads…')
  const deadline = clock.monotonic() + promotionTimeout_ms
  while (clock.monotonic() < deadline) {
    const instance = readInstanceFile(data_dir)
    if (instance && isProcessAlive(instance.pid)) {
      const { api_url, dashboard_url } = instance
      terminal.out(context.is_json ? JSON.stringify({ api_url, dashboard_url }) : `This machine leads: ${dashboard_url}`)
      return exitCodes.success
    }
    await sleep(clock, pollInterval_ms, signal)
  }
  // A standby that starts later does not lead at once.
  await rm(join(data_dir, promotionFile), { force: true })
  terminal.err('This machine does not lead yet. Is the standby running here (homeport standby --of URL)? Its log says what it waits for.')
  return exitCodes.failure
}
