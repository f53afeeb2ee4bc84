import { app, crashReporter, dialog } from 'electron'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { DesktopLog } from './log-file.ts'

/** Reports of crashes stay on this machine, beside the log. To be called before Electron is ready. */
export function startCrashReporter(log: DesktopLog): void {
  const folder = join(log.folder, 'crashes')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  app.setPath('crashDumps', folder)
  crashReporter.start({ uploadToServer: false })
}

/**
 * Writes down what nobody caught. A rejection is a mistake in one place, and Homeport goes on; after an exception nothing is
 * certain any more, so it is said and Homeport ends in order. Returns what ends the watch.
 */
export function installCrashHandlers(log: DesktopLog, quit: () => void): () => void {
  let isQuitting = false
  const onRejection = (error: unknown) => log.error('unhandled_rejection', { error })
  const onException = (error: Error) => {
    log.error('uncaught_exception', { error })
    if (isQuitting) return
    isQuitting = true
    if (app.isReady())
      dialog.showErrorBox(
        'Homeport has to end',
        `${error.message}\n\nYour projects and their data are kept. What happened is written in ${log.folder}`,
      )
    quit()
  }
  process.on('unhandledRejection', onRejection)
  process.on('uncaughtException', onException)
  // Without a console behind it a write to it may fail, which is no error of ours.
  const ignoreError = () => {}
  process.stderr.on('error', ignoreError)
  process.stdout.on('error', ignoreError)
  app.on('child-process-gone', (_event, { type, reason, exitCode, name }) => {
    if (reason !== 'clean-exit') log.warn('child_process_gone', { type, reason, exitCode, name })
  })
  return () => {
    process.off('unhandledRejection', onRejection)
    process.off('uncaughtException', onException)
    process.stderr.off('error', ignoreError)
    process.stdout.off('error', ignoreError)
  }
}
