import { Menu, type MenuItemConstructorOptions, nativeImage, Tray } from 'electron'
import { join } from 'node:path'
import type { DeskNews, ProjectSeen } from '../server/index.ts'
import type { Place } from './links.ts'

export interface TrayActs {
  show(): void
  goTo(place: Place): void
  /** Opens an address of an app in the person's browser. */
  open(url: string): void
  deploy(slug: string): void
  stop(slug: string): void
  quit(): void
}

export interface TrayIcon {
  update(news: DeskNews): void
  close(): void
}

const shownProjects = 15

/** The icon beside the clock, with what runs here. */
export function createTray(options: { resources: string; edge_url: string; platform: NodeJS.Platform; acts: TrayActs }): TrayIcon {
  const tray = new Tray(imageOf(options))
  let shown = ''
  const update = (news: DeskNews) => {
    const next = JSON.stringify([news.projects, news.project_count])
    tray.setToolTip(summaryOf(news))
    // A menu that is put anew closes under the hand of whoever has it open.
    if (next === shown) return
    shown = next
    tray.setContextMenu(Menu.buildFromTemplate(trayTemplate(news, options.edge_url, options.acts)))
  }
  update({ projects: [], project_count: 0, builds: 0, ended: [] })
  // macOS opens the menu by itself.
  if (options.platform !== 'darwin') tray.on('click', () => options.acts.show())
  return { update, close: () => tray.destroy() }
}

function imageOf({ resources, platform }: { resources: string; platform: NodeJS.Platform }) {
  const file = { darwin: 'trayTemplate.png', win32: 'tray.ico' }[platform as string] ?? 'tray.png'
  const image = nativeImage.createFromPath(join(resources, 'tray', file))
  if (platform === 'darwin') image.setTemplateImage(true)
  return image
}

const words = {
  live: 'live',
  building: 'building',
  failed: 'failed',
  crashed: 'crashed',
  inactive: 'stopped',
  created: 'not deployed yet',
} as const satisfies Record<ProjectSeen['status'], string>

function trayTemplate(news: DeskNews, edgeUrl: string, acts: TrayActs): MenuItemConstructorOptions[] {
  const projects = news.projects.slice(0, shownProjects)
  const go = (path: string) => () => acts.goTo({ path, word: null })
  return [
    ...(projects.length === 0
      ? [{ label: 'No projects yet', enabled: false }]
      : projects.map((project) => projectItem(project, addressOf(project.slug, edgeUrl), acts))),
    ...(news.project_count > projects.length ? [{ label: `All ${news.project_count} projects…`, click: go('/projects') }] : []),
    { type: 'separator' },
    { label: 'Show Homeport', click: () => acts.show() },
    { label: 'New Project…', click: go('/projects?do=new-project') },
    { type: 'separator' },
    { label: 'Quit Homeport', click: () => acts.quit() },
  ]
}

function projectItem({ slug, status, can_deploy }: ProjectSeen, address: string, acts: TrayActs): MenuItemConstructorOptions {
  const go = (path: string) => () => acts.goTo({ path: `/projects/${slug}${path}`, word: null })
  const isOpen = status === 'live' || status === 'building' || status === 'failed'
  return {
    label: `${slug}: ${words[status]}${status === 'live' ? `, ${spoken(address)}` : ''}`,
    submenu: [
      { label: `Open ${spoken(address)}`, enabled: isOpen, click: () => acts.open(address) },
      { label: 'Dashboard', click: go('') },
      { label: 'Logs', click: go('/logs') },
      { type: 'separator' },
      status === 'inactive'
        ? { label: 'Start', enabled: can_deploy, click: () => acts.deploy(slug) }
        : { label: 'Deploy Again', enabled: can_deploy && status !== 'building', click: () => acts.deploy(slug) },
      { label: 'Stop', enabled: status !== 'inactive' && status !== 'created', click: () => acts.stop(slug) },
    ],
  }
}

/** Every name that ends in localhost leads to this machine. */
function addressOf(slug: string, edgeUrl: string): string {
  const { protocol, hostname, port } = new URL(edgeUrl)
  const host = /^(127\.|\[::1\]|localhost$)/.test(hostname) ? 'localhost' : hostname
  return `${protocol}//${slug}.${host}${port === '' ? '' : `:${port}`}`
}

const spoken = (address: string) => address.replace(/^https?:\/\//, '')

function summaryOf({ projects, builds }: DeskNews): string {
  const count = (...states: ProjectSeen['status'][]) => projects.filter(({ status }) => states.includes(status)).length
  const parts = [
    [count('live'), 'live'],
    [builds, 'building'],
    [count('failed', 'crashed'), 'in trouble'],
  ].flatMap(([number, word]) => (number === 0 ? [] : [`${number} ${word}`]))
  return ['Homeport', ...parts].join(parts.length === 0 ? '' : ', ').replace('Homeport,', 'Homeport:')
}
