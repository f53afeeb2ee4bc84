import { Menu, type MenuItemConstructorOptions } from 'electron'

/** The custom of the system, and a way to each of the dashboard's main places. */
export function createMenu(options: { goTo(path: string): void; openInBrowser(): void }): Menu {
  const isMac = process.platform === 'darwin'
  const template: MenuItemConstructorOptions[] = [
    ...(isMac ? [{ role: 'appMenu' as const }] : []),
    {
      label: 'File',
      submenu: [
        { label: 'Projects', accelerator: 'CmdOrCtrl+1', click: () => options.goTo('/') },
        { label: 'Instance', accelerator: 'CmdOrCtrl+2', click: () => options.goTo('/instance') },
        { label: 'Open in Browser', click: () => options.openInBrowser() },
        { type: 'separator' },
        isMac ? { role: 'close' } : { role: 'quit' },
      ],
    },
    { role: 'editMenu' },
    { label: 'View', submenu: [{ role: 'reload' }, { role: 'resetZoom' }, { role: 'zoomIn' }, { role: 'zoomOut' }, { role: 'togglefullscreen' }] },
    { role: 'windowMenu' },
  ]
  return Menu.buildFromTemplate(template)
}
