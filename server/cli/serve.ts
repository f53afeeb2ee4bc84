import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { sleep, systemClock } from '../lib/clock.ts'
import type { InstanceFile } from '../lib/instance-file.ts'
import { keyFiles, readOptions, type PlatformOptions } from '../options.ts'
import { type Call, type Command, exitCodes, text, words } from './command.ts'
import { collectAll, collectBuffersEarly, collectWhenIdle, createBusyShare } from './idle-collection.ts'
import { createServeLog } from './serve-log.ts'
import { paint } from './terminal.ts'

/** An orderly end takes less than this; whatever hangs by then is cut, which the next start mends as it mends a crash. */
const stopPatience_ms = 9_500

export const serve: Command = {
  summary: 'Runs the platform without a window, until Ctrl-C.',
  forms: [
    'serve [--data DIR] [--host 127.0.0.1] [--port 4600] [--edge-port 4680] [--edge-https-port 4643] [--runtime auto|docker|process] [--log-format text|json] [--no-open] [--json]',
  ],
  options: {
    host: '=ADDRESS where to listen (default 127.0.0.1: this machine alone)',
    port: '=N port of the API and the dashboard; 0 takes a free one',
    'edge-port': '=N port of the apps; 0 takes a free one',
    'edge-https-port': '=N port of the apps for HTTPS; 0 takes a free one',
    runtime: '=NAME auto, docker or process',
    'log-format': '=FORMAT text (the default: sentences here, all as JSON in DIR/logs), or json (all as JSON on standard error)',
    'no-open': 'do not open the dashboard in a browser',
  },
  async run(call) {
    words(call)
    const { terminal, flags } = call
    const options = readOptions({
      data: text(flags, 'data'),
      host: text(flags, 'host'),
      port: text(flags, 'port'),
      'edge-port': text(flags, 'edge-port'),
      'edge-https-port': text(flags, 'edge-https-port'),
      runtime: text(flags, 'runtime'),
    })
    refuseWithoutKey(options)
    collectBuffersEarly()
    const log = createServeLog(call, options.data_dir)

    // The platform is loaded here and not above: the other commands start without it.
    const { startPlatform, DataFolderTaken } = await import('../index.ts')
    // A promise that nobody waited for ends no platform; an exception outside of every request leaves it in an unknown state.
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
      if (!(error instanceof DataFolderTaken)) throw error
      terminal.err(error.message)
      return exitCodes.usage
    }
    const { token: _token, ...shown } = platform.instance
    if (call.json) terminal.out(JSON.stringify(shown))
    for (const notice of [...platform.notices, ...networkNotice(options)]) terminal.err(notice)
    if (!call.json) {
      const isOpened = terminal.is_interactive && flags['no-open'] !== true && (await call.openUrl(shown.sign_in_url, { is_secret: true }))
      for (const line of welcome(call, shown, { ...options, log_path: log.path }, isOpened)) terminal.out(line)
    }

    const collection = collectWhenIdle({ collect: collectAll, busyShare: createBusyShare(), usedBytes: () => process.memoryUsage.rss() })
    await ended(AbortSignal.any([call.signal, fatal.signal]))
    collection.stop()
    if (!call.json) terminal.err('Stopping ...')
    const isInTime = await Promise.race([platform.stop().then(() => true), sleep(systemClock, stopPatience_ms).then(() => false)])
    if (!isInTime) terminal.err(`Not everything had ended after ${stopPatience_ms / 1000} s and was cut off. Nothing that was answered is lost.`)
    return fatal.signal.aborted ? exitCodes.refused : exitCodes.done
  },
}

/** A key that lies in the desktop's keychain is out of reach here, and a second one would make the data unreadable. */
function refuseWithoutKey(options: PlatformOptions): void {
  const sealed = join(options.data_dir, keyFiles.sealed)
  if (options.master_key_file !== null || existsSync(join(options.data_dir, keyFiles.open)) || !existsSync(sealed)) return
  throw new Error(
    `The master key of ${options.data_dir} is kept in the keychain of the desktop. Start the desktop (npm start) on it, name the key's file in HOMEPORT_MASTER_KEY_FILE, or take another --data folder.`,
  )
}

function networkNotice(options: PlatformOptions): string[] {
  if (/^(127\.|::1$|localhost$)/.test(options.host)) return []
  return [
    `Others on the network can reach this instance at ${options.host}, without encryption: tokens and pages can be read on the way. Use --host 127.0.0.1 to keep it to this machine.`,
  ]
}

function welcome(
  call: Call,
  shown: Omit<InstanceFile, 'token'>,
  options: Pick<PlatformOptions, 'data_dir'> & { log_path: string | null },
  isOpened: boolean,
): string[] {
  const { runtime } = shown
  const fact = (name: string, value: string) => `  ${paint(call.terminal, 'dim', name.padEnd(11))}${value}`
  return [
    `${paint(call.terminal, 'green', '✓')} ${paint(call.terminal, 'bold', 'Homeport is ready.')}`,
    fact('dashboard', isOpened ? `${shown.dashboard_url} (opened in your browser)` : `${shown.sign_in_url}  (signs you in, once)`),
    fact('API', `${shown.api_url}/v1, described at ${shown.api_url}/docs`),
    fact('apps', [shown.edge_url, ...(shown.edge_https_url === null ? [] : [shown.edge_https_url])].map(byName).join(' or ')),
    fact('runtime', `${runtime.name}${runtime.version === null ? '' : ` ${runtime.version}`}: ${runtime.reason}`),
    fact('data', options.data_dir),
    ...(options.log_path === null ? [] : [fact('log', options.log_path)]),
    '',
    'Deploy something with: npx homeport deploy PATH     Stop with Ctrl-C.',
  ]
}

const byName = (url: string): string => url.replace(/\/\/(\[[^\]]*\]|[^:/]+)/, '//NAME.localhost')

function ended(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
