import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { systemClock } from '../lib/clock.ts'
import { type Environment, pickVariables } from '../lib/environment.ts'
import { createDevTools, type DevTools } from './devtools.ts'
import { limitProcessGroup } from './process-limits.ts'
import type { ScreenshotLimits, ScreenshotRequest } from './screenshotter.ts'

const passedVariables = ['PATH', 'HOME', 'LANG', 'TMPDIR', 'TEMP', 'USERPROFILE', 'LOCALAPPDATA', 'SystemRoot', 'XDG_RUNTIME_DIR', 'FONTCONFIG_FILE']

export interface BrowserProcess {
  devtools: DevTools
  /** Kills all processes of the browser immediately; pending calls reject with `reason`. */
  kill(reason: Error): void
  /** Resolves when the browser has ended and its folder is deleted. */
  close(): Promise<void>
}

export interface BrowserLaunchOptions {
  path: string
  /** The parent of the browser's profile folder. */
  data_dir: string
  environment: Environment
  /** The only host name that resolves, and its address. */
  host: string
  endpoint: ScreenshotRequest['endpoint']
  limits: ScreenshotLimits
}

/** Launches a headless browser with a temporary profile, controlled through pipes; it opens no port. */
export async function launchBrowser(options: BrowserLaunchOptions): Promise<BrowserProcess> {
  const { limits } = options
  const profile = await createProfileFolder(options)
  const child = spawn(options.path, buildFlags(options, profile), {
    stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'],
    // In its own process group, so that all its processes can be killed together.
    detached: process.platform !== 'win32',
    env: pickVariables(options.environment, passedVariables),
    windowsHide: true,
  })
  const exited = once(child, 'exit').catch(() => {})
  const [, , stderr, to, from] = child.stdio
  const devtools = createDevTools(from as Readable, to as Writable)
  let stderrTail = ''
  stderr?.on('data', (chunk: Buffer) => (stderrTail = `${stderrTail}${chunk.toString('utf8')}`.slice(-2000)))
  const kill = (reason: Error): void => {
    devtools.close(reason)
    killProcessGroup(child)
  }
  child.once('error', kill)
  const onMemoryExceeded = () => kill(new Error(`The page exceeded the memory limit of ${limits.memory_bytes / 2 ** 20} MiB.`))
  const watch = child.pid === undefined ? undefined : limitProcessGroup(child.pid, limits, onMemoryExceeded)

  const close = async (): Promise<void> => {
    watch?.stop()
    kill(new Error('The browser was closed.'))
    if (child.pid !== undefined) await exited
    await rm(profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 })
  }
  const startTimer = systemClock.setTimeout(() => kill(new Error(`The browser did not start within ${limits.start_ms / 1000} s.`)), limits.start_ms)
  try {
    await devtools.send('Browser.getVersion')
    return { devtools, kill, close }
  } catch (cause) {
    await close()
    const lastLine = stderrTail.trim().split('\n').at(-1) ?? ''
    throw new Error(`${options.path} did not start. ${cause instanceof Error ? cause.message : ''} ${lastLine}`.trim(), { cause })
  } finally {
    startTimer.cancel()
  }
}

function buildFlags({ host, endpoint, limits }: BrowserLaunchOptions, profile: string): string[] {
  const address = endpoint.host.includes(':') ? `[${endpoint.host}]` : endpoint.host
  return [
    '--headless=new',
    '--remote-debugging-pipe',
    `--user-data-dir=${profile}`,
    '--no-startup-window',
    // Only one host name resolves, on any port. This applies to names, addresses, workers, sockets and prefetching.
    `--host-resolver-rules=MAP ${host} ${address}:${endpoint.port},MAP * ~NOTFOUND`,
    '--no-proxy-server',
    '--webrtc-ip-handling-policy=disable_non_proxied_udp',
    // The name of the option in older versions.
    '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
    `--js-flags=--max-old-space-size=${limits.heap_mb}`,
    '--renderer-process-limit=2',
    '--disable-background-networking',
    '--disable-breakpad',
    '--disable-client-side-phishing-detection',
    '--disable-component-update',
    '--disable-crash-reporter',
    '--disable-default-apps',
    '--disable-dev-shm-usage',
    '--disable-domain-reliability',
    '--disable-extensions',
    '--disable-features=DialMediaRouteProvider,MediaRouter,OptimizationHints,Translate,WebOTP',
    '--disable-gpu',
    '--disable-notifications',
    '--disable-sync',
    '--block-new-web-contents',
    '--deny-permission-prompts',
    '--force-color-profile=srgb',
    '--hide-scrollbars',
    '--mute-audio',
    '--no-default-browser-check',
    '--no-first-run',
    '--no-pings',
    '--password-store=basic',
    '--use-mock-keychain',
    // As root, Chromium only starts without its sandbox.
    ...(process.platform === 'linux' && process.getuid?.() === 0 ? ['--no-sandbox'] : []),
  ]
}

/** Below the data folder, where the next launch removes leftovers of a crash; a browser from a snap can only use the system's temporary folder. */
async function createProfileFolder({ path, data_dir }: BrowserLaunchOptions): Promise<string> {
  const isFromSnap = path.startsWith('/snap/') || basename(path) === 'chromium-browser'
  if (isFromSnap) return mkdtemp(join(tmpdir(), 'homeport-browser-'))
  const folder = join(data_dir, 'browser')
  await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  await mkdir(folder, { recursive: true, mode: 0o700 })
  return folder
}

function killProcessGroup(child: ChildProcess): void {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
  try {
    if (process.platform === 'win32') child.kill('SIGKILL')
    else process.kill(-child.pid, 'SIGKILL')
  } catch {
    child.kill('SIGKILL')
  }
}
