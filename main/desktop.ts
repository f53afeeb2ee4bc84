import { app, dialog } from 'electron'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Platform } from '../server/index.ts'
import { type Clock, sleep } from '../server/lib/clock.ts'
import { confine } from './confine.ts'
import { keepCrashReports, watchForCrashes } from './crashes.ts'
import type { Front } from './front.ts'
import { createJournal, type Journal } from './journal.ts'
import { claimLinks, linkIn, type Place, placeOf } from './links.ts'
import type { LoginOptions } from './login.ts'
import { isCamera } from './screenshotter.ts'
import { settleIn } from './settle.ts'
import { askBeforeUnload } from './unload.ts'
import type { UpdatesOptions } from './updates.ts'

/** The platform as the desktop sees it. */
export type City = Pick<Platform, 'api_url' | 'edge_url' | 'dashboard_url' | 'version' | 'desk' | 'signInUrl' | 'resync' | 'stop'> & {
  instance: Pick<Platform['instance'], 'token' | 'runtime'>
}

export interface DesktopOptions {
  data_dir: string
  preload: string
  /** The folder of icons. */
  resources: string
  /** Arguments of this start. */
  argv: readonly string[]
  login: LoginOptions
  updates: Pick<UpdatesOptions, 'off' | 'page' | 'key' | 'installs_at_end' | 'load'>
  hasTrayHost(): Promise<boolean>
  platform: NodeJS.Platform
  /** What the person should know of how Homeport was started; null: nothing. */
  advice: { message: string; detail: string } | null
  /** This process: its signals, and IPC messages of the program that started it. */
  parent: NodeJS.EventEmitter
  clock: Clock
  openCity(journal: Journal): Promise<City>
  /** Where the log is written beside its file. */
  echo?: (line: string) => void
}

/** An orderly end takes no longer than this; then the process ends all the same. */
const stopPatience_ms = 10_000

/**
 * The life of the desktop: one instance per data folder, the platform, its window and tray, an orderly end.
 * Resolves once the window is on its way, or when another instance has been asked to show itself.
 */
export async function runDesktop(options: DesktopOptions): Promise<void> {
  const folder = join(options.data_dir, 'desktop')
  app.setName('Homeport')
  // Windows shows notifications of programs in the Start menu: a package by its name there, a checkout by its program.
  app.setAppUserModelId(app.isPackaged ? 'dev.homeport.desktop' : process.execPath)
  // Electron's lock is per folder of user data: so it is one instance per data folder, before anything of it is opened.
  // Electron takes no path of a folder that is not there.
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  app.setPath('userData', folder)
  if (!app.requestSingleInstanceLock()) {
    options.echo?.('Homeport already runs on this data folder; its window comes to the front.\n')
    app.exit(0)
    return
  }
  // It would undo --no-sandbox, which root, an AppImage and some kernels need (README, "When something goes wrong").
  if (!app.commandLine.hasSwitch('no-sandbox')) app.enableSandbox()
  const journal = createJournal(join(folder, 'logs'), options.echo ? { echo: options.echo } : {})
  keepCrashReports(journal)

  let city: City | undefined
  let front: Front | undefined
  let ending: Promise<void> | undefined
  let hasEnded = false
  /** The page that was asked for before the window existed. */
  let wanted: Place | 'anywhere' | undefined

  const bringUp = (to?: Place): void => {
    if (ending) return
    if (!front) wanted = to ?? wanted ?? 'anywhere'
    else void (to ? front.goTo(to) : front.show())
  }
  const follow = (link: string | undefined) => bringUp(link === undefined ? undefined : placeOf(link))

  app.on('second-instance', (_event, argv) => follow(linkIn(argv)))
  app.on('open-url', (event, url) => {
    event.preventDefault()
    follow(url)
  })
  app.on('activate', () => bringUp())
  // Without a listener Electron would quit: also when the last picture was taken before the dashboard is up.
  app.on('window-all-closed', () => {})
  app.on('web-contents-created', (_event, contents) => {
    if (city && !isCamera(contents)) confine(contents, { origin: new URL(city.api_url).origin, edge_url: city.edge_url })
  })
  app.on('browser-window-created', (_event, window) => {
    // Windows alone; nothing can hold up the end of the session any more.
    window.on('session-end', () => app.quit())
    if (!isCamera(window.webContents)) askBeforeUnload(window, () => ending !== undefined)
  })
  app.on('before-quit', (event) => {
    if (hasEnded) return
    event.preventDefault()
    // Who ended it without quitting, an update, does that itself.
    if (!ending) void endInOrder().then(() => app.quit())
  })
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => app.quit())
  // On Windows `npm start` passes Ctrl-C on like this, and its terminal may be closed.
  options.parent.on('message', (message: unknown) => {
    if (message === 'quit') app.quit()
  })
  options.parent.once('disconnect', () => app.quit())
  const unwatch = watchForCrashes(journal, () => app.quit())
  app.once('quit', unwatch)

  await app.whenReady()
  if (!claimLinks(options.platform)) journal.info('links_not_claimed')
  const link = linkIn(options.argv)
  if (link !== undefined) follow(link)
  try {
    city = await options.openCity(journal)
  } catch (error) {
    journal.error('not_started', { error })
    dialog.showErrorBox('Homeport cannot start', `${error instanceof Error ? error.message : String(error)}\n\nThe log is in ${journal.folder}`)
    app.exit(1)
    return
  }
  // Somebody ended it while it was on its way up.
  if (ending) return city.stop()
  journal.hide(city.instance.token)
  if (options.advice !== null) void dialog.showMessageBox({ type: 'warning', message: options.advice.message, detail: options.advice.detail })
  journal.info('started', { version: city.version, electron: process.versions.electron, packaged: app.isPackaged })
  const home = await settleIn({ city, folder, journal, options, bringUp, endInOrder, isEnding: () => ending !== undefined })
  front = home.front
  if (wanted !== undefined && wanted !== 'anywhere') await front.goTo(wanted)
  else if (wanted === 'anywhere' || !home.isHidden) await front.show()

  function endInOrder(): Promise<void> {
    ending ??= end().finally(() => void (hasEnded = true))
    return ending
  }

  async function end(): Promise<void> {
    const patience = new AbortController()
    const late = sleep(options.clock, stopPatience_ms, patience.signal).catch(() => {})
    try {
      await Promise.race([city?.stop(), late])
    } catch (error) {
      journal.error('not_stopped_in_order', { error })
    } finally {
      patience.abort()
    }
    journal.info('ended')
  }
}
