import { readBoolean, readItems, readLooseText, readText, type ValueContext } from './node-values.ts'
import { quote, type YamlMap } from './yaml-tree.ts'

const removeHint = 'Remove the line: apps are isolated from this machine and from other projects.'

/** Keys that are harmless with some values, and break the isolation of the service with others. */
export function checkIsolation(service: YamlMap, label: string, context: ValueContext): void {
  const { log } = context
  const privileged = service.entries.get('privileged')
  if (privileged && readBoolean(privileged.value, `${label}.privileged`, context) === true)
    log.reject(privileged.at, `${label}.privileged gives the container all rights over this machine.`, removeHint)
  const mode = service.entries.get('network_mode')
  const modeText = mode && readText(mode.value, `${label}.network_mode`, context)
  if (mode && modeText !== undefined && modeText !== 'bridge' && modeText !== 'default') {
    const reason =
      modeText === 'host'
        ? 'puts the container into the network of this machine'
        : modeText === 'none'
          ? 'uses the network of the service'
          : 'shares the network of another container'
    log.reject(mode.at, `${label}.network_mode: ${quote(modeText)} ${reason}.`, removeHint)
  }
  const ipc = service.entries.get('ipc')
  const ipcText = ipc && readText(ipc.value, `${label}.ipc`, context)
  if (ipc && ipcText !== undefined && ipcText !== 'private' && ipcText !== 'none')
    log.reject(ipc.at, `${label}.ipc: ${quote(ipcText)} shares memory with this machine or another container.`, removeHint)
  const options = service.entries.get('security_opt')
  for (const item of readItems(options?.value, `${label}.security_opt`, context)) {
    // Every service runs with this option.
    if (!/^no-new-privileges([:=]true)?$/.test(readLooseText(item, context)))
      log.reject(
        item.at,
        `${label}.security_opt: ${quote(item.kind === 'scalar' ? item.text : '')} weakens how the container is confined.`,
        removeHint,
      )
  }
}
