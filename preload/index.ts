import { contextBridge, ipcRenderer, webUtils } from 'electron'
import { type Bridge, channels, type DesktopState, rendererChannels, versionArgument } from './bridge.ts'

const knownPlatforms = ['darwin', 'win32', 'linux'] as const

/** The last navigation that was requested before the page was listening. */
let pendingNavigation: { path: string; message: string | null } | undefined
let navigateListener: ((path: string, word: string | null) => void) | undefined

// The event object is not passed on, because it would give the page access to the sender.
ipcRenderer.on(rendererChannels.navigate, (_event, path: unknown, word: unknown) => {
  if (typeof path !== 'string') return
  const message = typeof word === 'string' ? word : null
  if (navigateListener) navigateListener(path, message)
  else pendingNavigation = { path, message }
})

const bridge = {
  platform: knownPlatforms.find((name) => name === process.platform) ?? 'other',
  version: process.argv.find((argument) => argument.startsWith(versionArgument))?.slice(versionArgument.length) ?? '',
  chooseFolder: () => ipcRenderer.invoke(channels.chooseFolder),
  getPathForFile: (file) => webUtils.getPathForFile(file) || null,
  openExternal: (url) => ipcRenderer.invoke(channels.openExternal, url),
  notify: (notification) => ipcRenderer.invoke(channels.notify, notification),
  setProgress: (value) => ipcRenderer.invoke(channels.setProgress, value),
  readDesktop: () => ipcRenderer.invoke(channels.readDesktop),
  changeDesktop: (change) => ipcRenderer.invoke(channels.changeDesktop, change),
  updateDesktop: (action) => ipcRenderer.invoke(channels.updateDesktop, action),
  showLogs: () => ipcRenderer.invoke(channels.showLogs),
  onDesktopState(listener) {
    const handleState = (_event: unknown, state: DesktopState) => listener(state)
    ipcRenderer.on(rendererChannels.desktopState, handleState)
    return () => void ipcRenderer.off(rendererChannels.desktopState, handleState)
  },
  onNavigate(listener) {
    navigateListener = listener
    if (pendingNavigation) listener(pendingNavigation.path, pendingNavigation.message)
    pendingNavigation = undefined
    return () => {
      if (navigateListener === listener) navigateListener = undefined
    }
  },
} satisfies Bridge

contextBridge.exposeInMainWorld('homeport', bridge)
