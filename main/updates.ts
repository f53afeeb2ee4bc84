import type { AppUpdater } from 'electron-updater'
import type { UpdateState, UpdateAction } from '../preload/bridge.ts'
import { type Clock, isoTime } from '../server/lib/clock.ts'
import type { DesktopLog } from './log-file.ts'
import { verifyUpdateSignature } from './update-signature.ts'

/** The part of electron-updater that is used. */
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
  /** Why this copy does not update itself; null if it does. */
  disabled_reason: string | null
  /** Where the new version can be downloaded manually; null if unknown. */
  download_page: string | null
  /** The key that must have signed the feed; null if the system checks the signature of the installed app. */
  public_key: string | null
  loadUpdater(): Promise<Updater>
  /** Whether a downloaded update may be installed on quit. Not possible where the system asks for a password. */
  installs_on_quit: boolean
  /** Whether new versions are downloaded automatically. */
  shouldAutoDownload(): boolean
  /** Stops everything except the process. */
  shutDown(): Promise<void>
  /** Ends the process if the installer did not, because everything else has been stopped. */
  exit(): void
  onChange(state: UpdateState): void
  log: DesktopLog
  clock: Clock
}

export interface UpdateService {
  state(): UpdateState
  runAction(runAction: UpdateAction): Promise<void>
  /** Called when the update settings were changed. */
  applySettings(): void
  close(): void
}

/** Delayed, so that the check does not slow down the start. */
const firstCheckDelay_ms = 30_000
const checkInterval_ms = 24 * 3600_000

/**
 * Updates by electron-updater: checked at start and daily, downloaded on request, and installed when Homeport has stopped. Signature and checksum
 * verification is electron-updater's own and is fully enabled. On Linux, where it verifies no signature, the feed must be signed with Homeport's key
 * before anything is downloaded, and the checksums in the feed cover the files.
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
      warn: (message?: unknown) => log.warn('updater_message', { message: String(message) }),
      error: (message?: unknown) => log.warn('updater_message', { message: String(message) }),
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
        return fail(Object.assign(new Error(`The feed of ${version} is not signed with the expected key.`), { code: invalidSignatureCode }))
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
    // Automatic download would start before the feed's signature is verified.
    autoUpdater.autoDownload = public_key === null && shouldAutoDownload()
    autoUpdater.autoInstallOnAppQuit = installs_on_quit && shouldAutoDownload()
  }

  async function check(): Promise<void> {
    // A check would lose an update that was already found.
    if (!isInState('idle') && !isInState('failed')) return
    setState({ name: 'checking' })
    try {
      const checkResult = await (await getUpdater()).checkForUpdates()
      if (checkResult === null && isInState('checking'))
        setState(disabledState('This copy cannot update itself. Install the new version the same way as this one.'))
    } catch (error) {
      // The error event may have reported it already.
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

/** Whether macOS runs the app from a randomized path, because it was not moved after the download (Gatekeeper). */
const isTranslocated = (exec_path: string): boolean => exec_path.includes('/AppTranslocation/')

/** A warning about the location that this copy runs from; null if there is none. */
export function translocationWarning(exec_path: string): { message: string; detail: string } | null {
  if (!isTranslocated(exec_path)) return null
  return {
    message: 'Homeport is running from a temporary copy.',
    detail:
      'macOS created the copy because Homeport was not moved after it was downloaded. Updates, links and opening at login do not work there. Quit Homeport, move it to Applications, and open it again.',
  }
}

/** Why a copy of Homeport does not update itself, or null. */
export function updatesDisabledReason(facts: {
  is_packaged: boolean
  has_feed: boolean
  platform: NodeJS.Platform
  exec_path: string
  app_image: string | null
  package_type: string | null
  /** The key in the package that verifies the signature of its feed. */
  public_key: string | null
}): string | null {
  if (!facts.is_packaged) return 'This is a checkout. Update it with git.'
  if (isTranslocated(facts.exec_path)) return 'macOS is running a temporary copy. Quit Homeport, move it to Applications, and open it again.'
  if (!facts.has_feed) return 'This copy was built without an update server. Install the new version the same way as this one.'
  if (facts.platform === 'linux' && facts.app_image === null && facts.package_type !== 'deb')
    return 'Only the AppImage and the .deb package update themselves. Install the new version the same way as this one.'
  if (facts.platform === 'linux' && facts.public_key === null)
    return 'This copy was built without a key to verify updates, so it does not download any. Install the new version the same way as this one.'
  return null
}

const invalidSignatureCode = 'ERR_UPDATER_INVALID_SIGNATURE'

const errorMessages: [RegExp, string][] = [
  [
    /ERR_UPDATER_INVALID_SIGNATURE|not signed by|code signature|signature/i,
    'The new version does not have the same signature as this one and was discarded. Nothing was changed.',
  ],
  [/ERR_CHECKSUM_MISMATCH|checksum/i, 'The download does not match its checksum and was discarded. Try again later.'],
  [
    /ERR_UPDATER_(CHANNEL_FILE_NOT_FOUND|LATEST_VERSION_NOT_FOUND|NO_PUBLISHED_VERSIONS|ASSET_NOT_FOUND|ZIP_FILE_NOT_FOUND)|\b404\b/,
    'The update server has no version for this system.',
  ],
  [
    /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|net::ERR_/,
    'The update server does not respond. Homeport checks again tomorrow.',
  ],
  [/ENOSPC/, 'There is not enough disk space for the new version. Free some space and try again.'],
  [/EACCES|EPERM|EROFS/, 'Homeport has no permission to update itself where it is installed. Install the new version manually.'],
]

function explainUpdateError(error: unknown): string {
  const text = error instanceof Error ? `${'code' in error ? String(error.code) : ''} ${error.message}` : String(error)
  return (
    errorMessages.find(([pattern]) => pattern.test(text))?.[1] ??
    'The update failed. See the log for the cause (Help, Show Logs). This version keeps running.'
  )
}
