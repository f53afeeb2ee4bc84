import { app, clipboard, dialog } from 'electron'
import { arch, release, totalmem } from 'node:os'
import type { UpdateState } from '../preload/bridge.ts'
import type { PlatformHandle } from './desktop-options.ts'
import type { DesktopLog } from './log-file.ts'

/** What helps to find a fault, for somebody to read and to send: no name, no path of a project, no secret. */
export function collectDiagnostics({
  platformHandle,
  log,
  update,
}: {
  platformHandle: PlatformHandle | undefined
  log: DesktopLog
  update: UpdateState
}): string {
  const { electron, chrome, node } = process.versions
  return [
    `Homeport ${platformHandle?.version ?? app.getVersion()}${app.isPackaged ? '' : ' (checkout)'}`,
    `System: ${process.platform} ${release()} ${arch()}, ${Math.round(totalmem() / 2 ** 30)} GB, ${app.getLocale()}`,
    `Electron ${electron ?? 'none'}, Chromium ${chrome ?? 'none'}, Node ${node}`,
    ...(platformHandle
      ? [`Runtime: ${platformHandle.instance.runtime.name} ${platformHandle.instance.runtime.version ?? ''}`.trim()]
      : ['The platform is not up.']),
    `Update: ${update.name}`,
    '',
    'The last lines of the log:',
    ...log.tail(40),
    '',
  ].join('\n')
}

/** Puts it where a person can paste it from; nothing is sent. */
export async function copyDiagnostics(text: string, showLogs: () => void): Promise<void> {
  await clipboard.writeText(text)
  const { response } = await dialog.showMessageBox({
    type: 'info',
    buttons: ['OK', 'Show Logs'],
    defaultId: 0,
    cancelId: 0,
    message: 'What helps to find a fault is in the clipboard.',
    detail:
      'Versions, the runtime and the last lines of the log; tokens and passwords are taken out. Read it, add what you did and what you saw, and send it to whoever looks after your Homeport.',
  })
  if (response === 1) showLogs()
}
