/**
 * The complete interface between the dashboard and the desktop. In a browser `window.homeport` is undefined, and the dashboard works without it. The
 * page never receives a token, a path that the user did not choose, or a channel name.
 */
export interface Bridge {
  readonly platform: 'darwin' | 'win32' | 'linux' | 'other'
  readonly version: string
  /** Opens the system's folder dialog; null if it was closed without a choice. */
  chooseFolder(): Promise<string | null>
  /** The path of a file or folder dropped on the page; null if the system does not provide it. */
  getPathForFile(file: File): string | null
  /** Opens an http(s) URL in the user's browser, after asking if it is not one of the user's apps. False: not opened. */
  openExternal(url: string): Promise<boolean>
  /** Shows a notification unless the window has the focus. A click opens the window at `path` below `/app`, such as `/projects/shop`. */
  notify(notification: { title: string; body: string; path: string }): Promise<void>
  /** Progress in the dock or taskbar, 0 to 1; null removes it. */
  setProgress(value: number | null): Promise<void>
  readDesktop(): Promise<DesktopState>
  changeDesktop(change: DesktopChange): Promise<DesktopState>
  /** `restart` quits Homeport and starts the downloaded version. */
  updateDesktop(action: UpdateAction): Promise<void>
  /** Opens the folder with the desktop's log and crash reports. */
  showLogs(): Promise<void>
  onDesktopState(listener: (state: DesktopState) => void): () => void
  /** The desktop asks the dashboard to open a path below `/app` (menu, notification, link), with an optional message. */
  onNavigate(listener: (path: string, message: string | null) => void): () => void
}

export interface DesktopState {
  /** null: not supported on this system. */
  opens_at_login: boolean | null
  /** Homeport keeps running in the tray when its window is closed; null if there is no tray. */
  keeps_running: boolean | null
  notifies: boolean
  /** New versions are downloaded automatically, and installed on request or when Homeport quits. */
  downloads_updates: boolean
  update: UpdateState
}

export type DesktopChange = Partial<Record<'opens_at_login' | 'keeps_running' | 'notifies' | 'downloads_updates', boolean>>
export type UpdateAction = 'check' | 'download' | 'restart'

/** `off` is final; idle ⇄ checking → available → downloading → ready; any state may change to failed, from which a check recovers. */
export type UpdateState =
  /** `page`: where new versions can be downloaded manually. */
  | { name: 'off'; reason: string; page?: string }
  | { name: 'idle'; checked_at: string | null }
  | { name: 'checking' }
  | { name: 'available'; version: string }
  | { name: 'downloading'; version: string; percent: number }
  | { name: 'ready'; version: string }
  | { name: 'failed'; message: string }

/** One channel per method that the page calls. `main/ipc.ts` answers these only to the dashboard. */
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

/** Messages from the desktop to the page. */
export const rendererChannels = { navigate: 'homeport:navigate', desktopState: 'homeport:desktop' } as const

/** The version is passed as a process argument, because a sandboxed preload cannot read files. */
export const versionArgument = '--homeport-version='

declare global {
  interface Window {
    /** Only defined in the desktop window. */
    homeport?: Bridge
  }
}
