import { app, crashReporter, dialog } from 'electron'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { DesktopLog } from './log-file.ts'

/** Keeps crash reports on this machine, next to the log. Must be called before Electron is ready. */
export function startCrashReporter(log: DesktopLog): void {
  const folder = join(log.folder, 'crashes')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  app.setPath('crashDumps', folder)
  crashReporter.start({ uploadToServer: false })
}

/**
 * Logs uncaught errors. After an unhandled rejection Homeport continues. After an uncaught exception the process state is unreliable, so Homeport
 * shows the error and quits. Returns a function that removes the handlers.
 */
export function installCrashHandlers(log: DesktopLog, quit: () => void): () => void {
  let isQuitting = false
  const onRejection = (error: unknown) => log.error('unhandled_rejection', { error })
  const onException = (error: Error) => {
    log.error('uncaught_exception', { error })
    if (isQuitting) return
    isQuitting = true
    if (app.isReady())
      dialog.showErrorBox('Homeport must quit', `${error.message}\n\nYour projects and their data are safe. Details are in the log: ${log.folder}`)
    quit()
  }
  process.on('unhandledRejection', onRejection)
  process.on('uncaughtException', onException)
  // Without a console, writes to stdout and stderr may fail, which is not an error.
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
