/**
 * The whole talk between the dashboard and the desktop, on one screen. In a browser `window.homeport` is not there, and the
 * dashboard does without. The page never gets a token, a path that nobody chose, or a channel name.
 */
export interface Bridge {
  readonly platform: 'darwin' | 'win32' | 'linux' | 'other'
  readonly version: string
  /** The system's folder dialog; null when it was closed without a choice. */
  chooseFolder(): Promise<string | null>
  /** Where a file or folder lies that somebody dropped on the page; null when the system does not say. */
  getPathForFile(file: File): string | null
  /** Opens an http(s) address in the person's own browser; asks first when it is not one of their apps. False: not opened. */
  openExternal(url: string): Promise<boolean>
  /** Shows a notification unless the window is in front. A click brings the window up at `path`: below `/app`, such as `/projects/shop`. */
  notify(notification: { title: string; body: string; path: string }): Promise<void>
  /** Progress in the dock or taskbar, 0 to 1; null takes it away. */
  setProgress(value: number | null): Promise<void>
  readDesktop(): Promise<DesktopState>
  changeDesktop(change: DesktopChange): Promise<DesktopState>
  /** `restart` ends Homeport in order and comes back as the version that was downloaded. */
  updateDesktop(action: UpdateAction): Promise<void>
  /** Shows the folder of the desktop's log and crash reports. */
  showLogs(): Promise<void>
  onDesktopState(listener: (state: DesktopState) => void): () => void
  /** The desktop asks the dashboard to go to a path below `/app` (menu, notification, link), with a word to say if not null. */
  onNavigate(listener: (path: string, message: string | null) => void): () => void
}

export interface DesktopState {
  /** null: this system has no such thing. */
  opens_at_login: boolean | null
  /** Homeport goes on, in the tray, when its window is closed; null where no tray is to be had. */
  keeps_running: boolean | null
  notifies: boolean
  /** New versions are fetched without asking; they are installed when somebody says so, or when Homeport ends. */
  downloads_updates: boolean
  update: UpdateState
}

export type DesktopChange = Partial<Record<'opens_at_login' | 'keeps_running' | 'notifies' | 'downloads_updates', boolean>>
export type UpdateAction = 'check' | 'download' | 'restart'

/** off → never leaves; idle ⇄ checking → available → downloading → ready; failed from any of them, and back by a check. */
export type UpdateState =
  /** `page`: where new versions are to be had by hand. */
  | { name: 'off'; reason: string; page?: string }
  | { name: 'idle'; checked_at: string | null }
  | { name: 'checking' }
  | { name: 'available'; version: string }
  | { name: 'downloading'; version: string; percent: number }
  | { name: 'ready'; version: string }
  | { name: 'failed'; message: string }

/** One channel per verb that the page calls; `main/ipc.ts` answers exactly these, to our own page alone. */
export const channels = {
  chooseFolder: 'homeport:choose-folder',
  openExternal: 'homeport:open-external',
  notify: 'homeport:notify',
  setProgress: 'homeport:set-progress',
  readDesktop: 'homeport:read-desktop',
  changeDesktop: 'homeport:change-desktop',
  updateDesktop: 'homeport:update-desktop',
  showLogs: 'homeport:show-logs',
} as const satisfies Partial<Record<keyof Bridge, string>>

/** What the desktop tells the page. */
export const rendererChannels = { navigate: 'homeport:navigate', desktopState: 'homeport:desktop' } as const

/** The version comes as an argument of the process, because a sandboxed preload can read no file. */
export const versionArgument = '--homeport-version='

declare global {
  interface Window {
    /** There in the desktop window alone. */
    homeport?: Bridge
  }
}
