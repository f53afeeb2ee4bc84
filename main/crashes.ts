import { app, crashReporter, dialog } from 'electron'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Journal } from './journal.ts'

/** Reports of crashes stay on this machine, beside the log. To be called before Electron is ready. */
export function keepCrashReports(journal: Journal): void {
  const folder = join(journal.folder, 'crashes')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  app.setPath('crashDumps', folder)
  crashReporter.start({ uploadToServer: false })
}

/**
 * Writes down what nobody caught. A rejection is a mistake in one place, and Homeport goes on; after an exception nothing is
 * certain any more, so it is said and Homeport ends in order. Returns what ends the watch.
 */
export function watchForCrashes(journal: Journal, end: () => void): () => void {
  let isEnding = false
  const onRejection = (error: unknown) => journal.error('unhandled_rejection', { error })
  const onException = (error: Error) => {
    journal.error('uncaught_exception', { error })
    if (isEnding) return
    isEnding = true
    if (app.isReady())
      dialog.showErrorBox(
        'Homeport has to end',
        `${error.message}\n\nYour projects and their data are kept. What happened is written in ${journal.folder}`,
      )
    end()
  }
  process.on('unhandledRejection', onRejection)
  process.on('uncaughtException', onException)
  // Without a console behind it a write to it may fail, which is no error of ours.
  const deaf = () => {}
  process.stderr.on('error', deaf)
  process.stdout.on('error', deaf)
  app.on('child-process-gone', (_event, { type, reason, exitCode, name }) => {
    if (reason !== 'clean-exit') journal.warn('child_process_gone', { type, reason, exitCode, name })
  })
  return () => {
    process.off('unhandledRejection', onRejection)
    process.off('uncaughtException', onException)
    process.stderr.off('error', deaf)
    process.stdout.off('error', deaf)
  }
}
