import { Menu, type MenuItemConstructorOptions, nativeImage, Tray } from 'electron'
import { join } from 'node:path'
import type { DesktopUpdate, DesktopProject } from '../server/index.ts'
import { projectStatusLabels } from '../server/contract/labels.ts'
import type { DashboardLocation } from './deep-links.ts'

export interface TrayActions {
  show(): void
  navigate(location: DashboardLocation): void
  /** Opens the URL of an app in the user's browser. */
  open(url: string): void
  deploy(slug: string): void
  stop(slug: string): void
  quit(): void
}

export interface TrayIcon {
  update(state: DesktopUpdate): void
  close(): void
}

const maxProjects = 15

/** The tray icon with a menu of the projects. */
export function createTray(options: { resources: string; edge_url: string; platform: NodeJS.Platform; actions: TrayActions }): TrayIcon {
  const tray = new Tray(loadTrayImage(options))
  let lastShown = ''
  const update = (state: DesktopUpdate) => {
    const next = JSON.stringify([state.projects, state.project_count])
    tray.setToolTip(formatSummary(state))
    // Replacing the menu would close it while the user has it open.
    if (next === lastShown) return
    lastShown = next
    tray.setContextMenu(Menu.buildFromTemplate(buildTrayTemplate(state, options.edge_url, options.actions)))
  }
  update({ projects: [], project_count: 0, active_deployments: 0, finished_deployments: [] })
  // macOS opens the menu itself.
  if (options.platform !== 'darwin') tray.on('click', () => options.actions.show())
  return { update, close: () => tray.destroy() }
}

function loadTrayImage({ resources, platform }: { resources: string; platform: NodeJS.Platform }) {
  const file = { darwin: 'trayTemplate.png', win32: 'tray.ico' }[platform as string] ?? 'tray.png'
  const image = nativeImage.createFromPath(join(resources, 'tray', file))
  if (platform === 'darwin') image.setTemplateImage(true)
  return image
}

function buildTrayTemplate(state: DesktopUpdate, edgeUrl: string, actions: TrayActions): MenuItemConstructorOptions[] {
  const projects = state.projects.slice(0, maxProjects)
  const navigateTo = (path: string) => () => actions.navigate({ path, message: null })
  return [
    ...(projects.length === 0
      ? [{ label: 'No projects yet', enabled: false }]
      : projects.map((project) => buildProjectItem(project, projectUrl(project.slug, edgeUrl), actions))),
    ...(state.project_count > projects.length ? [{ label: `All ${state.project_count} projects…`, click: navigateTo('/projects') }] : []),
    { type: 'separator' },
    { label: 'Show Homeport', click: () => actions.show() },
    { label: 'New Project…', click: navigateTo('/projects?do=new-project') },
    { type: 'separator' },
    { label: 'Quit Homeport', click: () => actions.quit() },
  ]
}

function buildProjectItem({ slug, status, can_deploy }: DesktopProject, address: string, actions: TrayActions): MenuItemConstructorOptions {
  const navigateTo = (path: string) => () => actions.navigate({ path: `/projects/${slug}${path}`, message: null })
  const isOpen = status === 'live' || status === 'building' || status === 'failed'
  return {
    label: `${slug}: ${projectStatusLabels[status].toLowerCase()}${status === 'live' ? `, ${withoutScheme(address)}` : ''}`,
    submenu: [
      { label: `Open ${withoutScheme(address)}`, enabled: isOpen, click: () => actions.open(address) },
      { label: 'Dashboard', click: navigateTo('') },
      { label: 'Logs', click: navigateTo('/logs') },
      { type: 'separator' },
      status === 'inactive'
        ? { label: 'Start', enabled: can_deploy, click: () => actions.deploy(slug) }
        : { label: 'Deploy Again', enabled: can_deploy && status !== 'building', click: () => actions.deploy(slug) },
      { label: 'Stop', enabled: status !== 'inactive' && status !== 'created', click: () => actions.stop(slug) },
    ],
  }
}

/** Every name that ends in localhost resolves to this machine. */
function projectUrl(slug: string, edgeUrl: string): string {
  const { protocol, hostname, port } = new URL(edgeUrl)
  const host = /^(127\.|\[::1\]|localhost$)/.test(hostname) ? 'localhost' : hostname
  return `${protocol}//${slug}.${host}${port === '' ? '' : `:${port}`}`
}

const withoutScheme = (address: string) => address.replace(/^https?:\/\//, '')

function formatSummary({ projects, active_deployments: builds }: DesktopUpdate): string {
  const count = (...states: DesktopProject['status'][]) => projects.filter(({ status }) => states.includes(status)).length
  const parts = [
    [count('live'), 'live'],
    [builds, 'building'],
    [count('failed', 'crashed'), 'failing'],
  ].flatMap(([amount, label]) => (amount === 0 ? [] : [`${amount} ${label}`]))
  return ['Homeport', ...parts].join(', ').replace('Homeport,', 'Homeport:')
}
