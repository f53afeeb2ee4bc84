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
  pathOf(file: File): string | null
  /** Opens an http(s) address in the person's own browser; asks first when it is not one of their apps. False: not opened. */
  openExternal(url: string): Promise<boolean>
  /** Shows a notification unless the window is in front. A click brings the window up at `path`, such as `/projects/shop`. */
  notify(notification: { title: string; body: string; path: string }): Promise<void>
  /** Progress in the dock or taskbar, 0 to 1; null takes it away. */
  setProgress(value: number | null): Promise<void>
  /** The desktop asks the dashboard to go to a path (a menu, a notification), such as `/projects/shop`. Returns what ends the listening. */
  onNavigate(listener: (path: string) => void): () => void
}

/** One channel per verb; `main/ipc.ts` answers exactly these, to our own page alone. */
export const channels = {
  chooseFolder: 'homeport:choose-folder',
  openExternal: 'homeport:open-external',
  notify: 'homeport:notify',
  setProgress: 'homeport:set-progress',
  navigate: 'homeport:navigate',
} as const

/** The version comes as an argument of the process, because a sandboxed preload can read no file. */
export const versionArgument = '--homeport-version='

declare global {
  interface Window {
    /** There in the desktop window alone. */
    homeport?: Bridge
  }
}
