import type { Platform } from '../server/index.ts'
import type { Clock } from '../server/lib/clock.ts'
import type { DesktopLog } from './log-file.ts'
import type { LoginItemOptions } from './login-item.ts'
import type { UpdateServiceOptions } from './updates.ts'

/** The platform as the desktop sees it. */
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
  /** Arguments of this start. */
  argv: readonly string[]
  login: LoginItemOptions
  updates: Pick<UpdateServiceOptions, 'disabled_reason' | 'download_page' | 'public_key' | 'installs_on_quit' | 'loadUpdater'>
  hasTrayHost(): Promise<boolean>
  platform: NodeJS.Platform
  /** What the person should know of how Homeport was started; null: nothing. */
  startup_warning: { message: string; detail: string } | null
  /** This process: its signals, and IPC messages of the program that started it. */
  parentProcess: NodeJS.EventEmitter
  clock: Clock
  startPlatform(log: DesktopLog): Promise<PlatformHandle>
  /** Where the log is written beside its file. */
  echo?: (line: string) => void
}
