import type { AppUpdater } from 'electron-updater'
import type { UpdateState, UpdateStep } from '../preload/bridge.ts'
import { type Clock, isoTime } from '../server/lib/clock.ts'
import type { Journal } from './journal.ts'
import { isProven } from './update-proof.ts'

/** What is used of electron-updater. */
export type Updater = Pick<
  AppUpdater,
  | 'autoDownload'
  | 'autoInstallOnAppQuit'
  | 'allowPrerelease'
  | 'allowDowngrade'
  | 'disableWebInstaller'
  | 'logger'
  | 'checkForUpdates'
  | 'downloadUpdate'
  | 'quitAndInstall'
> & { on: AppUpdater['on'] }

export interface UpdatesOptions {
  /** Why this copy is not updated by itself; null: it is. */
  off: string | null
  /** Where the new version is to be had by hand; null: nobody said. */
  page: string | null
  /** With which the feed has to be signed; null: the system checks the signature of what is put in place. */
  key: string | null
  load(): Promise<Updater>
  /** What was fetched may be put in place when Homeport ends: not where the system asks for a password then. */
  installs_at_end: boolean
  /** Whether new versions are fetched without asking. */
  downloads(): boolean
  /** Ends everything but the process. */
  endInOrder(): Promise<void>
  /** Ends the process, when the installer did not: nothing is left that it could go on with. */
  leave(): void
  onChange(state: UpdateState): void
  journal: Journal
  clock: Clock
}

export interface Updates {
  state(): UpdateState
  step(step: UpdateStep): Promise<void>
  /** The person changed what is done without asking. */
  follow(): void
  close(): void
}

/** Not at once: a start has better things to do. */
const firstLook_ms = 30_000
const everyLook_ms = 24 * 3600_000

/**
 * New versions, by electron-updater: looked for at the start and each day, fetched when somebody says so, put in place when everything
 * has ended. The checks of signatures and sums are its own, and nothing of them is turned off here. Where it has none, on Linux, the
 * feed has to be signed with a key of ours before a single byte is fetched; the sums in it hold the rest.
 */
export function createUpdates({
  off,
  page,
  key,
  load,
  installs_at_end,
  downloads,
  endInOrder,
  leave,
  onChange,
  journal,
  clock,
}: UpdatesOptions): Updates {
  let state: UpdateState = off === null ? { name: 'idle', checked_at: null } : turnedOff(off)
  let updater: Promise<Updater> | undefined
  let isLeaving = false
  const enter = (next: UpdateState) => onChange((state = next))
  const isNow = (name: UpdateState['name']) => state.name === name
  const fail = (error: unknown) => {
    journal.warn('update_failed', { error })
    if (isLeaving) leave()
    else enter({ name: 'failed', message: explain(error) })
  }

  const open = async (): Promise<Updater> => {
    const own = await load()
    own.logger = {
      info: () => {},
      warn: (message?: unknown) => journal.warn('updater', { message: String(message) }),
      error: (message?: unknown) => journal.warn('updater', { message: String(message) }),
    }
    own.allowDowngrade = false
    own.allowPrerelease = false
    own.disableWebInstaller = true
    obey(own)
    own.on('update-not-available', () => enter({ name: 'idle', checked_at: isoTime(clock.now()) }))
    own.on('update-available', (entry) => {
      const { version } = entry
      if (key === null) return enter(own.autoDownload ? { name: 'downloading', version, percent: 0 } : { name: 'available', version })
      if (!isProven(entry, key)) return fail(Object.assign(new Error(`The feed of ${version} is not signed with our key.`), { code: unproven }))
      enter({ name: 'available', version })
      if (downloads()) void download()
    })
    own.on('download-progress', ({ percent }) => {
      if (state.name === 'downloading') enter({ ...state, percent: Math.floor(percent) })
    })
    own.on('update-downloaded', ({ version }) => enter({ name: 'ready', version }))
    own.on('error', fail)
    return own
  }
  const opened = () => (updater ??= open())

  function obey(own: Updater): void {
    // It would begin before the signature of the feed is looked at.
    own.autoDownload = key === null && downloads()
    own.autoInstallOnAppQuit = installs_at_end && downloads()
  }

  async function look(): Promise<void> {
    // What was found stays found; a look in between would lose it.
    if (!isNow('idle') && !isNow('failed')) return
    enter({ name: 'checking' })
    try {
      const found = await (await opened()).checkForUpdates()
      if (found === null && isNow('checking')) enter(turnedOff('This copy cannot replace itself. Get the new version the way this one came.'))
    } catch (error) {
      // It may have said so already by its event.
      if (isNow('checking')) fail(error)
    }
  }

  async function download(): Promise<void> {
    if (state.name !== 'available') return
    enter({ name: 'downloading', version: state.version, percent: 0 })
    try {
      await (await opened()).downloadUpdate()
    } catch (error) {
      if (isNow('downloading')) fail(error)
    }
  }

  async function restart(): Promise<void> {
    if (state.name !== 'ready') return
    const own = await opened()
    isLeaving = true
    await endInOrder()
    journal.info('update_installing', { version: state.version })
    try {
      own.quitAndInstall(true, true)
    } catch (error) {
      fail(error)
    }
  }

  function turnedOff(why: string): UpdateState {
    return { name: 'off', why, ...(page === null ? {} : { page }) }
  }

  const first = off === null ? clock.setTimeout(() => void look(), firstLook_ms) : undefined
  const daily = off === null ? clock.setInterval(() => void look(), everyLook_ms) : undefined
  return {
    state: () => state,
    step: (step) => ({ check: look, download, restart })[step](),
    follow() {
      if (updater) void updater.then(obey).catch(fail)
      if (downloads()) void download()
    },
    close() {
      first?.cancel()
      daily?.cancel()
    },
  }
}

/** Whether macOS runs a copy of an app that was downloaded and not moved since (Gatekeeper's path randomization). */
const isTranslocated = (exec_path: string): boolean => exec_path.includes('/AppTranslocation/')

/** What a person should know of the place that this copy runs from; null: nothing. */
export function adviceFor(exec_path: string): { message: string; detail: string } | null {
  if (!isTranslocated(exec_path)) return null
  return {
    message: 'Homeport runs from a temporary copy.',
    detail:
      'macOS made it because Homeport was not moved since it was downloaded. Updates, links and opening at login do not work from there. Quit Homeport, move it to Applications, and open it again.',
  }
}

/** Why a copy of Homeport is not updated by itself, or null. */
export function whyNotUpdated(facts: {
  is_packaged: boolean
  has_feed: boolean
  platform: NodeJS.Platform
  exec_path: string
  app_image: string | null
  package_type: string | null
  /** The package knows a key for the signature of its feed. */
  has_key: boolean
}): string | null {
  if (!facts.is_packaged) return 'This is a checkout: git brings its new versions.'
  if (isTranslocated(facts.exec_path))
    return 'macOS runs this copy from a temporary place. Quit Homeport, move it to Applications, and open it again.'
  if (!facts.has_feed) return 'This copy was built without an address for updates. Get the new version the way this one came.'
  if (facts.platform === 'linux' && facts.app_image === null && facts.package_type !== 'deb')
    return 'Only the AppImage and the .deb package replace themselves. Get the new version the way this one came.'
  if (facts.platform === 'linux' && !facts.has_key)
    return 'This copy was built without a key that would prove a new version, so it fetches none. Get the new version the way this one came.'
  return null
}

const unproven = 'ERR_UPDATER_INVALID_SIGNATURE'

const sentences: [RegExp, string][] = [
  [
    /ERR_UPDATER_INVALID_SIGNATURE|not signed by|code signature|signature/i,
    'The new version is not signed as this one is, and was thrown away. Nothing was changed.',
  ],
  [/ERR_CHECKSUM_MISMATCH|checksum/i, 'What was downloaded is not what was announced, and was thrown away. Try again later.'],
  [
    /ERR_UPDATER_(CHANNEL_FILE_NOT_FOUND|LATEST_VERSION_NOT_FOUND|NO_PUBLISHED_VERSIONS|ASSET_NOT_FOUND|ZIP_FILE_NOT_FOUND)|\b404\b/,
    'The update server has no version for this system.',
  ],
  [
    /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|net::ERR_/,
    'The update server does not answer. Homeport looks again tomorrow.',
  ],
  [/ENOSPC/, 'There is no room on the disk for the new version. Make room, and try again.'],
  [/EACCES|EPERM|EROFS/, 'Homeport may not replace itself where it is installed. Install the new version by hand.'],
]

function explain(error: unknown): string {
  const text = error instanceof Error ? `${'code' in error ? String(error.code) : ''} ${error.message}` : String(error)
  return (
    sentences.find(([pattern]) => pattern.test(text))?.[1] ?? 'The update did not work; the log says why (Help, Show Logs). This version runs on.'
  )
}
