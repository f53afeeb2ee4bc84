import { Menu, type MenuItemConstructorOptions } from 'electron'
import type { DashboardLocation } from './deep-links.ts'

export interface MenuActions {
  navigate(location: DashboardLocation): void
  openInBrowser(): void
  showLogs(): void
  reportProblem(): void
  checkForUpdates(): void
}

/** The application menu: the standard items of the system, and links to the main pages of the dashboard. */
export function createApplicationMenu(actions: MenuActions, platform: NodeJS.Platform): Menu {
  const isMac = platform === 'darwin'
  const navigationItem = (label: string, path: string, accelerator?: string): MenuItemConstructorOptions => ({
    label,
    ...(accelerator === undefined ? {} : { accelerator }),
    click: () => actions.navigate({ path, message: null }),
  })
  const settings = navigationItem('Settings…', '/instance/desktop', 'CmdOrCtrl+,')
  const updates: MenuItemConstructorOptions = { label: 'Check for Updates…', click: () => actions.checkForUpdates() }
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
        navigationItem('New Project…', '/projects?do=new-project', 'CmdOrCtrl+N'),
        navigationItem('Open Folder to Deploy…', '/projects?do=deploy-folder', 'CmdOrCtrl+O'),
        separator,
        { label: 'Open in Browser', accelerator: 'CmdOrCtrl+Shift+B', click: () => actions.openInBrowser() },
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
        navigationItem('Projects', '/projects', 'CmdOrCtrl+1'),
        navigationItem('Domains', '/domains', 'CmdOrCtrl+2'),
        navigationItem('Instances', '/instances', 'CmdOrCtrl+3'),
        navigationItem('This Instance', '/instance', 'CmdOrCtrl+4'),
        navigationItem('Account', '/account', 'CmdOrCtrl+5'),
      ],
    },
    { role: 'windowMenu' },
    {
      role: 'help',
      submenu: [
        navigationItem('Homeport Help', '/help', 'F1'),
        navigationItem('Keyboard Shortcuts', '/?do=keyboard'),
        separator,
        { label: 'Show Logs', click: () => actions.showLogs() },
        { label: 'Report a Problem…', click: () => actions.reportProblem() },
        ...(isMac ? [] : [separator, updates, { role: 'about' as const, label: 'About Homeport' }]),
      ],
    },
  ])
}
