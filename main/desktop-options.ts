import type { Platform } from '../server/index.ts'
import type { Clock } from '../server/lib/clock.ts'
import type { DesktopLog } from './log-file.ts'
import type { LoginItemOptions } from './login-item.ts'
import type { UpdateServiceOptions } from './updates.ts'

/** The part of the platform that the desktop uses. */
export type PlatformHandle = Pick<
  Platform,
  'api_url' | 'edge_url' | 'dashboard_url' | 'version' | 'desktopFeed' | 'signInUrl' | 'resync' | 'stop'
> & {
  instance: Pick<Platform['instance'], 'token' | 'runtime'>
}

export interface DesktopOptions {
  data_dir: string
  preload: string
  /** The folder of icons. */
  resources: string
  /** The arguments of this start. */
  argv: readonly string[]
  login: LoginItemOptions
  updates: Pick<UpdateServiceOptions, 'disabled_reason' | 'download_page' | 'public_key' | 'installs_on_quit' | 'loadUpdater'>
  hasTrayHost(): Promise<boolean>
  platform: NodeJS.Platform
  /** A warning about how Homeport was started; null if there is none. */
  startup_warning: { message: string; detail: string } | null
  /** This process: its signals, and the IPC messages of its parent. */
  parentProcess: NodeJS.EventEmitter
  clock: Clock
  startPlatform(log: DesktopLog): Promise<PlatformHandle>
  /** Receives every log line in addition to the log file. */
  echo?: (line: string) => void
}
