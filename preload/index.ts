import { contextBridge, ipcRenderer, webUtils } from 'electron'
import { type Bridge, channels, type DesktopState, tidings, versionArgument } from './bridge.ts'

const platforms = ['darwin', 'win32', 'linux'] as const

/** Where the desktop sent the page before the page was there to listen: the last word counts. */
let waiting: { path: string; word: string | null } | undefined
let listening: ((path: string, word: string | null) => void) | undefined

// The event object stays here: it would hand the page the sender.
ipcRenderer.on(tidings.navigate, (_event, path: unknown, word: unknown) => {
  if (typeof path !== 'string') return
  const said = typeof word === 'string' ? word : null
  if (listening) listening(path, said)
  else waiting = { path, word: said }
})

const bridge = {
  platform: platforms.find((name) => name === process.platform) ?? 'other',
  version: process.argv.find((argument) => argument.startsWith(versionArgument))?.slice(versionArgument.length) ?? '',
  chooseFolder: () => ipcRenderer.invoke(channels.chooseFolder),
  pathOf: (file) => webUtils.getPathForFile(file) || null,
  openExternal: (url) => ipcRenderer.invoke(channels.openExternal, url),
  notify: (notification) => ipcRenderer.invoke(channels.notify, notification),
  setProgress: (value) => ipcRenderer.invoke(channels.setProgress, value),
  readDesktop: () => ipcRenderer.invoke(channels.readDesktop),
  changeDesktop: (change) => ipcRenderer.invoke(channels.changeDesktop, change),
  updateDesktop: (step) => ipcRenderer.invoke(channels.updateDesktop, step),
  showLogs: () => ipcRenderer.invoke(channels.showLogs),
  onDesktop(listener) {
    const hear = (_event: unknown, state: DesktopState) => listener(state)
    ipcRenderer.on(tidings.desktop, hear)
    return () => void ipcRenderer.off(tidings.desktop, hear)
  },
  onNavigate(listener) {
    listening = listener
    if (waiting) listener(waiting.path, waiting.word)
    waiting = undefined
    return () => {
      if (listening === listener) listening = undefined
    }
  },
} satisfies Bridge

contextBridge.exposeInMainWorld('homeport', bridge)
