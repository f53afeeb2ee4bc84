import { Menu, type MenuItemConstructorOptions } from 'electron'
import type { Place } from './links.ts'

export interface MenuActs {
  goTo(place: Place): void
  openInBrowser(): void
  showLogs(): void
  reportProblem(): void
  checkForUpdates(): void
}

/** The custom of the system, and a way to each of the dashboard's main places. */
export function createMenu(acts: MenuActs, platform: NodeJS.Platform): Menu {
  const isMac = platform === 'darwin'
  const to = (label: string, path: string, accelerator?: string): MenuItemConstructorOptions => ({
    label,
    ...(accelerator === undefined ? {} : { accelerator }),
    click: () => acts.goTo({ path, word: null }),
  })
  const settings = to('Settings…', '/instance/desktop', 'CmdOrCtrl+,')
  const updates: MenuItemConstructorOptions = { label: 'Check for Updates…', click: () => acts.checkForUpdates() }
  const separator: MenuItemConstructorOptions = { type: 'separator' }
  return Menu.buildFromTemplate([
    ...(isMac
      ? [
          {
            label: 'Homeport',
            submenu: [
              { role: 'about' as const },
              updates,
              separator,
              settings,
              separator,
              { role: 'services' as const },
              separator,
              { role: 'hide' as const },
              { role: 'hideOthers' as const },
              { role: 'unhide' as const },
              separator,
              { role: 'quit' as const },
            ],
          },
        ]
      : []),
    {
      label: '&File',
      submenu: [
        to('New Project…', '/projects?do=new-project', 'CmdOrCtrl+N'),
        to('Open Folder to Deploy…', '/projects?do=deploy-folder', 'CmdOrCtrl+O'),
        separator,
        { label: 'Open in Browser', accelerator: 'CmdOrCtrl+Shift+B', click: () => acts.openInBrowser() },
        ...(isMac ? [] : [separator, settings]),
        separator,
        { role: 'close' },
        ...(isMac ? [] : [{ role: 'quit' as const }]),
      ],
    },
    { role: 'editMenu' },
    {
      label: '&View',
      submenu: [
        { role: 'reload' },
        separator,
        { role: 'resetZoom' },
        { role: 'zoomIn' },
        { role: 'zoomOut' },
        separator,
        { role: 'togglefullscreen' },
      ],
    },
    {
      label: '&Go',
      submenu: [
        to('Projects', '/projects', 'CmdOrCtrl+1'),
        to('Domains', '/domains', 'CmdOrCtrl+2'),
        to('Instances', '/instances', 'CmdOrCtrl+3'),
        to('This Instance', '/instance', 'CmdOrCtrl+4'),
        to('Account', '/account', 'CmdOrCtrl+5'),
      ],
    },
    { role: 'windowMenu' },
    {
      role: 'help',
      submenu: [
        to('Homeport Help', '/help', 'F1'),
        to('Keyboard Shortcuts', '/?do=keyboard'),
        separator,
        { label: 'Show Logs', click: () => acts.showLogs() },
        { label: 'Report a Problem…', click: () => acts.reportProblem() },
        ...(isMac ? [] : [separator, updates, { role: 'about' as const, label: 'About Homeport' }]),
      ],
    },
  ])
}
