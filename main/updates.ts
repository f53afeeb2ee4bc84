import type { AppUpdater } from 'electron-updater'
import type { UpdateState, UpdateAction } from '../preload/bridge.ts'
import { type Clock, isoTime } from '../server/lib/clock.ts'
import type { DesktopLog } from './log-file.ts'
import { verifyUpdateSignature } from './update-signature.ts'

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

export interface UpdateServiceOptions {
  /** Why this copy is not updated by itself; null: it is. */
  disabled_reason: string | null
  /** Where the new version is to be had by hand; null: nobody said. */
  download_page: string | null
  /** With which the feed has to be signed; null: the system checks the signature of what is put in place. */
  public_key: string | null
  loadUpdater(): Promise<Updater>
  /** What was fetched may be put in place when Homeport ends: not where the system asks for a password then. */
  installs_on_quit: boolean
  /** Whether new versions are fetched without asking. */
  shouldAutoDownload(): boolean
  /** Ends everything but the process. */
  shutDown(): Promise<void>
  /** Ends the process, when the installer did not: nothing is left that it could go on with. */
  exit(): void
  onChange(state: UpdateState): void
  log: DesktopLog
  clock: Clock
}

export interface UpdateService {
  state(): UpdateState
  runAction(runAction: UpdateAction): Promise<void>
  /** The person changed what is done without asking. */
  applySettings(): void
  close(): void
}

/** Not at once: a start has better things to do. */
const firstCheckDelay_ms = 30_000
const checkInterval_ms = 24 * 3600_000

/**
 * New versions, by electron-updater: looked for at the start and each day, fetched when somebody says so, put in place when everything
 * has ended. The checks of signatures and sums are its own, and nothing of them is turned off here. Where it has none, on Linux, the
 * feed has to be signed with a key of ours before a single byte is fetched; the sums in it hold the rest.
 */
export function createUpdateService({
  disabled_reason,
  download_page,
  public_key,
  loadUpdater,
  installs_on_quit,
  shouldAutoDownload,
  shutDown,
  exit,
  onChange,
  log,
  clock,
}: UpdateServiceOptions): UpdateService {
  let state: UpdateState = disabled_reason === null ? { name: 'idle', checked_at: null } : disabledState(disabled_reason)
  let updater: Promise<Updater> | undefined
  let isInstalling = false
  const setState = (next: UpdateState) => onChange((state = next))
  const isInState = (name: UpdateState['name']) => state.name === name
  const fail = (error: unknown) => {
    log.warn('update_failed', { error })
    if (isInstalling) exit()
    else setState({ name: 'failed', message: explainUpdateError(error) })
  }

  const openUpdater = async (): Promise<Updater> => {
    const autoUpdater = await loadUpdater()
    autoUpdater.logger = {
      info: () => {},
      warn: (message?: unknown) => log.warn('updater', { message: String(message) }),
      error: (message?: unknown) => log.warn('updater', { message: String(message) }),
    }
    autoUpdater.allowDowngrade = false
    autoUpdater.allowPrerelease = false
    autoUpdater.disableWebInstaller = true
    configureUpdater(autoUpdater)
    autoUpdater.on('update-not-available', () => setState({ name: 'idle', checked_at: isoTime(clock.now()) }))
    autoUpdater.on('update-available', (feedEntry) => {
      const { version } = feedEntry
      if (public_key === null)
        return setState(autoUpdater.autoDownload ? { name: 'downloading', version, percent: 0 } : { name: 'available', version })
      if (!verifyUpdateSignature(feedEntry, public_key))
        return fail(Object.assign(new Error(`The feed of ${version} is not signed with our key.`), { code: invalidSignatureCode }))
      setState({ name: 'available', version })
      if (shouldAutoDownload()) void download()
    })
    autoUpdater.on('download-progress', ({ percent }) => {
      if (state.name === 'downloading') setState({ ...state, percent: Math.floor(percent) })
    })
    autoUpdater.on('update-downloaded', ({ version }) => setState({ name: 'ready', version }))
    autoUpdater.on('error', fail)
    return autoUpdater
  }
  const getUpdater = () => (updater ??= openUpdater())

  function configureUpdater(autoUpdater: Updater): void {
    // It would begin before the signature of the feed is looked at.
    autoUpdater.autoDownload = public_key === null && shouldAutoDownload()
    autoUpdater.autoInstallOnAppQuit = installs_on_quit && shouldAutoDownload()
  }

  async function check(): Promise<void> {
    // What was found stays found; a look in between would lose it.
    if (!isInState('idle') && !isInState('failed')) return
    setState({ name: 'checking' })
    try {
      const checkResult = await (await getUpdater()).checkForUpdates()
      if (checkResult === null && isInState('checking'))
        setState(disabledState('This copy cannot replace itself. Get the new version the way this one came.'))
    } catch (error) {
      // It may have said so already by its event.
      if (isInState('checking')) fail(error)
    }
  }

  async function download(): Promise<void> {
    if (state.name !== 'available') return
    setState({ name: 'downloading', version: state.version, percent: 0 })
    try {
      await (await getUpdater()).downloadUpdate()
    } catch (error) {
      if (isInState('downloading')) fail(error)
    }
  }

  async function restart(): Promise<void> {
    if (state.name !== 'ready') return
    const autoUpdater = await getUpdater()
    isInstalling = true
    await shutDown()
    log.info('update_installing', { version: state.version })
    try {
      autoUpdater.quitAndInstall(true, true)
    } catch (error) {
      fail(error)
    }
  }

  function disabledState(reason: string): UpdateState {
    return { name: 'off', reason, ...(download_page === null ? {} : { page: download_page }) }
  }

  const firstCheck = disabled_reason === null ? clock.setTimeout(() => void check(), firstCheckDelay_ms) : undefined
  const dailyCheck = disabled_reason === null ? clock.setInterval(() => void check(), checkInterval_ms) : undefined
  return {
    state: () => state,
    runAction: (step) => ({ check, download, restart })[step](),
    applySettings() {
      if (updater) void updater.then(configureUpdater).catch(fail)
      if (shouldAutoDownload()) void download()
    },
    close() {
      firstCheck?.cancel()
      dailyCheck?.cancel()
    },
  }
}

/** Whether macOS runs a copy of an app that was downloaded and not moved since (Gatekeeper's path randomization). */
const isTranslocated = (exec_path: string): boolean => exec_path.includes('/AppTranslocation/')

/** What a person should know of the place that this copy runs from; null: nothing. */
export function translocationWarning(exec_path: string): { message: string; detail: string } | null {
  if (!isTranslocated(exec_path)) return null
  return {
    message: 'Homeport runs from a temporary copy.',
    detail:
      'macOS made it because Homeport was not moved since it was downloaded. Updates, links and opening at login do not work from there. Quit Homeport, move it to Applications, and open it again.',
  }
}

/** Why a copy of Homeport is not updated by itself, or null. */
export function updatesDisabledReason(facts: {
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

const invalidSignatureCode = 'ERR_UPDATER_INVALID_SIGNATURE'

const errorMessages: [RegExp, string][] = [
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

function explainUpdateError(error: unknown): string {
  const text = error instanceof Error ? `${'code' in error ? String(error.code) : ''} ${error.message}` : String(error)
  return (
    errorMessages.find(([pattern]) => pattern.test(text))?.[1] ?? 'The update did not work; the log says why (Help, Show Logs). This version runs on.'
  )
}
