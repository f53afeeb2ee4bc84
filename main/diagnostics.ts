import { app, clipboard, dialog } from 'electron'
import { arch, release, totalmem } from 'node:os'
import type { UpdateState } from '../preload/bridge.ts'
import type { PlatformHandle } from './desktop-options.ts'
import type { DesktopLog } from './log-file.ts'

/** Collects information for a problem report, without user names, project paths or secrets. */
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
      : ['The platform is not running.']),
    `Update: ${update.name}`,
    '',
    'The last lines of the log:',
    ...log.tail(40),
    '',
  ].join('\n')
}

/** Copies the report to the clipboard. Nothing is sent. */
export async function copyDiagnostics(text: string, showLogs: () => void): Promise<void> {
  await clipboard.writeText(text)
  const { response } = await dialog.showMessageBox({
    type: 'info',
    buttons: ['OK', 'Show Logs'],
    defaultId: 0,
    cancelId: 0,
    message: 'The problem report was copied to the clipboard.',
    detail:
      'It contains versions, the runtime and the last lines of the log, without tokens and passwords. Review it, add what you did and what happened, and send it to your Homeport administrator.',
  })
  if (response === 1) showLogs()
}
