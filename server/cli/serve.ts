import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { runtimeNames } from '../contract/runtimes.ts'
import { sleep, systemClock } from '../lib/clock.ts'
import type { InstanceFile } from '../lib/instance-file.ts'
import { masterKeyFiles, readOptions, type PlatformOptions } from '../options.ts'
import { type CommandContext, type CliCommand, exitCodes, stringFlag, requirePositionals } from './command.ts'
import { collectAllGarbage, limitYoungGeneration, collectGarbageWhenIdle, createEventLoopMeter } from './idle-garbage-collection.ts'
import { createServeLog } from './serve-log.ts'
import { colorize } from './terminal.ts'

/** After this time the process exits even if the shutdown hangs. The next start recovers as after a crash. */
const stopTimeout_ms = 9_500

/** What `serve` takes; a standby takes it for the time when it leads. */
export const serveOptions: Record<string, string> = {
  host: '=ADDRESS address to listen on (default 127.0.0.1: this machine only)',
  port: '=N port of the API and the dashboard; 0 for any free port',
  'edge-port': '=N HTTP port of the apps; 0 for any free port',
  'edge-https-port': '=N HTTPS port of the apps; 0 for any free port',
  'edge-workers':
    "=N processes for the apps' traffic; 0: the platform's own (default auto: one, or one per core with an address that other machines reach)",
  'apps-domain': '=DOMAIN projects answer at NAME.DOMAIN too, such as apps.example.com (help: public-names)',
  'acme-email': '=EMAIL get certificates for public names from a certificate authority, which may write to this address',
  'acme-accept-terms': 'accept the terms of that certificate authority',
  'acme-directory': "=NAME production (default) or staging of Let's Encrypt, or the URL of another authority’s ACME directory",
  runtime: `=NAME auto, ${runtimeNames.join(' or ')}`,
  'log-format': '=FORMAT text (default: text here, JSON in DIR/logs) or json (JSON on standard error)',
  'no-open': 'do not open the dashboard in a browser',
}

export const serve: CliCommand = {
  summary: 'Runs the platform headless until Ctrl-C.',
  usage: [
    `serve [--data DIR] [--host 127.0.0.1] [--port 4600] [--edge-port 4680] [--edge-https-port 4643] [--edge-workers auto|N] [--apps-domain DOMAIN] [--acme-email EMAIL --acme-accept-terms] [--acme-directory production|staging|URL] [--runtime ${['auto', ...runtimeNames].join('|')}] [--log-format text|json] [--no-open] [--json]`,
  ],
  options: serveOptions,
  async run(context) {
    requirePositionals(context)
    const options = readServeOptions(context)
    return runPlatform(context, options, createServeLog(context, options.data_dir))
  },
}

export function readServeOptions({ flags }: CommandContext): PlatformOptions {
  const options = readOptions({
    data: stringFlag(flags, 'data'),
    host: stringFlag(flags, 'host'),
    port: stringFlag(flags, 'port'),
    'edge-port': stringFlag(flags, 'edge-port'),
    'edge-https-port': stringFlag(flags, 'edge-https-port'),
    'edge-workers': stringFlag(flags, 'edge-workers'),
    'apps-domain': stringFlag(flags, 'apps-domain'),
    'acme-email': stringFlag(flags, 'acme-email'),
    'acme-accept-terms': flags['acme-accept-terms'] === true,
    'acme-directory': stringFlag(flags, 'acme-directory'),
    runtime: stringFlag(flags, 'runtime'),
  })
  assertMasterKeyAvailable(options)
  return options
}

/** The platform, which no other file of the command line imports: most commands start without it. */
export const loadPlatform = () => import('../index.ts')

/** Runs the platform until the command is aborted or the platform has to stop. */
export async function runPlatform(context: CommandContext, options: PlatformOptions, log: ReturnType<typeof createServeLog>): Promise<number> {
  const { terminal, flags } = context
  limitYoungGeneration()
  const { startPlatform, DataFolderInUseError } = await loadPlatform()
  // An unhandled rejection is only logged. An uncaught exception leaves an unknown state, so the platform stops.
  const fatal = new AbortController()
  process.on('unhandledRejection', (error) => log.error('unhandled_rejection', { error }))
  process.on('uncaughtException', (error) => {
    log.error('uncaught_exception', { error })
    fatal.abort()
  })
  let platform: Awaited<ReturnType<typeof startPlatform>>
  try {
    platform = await startPlatform(options, { log })
  } catch (error) {
    if (!(error instanceof DataFolderInUseError)) throw error
    terminal.err(error.message)
    return exitCodes.usage
  }
  const { token: _token, ...instanceInfo } = platform.instance
  if (context.is_json) terminal.out(JSON.stringify(instanceInfo))
  for (const notice of [...platform.notices, ...listNetworkNotices(options)]) terminal.err(notice)
  if (!context.is_json) {
    const isOpened = terminal.is_interactive && flags['no-open'] !== true && (await context.openUrl(instanceInfo.sign_in_url, { is_secret: true }))
    for (const line of formatWelcome(context, instanceInfo, { ...options, log_path: log.path }, isOpened)) terminal.out(line)
  }

  const garbageCollection = collectGarbageWhenIdle({
    collect: collectAllGarbage,
    measureUtilization: createEventLoopMeter(),
    measureMemory: () => process.memoryUsage.rss(),
  })
  void platform.lost.then((sentence) => {
    terminal.err(sentence)
    fatal.abort()
  })
  await waitForAbort(AbortSignal.any([context.signal, fatal.signal]))
  garbageCollection.stop()
  if (!context.is_json) terminal.err('Stopping…')
  const isInTime = await Promise.race([platform.stop().then(() => true), sleep(systemClock, stopTimeout_ms).then(() => false)])
  if (!isInTime) terminal.err(`Some tasks did not stop within ${stopTimeout_ms / 1000} s and were aborted. Completed requests are not affected.`)
  return fatal.signal.aborted ? exitCodes.failure : exitCodes.success
}

/** A key in the desktop's keychain cannot be read here, and a second key would make the data unreadable. */
function assertMasterKeyAvailable(options: PlatformOptions): void {
  const sealed = join(options.data_dir, masterKeyFiles.sealed)
  if (options.master_key_file !== null || existsSync(join(options.data_dir, masterKeyFiles.open)) || !existsSync(sealed)) return
  throw new Error(
    `The master key of ${options.data_dir} is in the keychain of the desktop app. Start the desktop app (npm start), set HOMEPORT_MASTER_KEY_FILE to a file with the key, or choose another --data folder.`,
  )
}

function listNetworkNotices(options: PlatformOptions): string[] {
  if (/^(127\.|::1$|localhost$)/.test(options.host)) return []
  return [
    `Others on the network can reach this instance at ${options.host}. The connection is not encrypted, so tokens and pages can be read. Use --host 127.0.0.1 to allow only this machine.`,
  ]
}

function formatWelcome(
  context: CommandContext,
  instanceInfo: Omit<InstanceFile, 'token'>,
  options: Pick<PlatformOptions, 'data_dir'> & { log_path: string | null },
  isOpened: boolean,
): string[] {
  const { runtime } = instanceInfo
  const formatFact = (name: string, value: string) => `  ${colorize(context.terminal, 'dim', name.padEnd(11))}${value}`
  return [
    `${colorize(context.terminal, 'green', '✓')} ${colorize(context.terminal, 'bold', 'Homeport is ready.')}`,
    formatFact('dashboard', isOpened ? `${instanceInfo.dashboard_url} (opened in your browser)` : `${instanceInfo.sign_in_url}  (signs you in once)`),
    formatFact('API', `${instanceInfo.api_url}/v1, described at ${instanceInfo.api_url}/docs`),
    formatFact(
      'apps',
      [instanceInfo.edge_url, ...(instanceInfo.edge_https_url === null ? [] : [instanceInfo.edge_https_url])].map(toNamePattern).join(' or '),
    ),
    formatFact('runtime', `${runtime.name}${runtime.version === null ? '' : ` ${runtime.version}`}: ${runtime.reason}`),
    formatFact('data', options.data_dir),
    ...(options.log_path === null ? [] : [formatFact('log', options.log_path)]),
    '',
    'Deploy a folder with: npx homeport deploy PATH     Stop with Ctrl-C.',
  ]
}

const toNamePattern = (url: string): string => url.replace(/\/\/(\[[^\]]*\]|[^:/]+)/, '//NAME.localhost')

function waitForAbort(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
