import { contextBridge, ipcRenderer, webUtils } from 'electron'
import { type Bridge, channels, versionArgument } from './bridge.ts'

const platforms = ['darwin', 'win32', 'linux'] as const

const bridge = {
  platform: platforms.find((name) => name === process.platform) ?? 'other',
  version: process.argv.find((argument) => argument.startsWith(versionArgument))?.slice(versionArgument.length) ?? '',
  chooseFolder: () => ipcRenderer.invoke(channels.chooseFolder),
  pathOf: (file) => webUtils.getPathForFile(file) || null,
  openExternal: (url) => ipcRenderer.invoke(channels.openExternal, url),
  notify: (notification) => ipcRenderer.invoke(channels.notify, notification),
  setProgress: (value) => ipcRenderer.invoke(channels.setProgress, value),
  onNavigate(listener) {
    // The event object stays here: it would hand the page the sender.
    const hear = (_event: unknown, path: unknown) => {
      if (typeof path === 'string') listener(path)
    }
    ipcRenderer.on(channels.navigate, hear)
    return () => void ipcRenderer.off(channels.navigate, hear)
  },
} satisfies Bridge

contextBridge.exposeInMainWorld('homeport', bridge)
