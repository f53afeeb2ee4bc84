import type { UpdateInfo } from 'electron-updater'
import { EventEmitter } from 'node:events'
import type { Updater } from '../../main/updates.ts'

/** The parts of electron-updater that main/ uses. A test plays the update server. */
export function createFakeUpdater() {
  const events = new EventEmitter()
  const actions: string[] = []
  const infoOf = (version: string): UpdateInfo => ({ version, files: [], path: '', sha512: '', releaseDate: '' })
  const updater = {
    autoDownload: true,
    autoInstallOnAppQuit: true,
    allowPrerelease: true,
    allowDowngrade: true,
    disableWebInstaller: false,
    logger: null as Updater['logger'],
    async checkForUpdates() {
      actions.push('check')
      return updater.onCheck()
    },
    async downloadUpdate() {
      actions.push('download')
      await updater.onDownload()
      return []
    },
    quitAndInstall: (isSilent?: boolean, isForceRunAfter?: boolean) => void actions.push(`install ${isSilent} ${isForceRunAfter}`),
    on(event: string, listener: (...args: unknown[]) => void) {
      events.on(event, listener)
      return updater as never
    },
    acts: actions,
    onCheck: (): ReturnType<Updater['checkForUpdates']> => updater.emitCheckResult(undefined),
    onDownload: async (): Promise<void> => {},
    emit: (event: string, ...args: unknown[]) => events.emit(event, ...args),
    /** Emits the result of an update check. */
    async emitCheckResult(version: string | undefined, more: object = {}) {
      const info = { ...infoOf(version ?? '1.0.0'), ...more }
      events.emit(version === undefined ? 'update-not-available' : 'update-available', info)
      return { isUpdateAvailable: version !== undefined, updateInfo: info, versionInfo: info }
    },
  }
  void (updater satisfies Updater)
  return updater
}
